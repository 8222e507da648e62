package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// wide uses features of JSON Schema 2020-12 that earlier drafts lack, and features that some servers drop.
const wide = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {
		"address": {
			"$anchor": "addressDef",
			"type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
		}
	},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

// mirrored has an argument that HTTP clients repeat in a header.
const mirrored = `{
	"type": "object",
	"properties": {
		"region": {"type": "string", "x-mcp-header": "Region"},
		"limit": {"type": "integer", "x-mcp-header": "Limit"},
		"query": {"type": "string"}
	}
}`

// addSchemas adds tools for tests of input schemas.
func addSchemas(s *mcpserver.Server) error {
	echo := func(_ context.Context, in map[string]json.RawMessage) (*mcp.CallToolResult, error) {
		text, err := json.Marshal(in)
		return answer(mcp.Text("called with " + string(text))), err
	}
	return errors.Join(
		mcpserver.AddTool(s, &mcp.Tool{
			Name: "json_schema_2020_12_tool", Description: "Has a wide input schema", InputSchema: json.RawMessage(wide),
		}, echo),
		mcpserver.AddTool(s, &mcp.Tool{
			Name: "test_custom_headers", Description: "Has arguments that are repeated in headers",
			InputSchema: json.RawMessage(mirrored),
		}, echo),
	)
}
