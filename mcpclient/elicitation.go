package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

// ElicitationHandler asks the user what the server wants to know and returns the answer; nil means that the user said
// nothing.
type ElicitationHandler func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error)

// HandleElicitation declares that the client shows forms, and lets h show them: for elicitation/create of a legacy server,
// and for what a modern one needs before it can answer a call. What an accepted form leaves out gets its default from the
// requested schema, and the content must match that schema; if it does not, the server gets an error.
// (specification 2026-07-28, client/elicitation, "Form Mode")
func HandleElicitation(h ElicitationHandler) Feature {
	return feature{
		declare: func(c *mcp.ClientCapabilities) {
			if c.Elicitation == nil {
				c.Elicitation = &mcp.ElicitationCapability{}
			}
			c.Elicitation.Form = mcp.Object{}
		},
		answers: map[string]RequestHandler{mcp.MethodElicit: func(ctx context.Context, r *Request) (any, error) {
			return elicit(ctx, h, r)
		}},
	}
}

func elicit(ctx context.Context, h ElicitationHandler, r *Request) (any, error) {
	p := new(mcp.ElicitParams)
	if err := r.Decode(p); err != nil {
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: err.Error()}
	}
	if p.Mode != "" && p.Mode != mcp.ElicitForm {
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: fmt.Sprintf("elicitation mode %q was not declared", p.Mode)}
	}
	result, err := h(ctx, p)
	switch {
	case err != nil:
		return nil, err
	case result == nil:
		return &mcp.ElicitResult{Action: mcp.ElicitCancel}, nil
	case result.Action != mcp.ElicitAccept:
		return result, nil
	}
	content, err := completeForm(p.RequestedSchema, result.Content)
	if err != nil {
		return nil, err
	}
	filled := *result
	filled.Content = content
	return &filled, nil
}

// completeForm adds the defaults to what was filled in and checks the whole.
func completeForm(requested json.RawMessage, content map[string]any) (map[string]any, error) {
	s, err := schema.Compile(slices.Clone(requested))
	if err != nil {
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: "requestedSchema: " + err.Error()}
	}
	if content == nil {
		content = map[string]any{}
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("content of the form: %w", err)
	}
	if raw, err = s.ApplyDefaults(raw); err != nil {
		return nil, fmt.Errorf("content of the form: %w", err)
	}
	if err := s.Validate(raw); err != nil {
		return nil, fmt.Errorf("content of the form: %w", err)
	}
	var filled map[string]any
	return filled, json.Unmarshal(raw, &filled)
}
