package mcpserver_test

import "github.com/mcpotel/mcpotel/internal/schemacheck"

// The tests of this package fail on telemetry that is not in the schema.
func init() { schemacheck.Strict = true }
