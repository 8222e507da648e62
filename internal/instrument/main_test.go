package instrument_test

import (
	"os"
	"testing"
)

// TestMain excludes records that these tests emit directly, because only emissions of clients and servers prove that
// the schema is true. (internal/schemacheck)
func TestMain(m *testing.M) {
	os.Unsetenv("MCPOTEL_TELEMETRY_SEEN")
	os.Exit(m.Run())
}
