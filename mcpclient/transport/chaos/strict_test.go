package chaos_test

import "github.com/mcpotel/mcpotel/internal/schemacheck"

// The tests of this package fail on telemetry that the schema does not define.
func init() { schemacheck.Strict = true }
