package instrument_test

import (
	"os"
	"testing"
)

// TestMain keeps what these tests emit by hand from counting as seen: only what clients and servers emit shows that the
// schema is true. (internal/schemacheck)
func TestMain(m *testing.M) {
	os.Unsetenv("MCPOTEL_TELEMETRY_SEEN")
	os.Exit(m.Run())
}
