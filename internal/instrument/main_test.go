package instrument_test

import (
	"os"
	"testing"
)

// TestMain keeps the rows of these tests out of the files of schemacheck.AppendSeen: these tests emit records directly,
// and only emissions of clients and servers prove that the schema is true.
func TestMain(m *testing.M) {
	os.Unsetenv("MCPOTEL_TELEMETRY_SEEN")
	os.Exit(m.Run())
}
