package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// handler answers a request. [mcp.AppendResult] encodes the result; nil is an empty object.
type handler func(ctx context.Context, c *call) (any, error)

// method is a method that a server answers.
type method struct {
	engine.Method
	handle handler
	inline bool       // the read loop handles the request before it reads the next message
	rate   rates.Kind // limits how often a client may use the method

	// pace returns the [rpc.Pace] of a target, which decides whether the goroutine that reads requests may also handle a
	// request. If pace is nil, that goroutine never handles requests of this method.
	pace func(target string) *rpc.Pace

	own bool // the user's handler handles the method and decodes its params
}

// named describes a method without a target.
func named(name string) engine.Method { return engine.Method{Name: name} }

// targeting describes a method with the name of a tool or prompt in its params. find returns the name if it is
// registered.
func targeting(name string, kind instrument.TargetKind, find func([]byte) (string, bool)) engine.Method {
	return engine.Method{Name: name, Kind: kind, Find: find}
}

// ofResource describes a method with the URI of a resource in its params.
func ofResource(name string) engine.Method { return engine.Method{Name: name, ByURI: true} }

// about returns the engine's description of the method. It returns nil for a nil method.
func (m *method) about() *engine.Method {
	if m == nil {
		return nil
	}
	return &m.Method
}

// methods is the table of the methods that a server answers. A lookup takes no lock.
type methods struct {
	mu       sync.Mutex // held to change the table
	table    atomic.Pointer[map[string]*method]
	declared atomic.Pointer[[]func(*mcp.ServerCapabilities, mcp.Version)]
}

func (t *methods) lookup(name string) (*method, bool) {
	table := t.table.Load()
	if table == nil {
		return nil, false
	}
	m, ok := (*table)[name]
	return m, ok
}

func (t *methods) declarations() []func(*mcp.ServerCapabilities, mcp.Version) {
	if all := t.declared.Load(); all != nil {
		return *all
	}
	return nil
}

// add adds the methods and the declaration of a feature. If the table already has one of the methods, add returns
// false and adds nothing.
func (t *methods) add(f feature) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	table := map[string]*method{}
	if old := t.table.Load(); old != nil {
		maps.Copy(table, *old)
	}
	for _, m := range f.methods {
		if table[m.Name] != nil {
			return false
		}
		m.Rows = engine.RowsOf(m.Name)
		table[m.Name] = m
	}
	t.table.Store(&table)
	if f.declare != nil {
		all := append(slices.Clone(t.declarations()), f.declare)
		t.declared.Store(&all)
	}
	return true
}

// HandleRequest sets the handler for the requests of one method: a custom method, or a protocol method that this
// package does not offer. The server handles a custom method in all revisions, and a protocol method in the revisions
// that have it. For a protocol method, declare the capability in [Options.Capabilities].
//
// The server encodes the result as a JSON object; a nil result is an empty object. For modern clients, the server adds
// resultType and the server's name. The client gets an error of type [*mcp.Error] unchanged, and any other error as
// -32603 with a neutral message. HandleRequest returns an error if the method already has a handler.
func (s *Server) HandleRequest(name string, h RequestHandler) error {
	switch {
	case name == "":
		return errors.New("handle request: no method")
	case h == nil:
		return fmt.Errorf("handle request %s: no handler", name)
	}
	added := !slices.Contains(toolMethods, name) && s.methods.add(feature{methods: []*method{{
		Method: named(name),
		own:    true,
		pace:   rpc.OnePace(),
		handle: func(ctx context.Context, c *call) (any, error) {
			result, err := h(ctx, &Request{RequestInfo: &c.info, Params: c.params})
			if err != nil {
				return nil, err
			}
			raw, err := mcp.AppendResult(nil, result) // encode here, where a panic is recovered
			return json.RawMessage(raw), err
		},
	}}})
	if !added {
		return fmt.Errorf("handle request %s: the method already has a handler", name)
	}
	return nil
}
