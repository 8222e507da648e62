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
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// handler answers a request. The result is encoded in the way of [mcp.AppendResult], nil as an empty object.
type handler func(ctx context.Context, c *call) (any, error)

// method is a method that a server answers.
type method struct {
	name   string
	handle handler
	inline bool // quick, so that the read loop answers it: before it reads on, whatever is running

	// What the method is about, for methods that name one thing: find returns its name if it is there.
	kind instrument.TargetKind
	find func(name []byte) (string, bool)

	byURI bool  // it is about a resource
	rate  rated // how often a client may use it

	// of what its requests are about, nil if they are never to be answered where they are read
	pace func(target string) *rpc.Pace

	rows []mcp.Method // what the protocol says about it; nil for a method of the user's own
	own  bool         // the handler is the user's, and reads the params
}

// in reports whether the revision v has the method, as a request of the client.
func (m *method) in(v mcp.Version) bool {
	return m.rows == nil || slices.ContainsFunc(m.rows, func(r mcp.Method) bool { return r.In(v) })
}

// target returns what a request by the method is about in the revision v.
func (m *method) target(v mcp.Version) mcp.Target {
	for i := range m.rows {
		if m.rows[i].In(v) {
			return m.rows[i].Target
		}
	}
	return mcp.TargetNone
}

// methods is the table of what a server answers. Reading it takes no lock.
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

// add adds the methods of a feature, and what the feature declares. It reports false, and adds nothing, if there is one
// of the methods already.
func (t *methods) add(f feature) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	table := map[string]*method{}
	if old := t.table.Load(); old != nil {
		maps.Copy(table, *old)
	}
	for _, m := range f.methods {
		if table[m.name] != nil {
			return false
		}
		m.rows = rowsOf(m.name)
		table[m.name] = m
	}
	t.table.Store(&table)
	if f.declare != nil {
		all := append(slices.Clone(t.declarations()), f.declare)
		t.declared.Store(&all)
	}
	return true
}

// rowsOf returns what the protocol says about requests that clients send by the method called name.
func rowsOf(name string) []mcp.Method {
	var rows []mcp.Method
	for m := range mcp.Methods() {
		if m.Name == name && m.Kind == mcp.KindRequest && m.Sender&mcp.FromClient != 0 {
			rows = append(rows, m)
		}
	}
	return rows
}

// HandleRequest answers the requests of one method: of the user's own, in all revisions, or of a part of the protocol
// that this package does not offer by itself, in the revisions that have it; what that declares goes into
// [Options.Capabilities].
//
// The result is encoded as a JSON object, nil as an empty one; resultType and the server's name are added for modern
// clients. An error of type [*mcp.Error] goes to the client as it is, any other as -32603 with a neutral message. It is
// an error if the method has a handler already.
func (s *Server) HandleRequest(name string, h RequestHandler) error {
	switch {
	case name == "":
		return errors.New("handle request: no method")
	case h == nil:
		return fmt.Errorf("handle request %s: no handler", name)
	}
	added := !slices.Contains(toolMethods, name) && s.methods.add(feature{methods: []*method{{
		name: name,
		own:  true,
		pace: rpc.OnePace(),
		handle: func(ctx context.Context, c *call) (any, error) {
			result, err := h(ctx, &Request{RequestInfo: &c.info, Params: c.params})
			if err != nil {
				return nil, err
			}
			raw, err := mcp.AppendResult(nil, result) // here, where a panic is caught
			return json.RawMessage(raw), err
		},
	}}})
	if !added {
		return fmt.Errorf("handle request %s: the method has a handler", name)
	}
	return nil
}
