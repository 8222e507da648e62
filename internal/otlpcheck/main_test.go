package otlpcheck_test

import (
	"os"
	"testing"

	"github.com/mcpotel/mcpotel/internal/schemacheck"
)

// TestMain disables the record of the schema's rows that occur in tests, because the telemetry of these tests is
// invented.
func TestMain(m *testing.M) {
	os.Unsetenv(schemacheck.SeenVariable)
	os.Exit(m.Run())
}
