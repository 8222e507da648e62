package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// GetPromptRequest asks for a prompt.
type GetPromptRequest struct {
	*RequestInfo
	Name      string
	Arguments map[string]string // contains all required arguments; nil without arguments
}

// PromptHandler creates a prompt. A nil result is an empty result. The client gets an error of type [*mcp.Error]
// unchanged, and any other error as -32603 with a neutral message. The server converts content to text if the client's
// revision does not support the kind of the content.
//
// Each call runs in its own goroutine, and ctx ends as the context of a [ToolHandler] does. The server does not change
// the result, so a handler may return the same result again.
type PromptHandler func(ctx context.Context, r *GetPromptRequest) (*mcp.GetPromptResult, error)

// AddPrompt adds a prompt, which needs a name. If a request lacks a required argument, the server refuses it with
// -32602. The server also passes to h the arguments that the prompt does not list.
//
// Connected clients get a notification of the changed list. AddPrompt returns an error if a prompt of that name
// exists.
// (specification 2026-07-28, server/prompts)
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
			return fmt.Errorf("add prompt %s: argument %d has no name, or the name of another argument", p.Name, i+1)
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
		return fmt.Errorf("add prompt %s: a prompt with this name already exists", p.Name)
	}
	s.changed(notice{method: mcp.NotificationPromptListChanged})
	return nil
}

// RemovePrompts removes prompts by name. Requests in progress continue. Connected clients get a notification if the
// list has changed.
func (s *Server) RemovePrompts(names ...string) {
	if s.prompts.remove(names...) {
		s.changed(notice{method: mcp.NotificationPromptListChanged})
	}
}

// prompt is an added prompt, with its handler and its encodings.
type prompt struct {
	numbered
	*mcp.Prompt
	handle PromptHandler
	views  views
}

func (p *prompt) key() string { return p.Name }

// view returns the prompt, encoded for clients of a revision.
func (p *prompt) view(v mcp.Version) (json.RawMessage, error) {
	return viewOf(&p.views, p.Prompt, promptMembers, v)
}

// has reports whether the prompt has an argument of that name.
func (p *prompt) has(argument string) bool {
	return slices.ContainsFunc(p.Arguments, func(a mcp.PromptArgument) bool { return a.Name == argument })
}

// promptMembers lists the members of a prompt that some revisions lack. (schemas of the revisions, Prompt and
// PromptArgument)
var promptMembers = []member[mcp.Prompt]{
	{first: mcp.Version20250618, drop: func(p *mcp.Prompt) {
		p.Title, p.Meta, p.Arguments = "", nil, slices.Clone(p.Arguments)
		for i := range p.Arguments {
			p.Arguments[i].Title = ""
		}
	}},
	{first: mcp.Version20251125, drop: func(p *mcp.Prompt) { p.Icons = nil }},
}

// prompts holds the prompts of a server.
type prompts struct {
	s *Server
	registry[*prompt]
	offered offering
}

// offer registers the methods of prompts, once.
func (p *prompts) offer() error {
	return p.offered.offer(&p.s.methods, feature{declare: declarePrompts, methods: []*method{
		{Method: named(mcp.MethodListPrompts), handle: p.list, pace: rpc.OnePace()},
		{Method: targeting(mcp.MethodGetPrompt, instrument.Prompt, p.find), handle: p.get},
	}})
}

// declarePrompts declares prompts and notifications of a changed list.
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
	return nil, rpc.InvalidParams("unknown prompt: %s", c.target)
}

var errNoPrompt = rpc.InvalidParams("params.name is missing, empty or not a string")

// getPrompt calls h for the requested prompt, if all required arguments are present.
func (c *call) getPrompt(ctx context.Context, known []mcp.PromptArgument, h PromptHandler) (any, error) {
	var arguments map[string]string
	if err := given.Decode(c.arguments, &arguments); err != nil {
		return nil, rpc.InvalidParams("params.arguments: %w", err)
	}
	for _, a := range known {
		if _, given := arguments[a.Name]; a.Required && !given {
			return nil, rpc.InvalidParams("prompt %s: the argument %s is missing", c.target, a.Name)
		}
	}
	r, err := h(ctx, &GetPromptRequest{RequestInfo: &c.info, Name: c.target, Arguments: arguments})
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return new(mcp.GetPromptResult), nil
	case slices.ContainsFunc(r.Messages, func(m *mcp.PromptMessage) bool { return m == nil || m.Content == nil }):
		return nil, errors.New("a message or its content is nil")
	}
	return r, nil
}
