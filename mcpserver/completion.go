package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
)

// CompleteRequest asks what the user may be about to type.
type CompleteRequest struct {
	*RequestInfo
	Ref      mcp.CompleteRef   // as the client sent it
	Argument string            // of the prompt, or variable of the template
	Value    string            // as far as it has been typed
	Context  map[string]string // arguments that have been settled before, nil if the client says nothing of them
}

// CompletionHandler returns the values that an argument may have, the most fitting first. If there are more than 100,
// the first 100 are sent, with the number of all. An error of type [*mcp.Error] goes to the client as it is, any other
// as -32603 with a neutral message.
//
// It runs in a goroutine of its own, and ctx ends as that of a [ToolHandler] does.
type CompletionHandler func(ctx context.Context, r *CompleteRequest) ([]string, error)

// maxCompletions is how many values may be sent. (specification 2026-07-28, server/utilities/completion)
const maxCompletions = 100

// AddCompletion completes one argument of a prompt, or one variable of a resource template: of that which ref names,
// whether it has been added yet or not. As long as it has not, requests are refused with -32602, and so are those about
// an argument that it does not have. Those about one without completion get no values.
//
// It is an error if the argument has a completion already.
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
		return fmt.Errorf("add completion: %s of nothing", ref.Type)
	case argument == "":
		return fmt.Errorf("add completion: %s %s: no argument", ref.Type, named)
	case h == nil:
		return errors.New("add completion: no handler")
	}
	if err := s.completions.offer(); err != nil {
		return fmt.Errorf("add completion: %w", err)
	}
	if !s.completions.add(completionKey{ref.Type, named, argument}, h) {
		return fmt.Errorf("add completion: %s %s: the argument %s has one", ref.Type, named, argument)
	}
	return nil
}

// completionKey is what there is one completion for.
type completionKey struct {
	kind            mcp.RefType
	named, argument string
}

// completions are those of a server. They are safe for concurrent use.
type completions struct {
	s       *Server
	offered offering

	mu    sync.RWMutex
	byKey map[completionKey]CompletionHandler // guarded by mu
}

// add reports false if there is one already.
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

// lookup returns nil if there is none.
func (t *completions) lookup(k completionKey) CompletionHandler {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byKey[k]
}

// offer makes the server answer completion/complete, once there is something to complete.
func (t *completions) offer() error {
	return t.offered.offer(&t.s.methods, feature{declare: declareCompletions, methods: []*method{
		{name: mcp.MethodComplete, handle: t.complete, rate: rateCompletions,
			kind: instrument.Prompt, find: t.s.prompts.find},
	}})
}

// declareCompletions says that there are completions.
func declareCompletions(c *mcp.ServerCapabilities, _ mcp.Version) {
	if c.Completions == nil {
		c.Completions = mcp.Object{}
	}
}

// complete answers completion/complete.
// (specification 2026-07-28, server/utilities/completion, "Requesting Completions")
func (t *completions) complete(ctx context.Context, c *call) (any, error) {
	var p mcp.CompleteParams
	if err := decodeCopy(c.params, &p); err != nil {
		return nil, invalidParams("params: %w", err)
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

// complete lets h complete an argument.
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

// keyOf returns what is to be completed, after checking that it exists. The URI of a resource stands for the
// template that it matches.
func (t *completions) keyOf(ref mcp.CompleteRef, argument string) (k completionKey, err error) {
	switch ref.Type {
	case mcp.RefPrompt:
		p, ok := t.s.prompts.lookup(ref.Name)
		switch {
		case !ok:
			return k, invalidParams("unknown prompt: %s", ref.Name)
		case !p.has(argument):
			return k, invalidParams("prompt %s has no argument %q", ref.Name, argument)
		}
		return completionKey{ref.Type, p.Name, argument}, nil
	case mcp.RefResource:
		of, ok := t.s.resources.template(ref.URI)
		switch {
		case !ok:
			return k, invalidParams("unknown resource template: %s", ref.URI)
		case !of.uris.Has(argument):
			return k, invalidParams("resource template %s has no variable %q", of.URITemplate, argument)
		}
		return completionKey{ref.Type, of.URITemplate, argument}, nil
	}
	return k, invalidParams("unknown type of reference: %.64q", ref.Type)
}
