package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
			var e mcp.ElicitationCapability
			if c.Elicitation != nil {
				e = *c.Elicitation // the user's stays as it is
			}
			e.Form = mcp.Object{}
			c.Elicitation = &e
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
	form, err := schema.Compile(slices.Clone(p.RequestedSchema))
	if err != nil {
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: "requestedSchema: " + err.Error()}
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
	content, err := completeForm(form, result.Content)
	if err != nil {
		return nil, err
	}
	filled := *result
	filled.Content = content
	return &filled, nil
}

// completeForm adds the defaults to what was filled in and checks the whole.
func completeForm(form *schema.Schema, content map[string]any) (map[string]any, error) {
	if content = maps.Clone(content); content == nil {
		content = map[string]any{}
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("content of the form: %w", err)
	}
	if raw, err = form.ApplyDefaults(raw); err != nil {
		return nil, fmt.Errorf("content of the form: %w", err)
	}
	if err := form.Validate(raw); err != nil {
		return nil, fmt.Errorf("content of the form: %w", err)
	}
	var filled map[string]json.RawMessage // the numbers as they are
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
