package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// CompleteRequest asks for completions of a value that the user is typing.
type CompleteRequest struct {
	*RequestInfo
	Ref      mcp.CompleteRef   // prompt or template, as the client sent it
	Argument string            // argument of the prompt, or variable of the template
	Value    string            // text typed so far
	Context  map[string]string // arguments that already have values; nil if the client sends none
}

// CompletionHandler returns the possible values of an argument, with the best match first. The server sends the
// first 100 values, with the total number. The client gets an error of type [*mcp.Error] unchanged, and any other
// error as -32603 with a neutral message.
//
// The handler runs in its own goroutine, and ctx ends as the context of a [ToolHandler] does.
type CompletionHandler func(ctx context.Context, r *CompleteRequest) ([]string, error)

// maxCompletions limits the values in one result. (specification 2026-07-28, server/utilities/completion)
const maxCompletions = 100

// AddCompletion adds a completion for one argument of a prompt, or one variable of a resource template. ref names the
// prompt or template, which may be added later. For an unknown prompt, template or argument, the server returns the
// error -32602. For an argument without a completion, the client gets no values.
//
// AddCompletion returns an error if the argument already has a completion.
// (specification 2026-07-28, server/utilities/completion)
func (s *Server) AddCompletion(ref mcp.CompleteRef, argument string, h CompletionHandler) error {
	named := ref.Name
	if ref.Type == mcp.RefResource {
		named = ref.URI
	}
	switch {
	case ref.Type != mcp.RefPrompt && ref.Type != mcp.RefResource:
		return fmt.Errorf("add completion: the type of the reference is %q", ref.Type)
	case named == "":
		return fmt.Errorf("add completion: %s: the reference has no name or URI", ref.Type)
	case argument == "":
		return fmt.Errorf("add completion: %s %s: no argument", ref.Type, named)
	case h == nil:
		return errors.New("add completion: no handler")
	}
	if err := s.completions.offer(); err != nil {
		return fmt.Errorf("add completion: %w", err)
	}
	if !s.completions.add(completionKey{ref.Type, named, argument}, h) {
		return fmt.Errorf("add completion: %s %s: the argument %s already has a completion", ref.Type, named, argument)
	}
	return nil
}

// completionKey identifies a completion.
type completionKey struct {
	kind            mcp.RefType
	named, argument string
}

// completions are the completions of a server. They are safe for concurrent use.
type completions struct {
	s       *Server
	offered offering

	mu    sync.RWMutex
	byKey map[completionKey]CompletionHandler // guarded by mu
}

// add adds a completion. It returns false if the key already has one.
func (t *completions) add(k completionKey, h CompletionHandler) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey[k] != nil {
		return false
	}
	if t.byKey == nil {
		t.byKey = map[completionKey]CompletionHandler{}
	}
	t.byKey[k] = h
	return true
}

// lookup returns the completion of a key, or nil.
func (t *completions) lookup(k completionKey) CompletionHandler {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byKey[k]
}

// offer registers the method completion/complete when the server gets its first completion.
func (t *completions) offer() error {
	return t.offered.offer(&t.s.methods, feature{declare: declareCompletions, methods: []*method{
		{Method: targeting(mcp.MethodComplete, instrument.Prompt, t.s.prompts.find), handle: t.complete,
			rate: rates.Completions},
	}})
}

// declareCompletions declares the capability completions.
func declareCompletions(c *mcp.ServerCapabilities, _ mcp.Version) {
	if c.Completions == nil {
		c.Completions = mcp.Object{}
	}
}

// complete handles completion/complete.
// (specification 2026-07-28, server/utilities/completion, "Requesting Completions")
func (t *completions) complete(ctx context.Context, c *call) (any, error) {
	var p mcp.CompleteParams
	if err := given.Decode(c.params, &p); err != nil {
		return nil, rpc.InvalidParams("params: %w", err)
	}
	key, err := t.keyOf(p.Ref, p.Argument.Name)
	if err != nil {
		return nil, err
	}
	handle := t.lookup(key)
	if handle == nil {
		return new(mcp.CompleteResult), nil
	}
	return c.complete(ctx, &p, handle)
}

// complete calls h and returns its values as a result.
func (c *call) complete(ctx context.Context, p *mcp.CompleteParams, h CompletionHandler) (any, error) {
	r := &CompleteRequest{RequestInfo: &c.info, Ref: p.Ref, Argument: p.Argument.Name, Value: p.Argument.Value}
	if p.Context != nil {
		r.Context = p.Context.Arguments
	}
	values, err := h(ctx, r)
	if err != nil {
		return nil, err
	}
	return &mcp.CompleteResult{Completion: mcp.Completion{
		Values: values[:min(len(values),
			maxCompletions)], Total: new(int64(len(values))), HasMore: len(values) > maxCompletions,
	}}, nil
}

// keyOf returns the key of the requested completion, or an error if the prompt, template or argument does not exist.
// The URI of a resource identifies the template that it matches.
func (t *completions) keyOf(ref mcp.CompleteRef, argument string) (k completionKey, err error) {
	switch ref.Type {
	case mcp.RefPrompt:
		p, ok := t.s.prompts.lookup(ref.Name)
		switch {
		case !ok:
			return k, rpc.InvalidParams("unknown prompt: %s", ref.Name)
		case !p.has(argument):
			return k, rpc.InvalidParams("prompt %s has no argument %q", ref.Name, argument)
		}
		return completionKey{ref.Type, p.Name, argument}, nil
	case mcp.RefResource:
		of, ok := t.s.resources.template(ref.URI)
		switch {
		case !ok:
			return k, rpc.InvalidParams("unknown resource template: %s", ref.URI)
		case !of.uris.Has(argument):
			return k, rpc.InvalidParams("resource template %s has no variable %q", of.URITemplate, argument)
		}
		return completionKey{ref.Type, of.URITemplate, argument}, nil
	}
	return k, rpc.InvalidParams("unknown type of reference: %.64q", ref.Type)
}
