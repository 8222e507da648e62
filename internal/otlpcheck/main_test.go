package otlpcheck_test

import (
	"os"
	"testing"

	"github.com/mcpotel/mcpotel/internal/schemacheck"
)

// TestMain disables the recording of occurred rows: the telemetry of these tests is invented.
func TestMain(m *testing.M) {
	os.Unsetenv(schemacheck.SeenVariable)
	os.Exit(m.Run())
}
