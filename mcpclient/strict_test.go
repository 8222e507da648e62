package mcpclient_test

import "github.com/mcpotel/mcpotel/internal/schemacheck"

// The tests of this package accept only telemetry that is in the schema.
func init() { schemacheck.Strict = true }
