package explain_test

import "github.com/mcpotel/mcpotel/internal/schemacheck"

// The tests of this package reject telemetry that is not in the schema.
func init() { schemacheck.Strict = true }
