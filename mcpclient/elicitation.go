package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

// ElicitationHandler asks the user for the input that the server requests, and returns the answer. A nil result means
// that the user did not answer. [mcp.ElicitParams.Form] returns the fields to show and their defaults. The user must be
// able to see which server asks, to change the fields, and to decline.
type ElicitationHandler func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error)

// HandleElicitation declares that the client shows forms, and calls h to show them: for elicitation/create of a legacy
// server, and for requests for input of a modern one. The client fills missing fields of an accepted form with the
// defaults of the requested schema. The content must match that schema; otherwise the server gets an error. A declined
// or cancelled form is sent without content. The schema must be a flat form of strings, numbers, booleans and choices.
// If it has a reference, a nested object or a combination of schemas, the client refuses the form with -32602 without
// calling h. [HandleURLElicitation] handles the other mode of elicitation; a client can have both features.
// (specification 2026-07-28, client/elicitation, "Form Mode")
func HandleElicitation(h ElicitationHandler) Feature {
	return feature{
		declare: declareElicitation(func(e *mcp.ElicitationCapability) { e.Form = mcp.Object{} }),
		join: func(c *Client) error {
			if h == nil {
				return handleElicitation(c, mcp.ElicitForm, nil)
			}
			return handleElicitation(c, mcp.ElicitForm,
				func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					return elicitForm(ctx, h, p)
				})
		},
	}
}

// declareElicitation returns a function that declares one mode of elicitation.
func declareElicitation(mode func(*mcp.ElicitationCapability)) func(*mcp.ClientCapabilities) {
	return func(c *mcp.ClientCapabilities) {
		var e mcp.ElicitationCapability
		if c.Elicitation != nil {
			e = *c.Elicitation // a copy, so that the user's value stays unchanged
		}
		mode(&e)
		c.Elicitation = &e
	}
}

// elicitor answers elicitation/create, with one handler for each mode.
type elicitor map[mcp.ElicitMode]ElicitationHandler

// handleElicitation sets the handler of one mode. Each mode has at most one handler.
func handleElicitation(c *Client, mode mcp.ElicitMode, h ElicitationHandler) error {
	if c.elicitor == nil {
		c.elicitor = elicitor{}
		if err := c.answering.add(mcp.MethodElicit, c.elicitor.answer); err != nil {
			return err
		}
	}
	switch {
	case h == nil:
		return fmt.Errorf("the handler for %s, mode %s, is nil", mcp.MethodElicit, mode)
	case c.elicitor[mode] != nil:
		return fmt.Errorf("more than one handler for %s, mode %s; set only one", mcp.MethodElicit, mode)
	}
	c.elicitor[mode] = h
	return nil
}

func (e elicitor) answer(ctx context.Context, r *Request) (any, error) {
	p := new(mcp.ElicitParams)
	if err := r.Decode(p); err != nil {
		return nil, invalidParams("%w", err)
	}
	mode := cmp.Or(p.Mode, mcp.ElicitForm)
	h := e[mode]
	if h == nil {
		return nil, invalidParams("the client did not declare elicitation mode %q; it declared %q", mode,
			slices.Sorted(maps.Keys(e)))
	}
	result, err := h(ctx, p)
	switch {
	case err != nil:
		return nil, err
	case result == nil:
		return &mcp.ElicitResult{Action: mcp.ElicitCancel}, nil
	}
	switch result.Action {
	case mcp.ElicitAccept:
		return result, nil
	case mcp.ElicitDecline, mcp.ElicitCancel:
		return &mcp.ElicitResult{Result: result.Result, Action: result.Action}, nil
	}
	return nil, fmt.Errorf("the elicitation handler returned the unknown action %q", result.Action)
}

// invalidParams returns the error for an invalid request. The client sends the text to the server.
func invalidParams(format string, args ...any) *mcp.Error {
	return &mcp.Error{Code: mcp.CodeInvalidParams, Message: fmt.Errorf(format, args...).Error()}
}

// elicitForm calls h to show a form, and completes the content.
func elicitForm(ctx context.Context, h ElicitationHandler, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	form, err := compileForm(p.RequestedSchema)
	if err != nil {
		return nil, invalidParams("requestedSchema: %w", err)
	}
	result, err := h(ctx, p)
	if err != nil || result == nil || result.Action != mcp.ElicitAccept {
		return result, err
	}
	filled := *result
	filled.Content, err = completeForm(ctx, form, result.Content)
	return &filled, err
}

// compileForm compiles the schema of a form. The schema must be flat. Some schemas for JavaScript have patterns that Go
// cannot compile; then compileForm leaves all patterns to the server.
func compileForm(raw json.RawMessage) (*schema.Schema, error) {
	form, err := schema.CompileForm(raw)
	if !errors.Is(err, schema.ErrPattern) {
		return form, err
	}
	var s map[string]json.RawMessage
	var properties map[string]map[string]json.RawMessage
	if json.Unmarshal(raw, &s) != nil || json.Unmarshal(s["properties"], &properties) != nil {
		return nil, err
	}
	for _, p := range properties {
		delete(p, "pattern")
	}
	s["properties"], _ = json.Marshal(properties) // cannot fail: the values were decoded from JSON
	raw, _ = json.Marshal(s)
	return schema.CompileForm(raw)
}

// completeForm adds the defaults to the content and validates the result.
func completeForm(ctx context.Context, form *schema.Schema, content map[string]any) (map[string]any, error) {
	if content = maps.Clone(content); content == nil {
		content = map[string]any{}
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("the form's content: %w", err)
	}
	if raw, err = form.ApplyDefaults(ctx, raw); err != nil {
		return nil, fmt.Errorf("the form's content: %w", err)
	}
	if err := form.Validate(ctx, raw); err != nil {
		return nil, fmt.Errorf("the form's content: %w", err)
	}
	var filled map[string]json.RawMessage // keeps the exact numbers
	if err := json.Unmarshal(raw, &filled); err != nil {
		return nil, err
	}
	for name, value := range filled {
		if _, ok := content[name]; !ok {
			content[name] = value // a default
		}
	}
	return content, nil
}
