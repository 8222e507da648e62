package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// GetPromptRequest asks for a prompt.
type GetPromptRequest struct {
	*RequestInfo
	Name      string
	Arguments map[string]string // nil if there are none. All that the prompt requires are there
}

// PromptHandler makes a prompt. A nil result is an empty one. An error of type [*mcp.Error] goes to the client as it
// is, any other as -32603 with a neutral message. Content of a kind that the client's revision does not have is sent to
// it as text.
//
// It runs in a goroutine of its own, and ctx ends as that of a [ToolHandler] does. The result is not changed, and may
// be returned again.
type PromptHandler func(ctx context.Context, r *GetPromptRequest) (*mcp.GetPromptResult, error)

// AddPrompt adds a prompt, of which a name is required. Requests that lack an argument which it requires are refused
// with -32602; others that it does not list are left to h.
//
// Clients that are connected are told that the list has changed. It is an error if the server has a prompt of that
// name. (specification 2026-07-28, server/prompts)
func (s *Server) AddPrompt(p *mcp.Prompt, h PromptHandler) error {
	switch {
	case p == nil:
		return errors.New("add prompt: no prompt")
	case p.Name == "":
		return errors.New("add prompt: no name")
	case h == nil:
		return fmt.Errorf("add prompt %s: no handler", p.Name)
	}
	for i, a := range p.Arguments {
		if a.Name == "" || slices.ContainsFunc(p.Arguments[:i], func(b mcp.PromptArgument) bool { return a.Name == b.Name }) {
			return fmt.Errorf("add prompt %s: argument %d has no name of its own", p.Name, i+1)
		}
	}
	c := *p
	c.Meta, c.Icons, c.Arguments = bytes.Clone(p.Meta), slices.Clone(p.Icons), slices.Clone(p.Arguments)
	added := &prompt{Prompt: &c, handle: h}
	if _, err := added.view(mcp.Version20260728); err != nil {
		return fmt.Errorf("add prompt %s: %w", p.Name, err)
	}
	if err := s.prompts.offer(); err != nil {
		return fmt.Errorf("add prompt %s: %w", p.Name, err)
	}
	if !s.prompts.add(added) {
		return fmt.Errorf("add prompt %s: there is a prompt of that name", p.Name)
	}
	s.changed(notice{method: mcp.NotificationPromptListChanged})
	return nil
}

// RemovePrompts removes prompts by name; requests that are being answered go on. Clients that are connected are told
// that the list has changed, if it has.
func (s *Server) RemovePrompts(names ...string) {
	if s.prompts.remove(names...) {
		s.changed(notice{method: mcp.NotificationPromptListChanged})
	}
}

// prompt is a prompt as a server has it.
type prompt struct {
	numbered
	*mcp.Prompt
	handle PromptHandler
	views  views
}

func (p *prompt) key() string { return p.Name }

// view returns the prompt as clients of a revision see it.
func (p *prompt) view(v mcp.Version) (json.RawMessage, error) {
	return viewOf(&p.views, p.Prompt, promptMembers, v)
}

// has reports whether the prompt has an argument of that name.
func (p *prompt) has(argument string) bool {
	return slices.ContainsFunc(p.Arguments, func(a mcp.PromptArgument) bool { return a.Name == argument })
}

// promptMembers are what not every revision knows of a prompt. (schemas of the revisions, Prompt and PromptArgument)
var promptMembers = []member[mcp.Prompt]{
	{first: mcp.Version20250618, drop: func(p *mcp.Prompt) {
		p.Title, p.Meta, p.Arguments = "", nil, slices.Clone(p.Arguments)
		for i := range p.Arguments {
			p.Arguments[i].Title = ""
		}
	}},
	{first: mcp.Version20251125, drop: func(p *mcp.Prompt) { p.Icons = nil }},
}

// prompts are those of a server.
type prompts struct {
	s *Server
	registry[*prompt]
	offered offering
}

// offer makes the server answer the methods of prompts, once there are some.
func (p *prompts) offer() error {
	return p.offered.offer(&p.s.methods, feature{declare: declarePrompts, methods: []*method{
		{name: mcp.MethodListPrompts, handle: p.list, pace: rpc.OnePace()},
		{name: mcp.MethodGetPrompt, handle: p.get, kind: instrument.Prompt, find: p.find},
	}})
}

// declarePrompts says that there are prompts.
func declarePrompts(c *mcp.ServerCapabilities, _ mcp.Version) {
	if c.Prompts == nil {
		c.Prompts = new(mcp.ListCapability)
	}
	c.Prompts.ListChanged = true
}

// list answers prompts/list. (specification 2026-07-28, server/prompts, "Listing Prompts")
func (p *prompts) list(_ context.Context, c *call) (any, error) {
	return pageOf(c, &p.registry, "prompts", (*prompt).view)
}

// get answers prompts/get. (specification 2026-07-28, server/prompts, "Getting a Prompt")
func (p *prompts) get(ctx context.Context, c *call) (any, error) {
	if named, ok := p.lookup(c.target); ok {
		return c.getPrompt(ctx, named.Arguments, named.handle)
	}
	if c.target == "" {
		return nil, errNoPrompt
	}
	return nil, invalidParams("unknown prompt: %s", c.target)
}

var errNoPrompt = invalidParams("params.name is missing, empty or no string")

// getPrompt lets h make the prompt that the request names, if the arguments are there that it requires.
func (c *call) getPrompt(ctx context.Context, known []mcp.PromptArgument, h PromptHandler) (any, error) {
	var arguments map[string]string
	if err := decodeCopy(c.arguments, &arguments); err != nil {
		return nil, invalidParams("params.arguments: %w", err)
	}
	for _, a := range known {
		if _, given := arguments[a.Name]; a.Required && !given {
			return nil, invalidParams("prompt %s: the argument %s is missing", c.target, a.Name)
		}
	}
	r, err := h(ctx, &GetPromptRequest{RequestInfo: &c.info, Name: c.target, Arguments: arguments})
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return new(mcp.GetPromptResult), nil
	case slices.ContainsFunc(r.Messages, func(m *mcp.PromptMessage) bool { return m == nil || m.Content == nil }):
		return nil, errors.New("one of the messages is nil, or its content")
	}
	return r, nil
}
