package instrument_test

import "github.com/mcpotel/mcpotel/internal/schemacheck"

// The tests of this package accept nothing that the schema does not hold.
func init() { schemacheck.Strict = true }
