package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// defaults is a form in which every kind of field has a default. (SEP-1034)
const defaults = `{
	"type": "object",
	"properties": {
		"name": {"type": "string", "description": "User name", "default": "John Doe"},
		"age": {"type": "integer", "description": "User age", "default": 30},
		"score": {"type": "number", "description": "User score", "default": 95.5},
		"status": {"type": "string", "description": "User status", "enum": ["active", "inactive", "pending"], "default": "active"},
		"verified": {"type": "boolean", "description": "Verification status", "default": true}
	},
	"required": []
}`

// choices is a form with every kind of choice. (SEP-1330)
const choices = `{
	"type": "object",
	"properties": {
		"untitledSingle": {"type": "string", "description": "Select one option", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "description": "Select one option with titles", "oneOf": [
			{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}
		]},
		"legacyEnum": {"type": "string", "description": "Select one option (legacy)", "enum": ["opt1", "opt2", "opt3"],
			"enumNames": ["Option One", "Option Two", "Option Three"]},
		"untitledMulti": {"type": "array", "description": "Select multiple options", "minItems": 1, "maxItems": 3,
			"items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "description": "Select multiple options with titles", "minItems": 1, "maxItems": 3, "items": {"anyOf": [
			{"const": "value1", "title": "First Choice"}, {"const": "value2", "title": "Second Choice"}, {"const": "value3", "title": "Third Choice"}
		]}}
	},
	"required": []
}`

// addAsks adds the tools that send one question to the client, in any era.
func addAsks(s *mcpserver.Server) error {
	type prompt struct {
		Prompt string `json:"prompt" jsonschema:"The prompt to send to the model"`
	}
	type message struct {
		Message string `json:"message" jsonschema:"The message to show the user"`
	}
	const response = `{"type":"object","properties":{"response":{"type":"string","description":"User's response"}},` +
		`"required":["response"]}`
	form := func(name, description, text, schema string) error {
		return add(s, name, description, func(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
			return elicited(ctx, text, schema)
		})
	}
	sample := func(ctx context.Context, in prompt) (*mcp.CallToolResult, error) {
		text, err := sampled(ctx, "", in.Prompt)
		return answer(mcp.Text("LLM response: " + text)), err
	}
	return errors.Join(
		add(s, "test_sampling", "Asks the client's model", sample),
		add(s, "test_missing_capability", "Cannot do without the client's model",
			func(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
				return sample(ctx, prompt{"Hello"})
			}),
		add(s, "test_elicitation", "Asks the user", func(ctx context.Context, in message) (*mcp.CallToolResult, error) {
			return elicited(ctx, in.Message, response)
		}),
		form("test_streaming_elicitation", "Asks the user", "Go on?", response),
		form("test_elicitation_sep1034_defaults", "Asks with defaults", "Please review the form fields with defaults",
			defaults),
		form("test_elicitation_sep1330_enums", "Asks with choices", "Please select options", choices),
	)
}

// elicited asks the user and returns the answer as text.
func elicited(ctx context.Context, message, schema string) (*mcp.CallToolResult, error) {
	r, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
		&mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)})
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(r.Content)
	return answer(mcp.Text(fmt.Sprintf("User response: action=%s, content=%s", r.Action, content))), err
}
