package otlpcheck_test

import (
	"os"
	"testing"

	"github.com/mcpotel/mcpotel/internal/schemacheck"
)

// TestMain keeps what is made up here from counting as seen.
func TestMain(m *testing.M) {
	os.Unsetenv(schemacheck.SeenVariable)
	os.Exit(m.Run())
}
