package gosdk_test

import "github.com/mcpotel/mcpotel/internal/schemacheck"

// The tests of this package accept only telemetry that the schema declares.
func init() { schemacheck.Strict = true }
