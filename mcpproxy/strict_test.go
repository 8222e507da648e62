package mcpproxy_test

import "github.com/mcpotel/mcpotel/internal/schemacheck"

// The tests of this package fail on anything outside the schema.
func init() { schemacheck.Strict = true }
