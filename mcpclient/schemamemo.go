package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/mirror"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

// schemaMemo remembers what the schemas of the tools say that were listed, and which may be tasks, until the list changes. A schema is compiled when
// it is first used.
type schemaMemo struct {
	mu      sync.Mutex
	changes int                    // guarded by mu; how often the list has changed
	tools   map[string]*toolSchema // guarded by mu
	listed  bool                   // guarded by mu; all tools have been listed since the last change
	cache   *resultCache           // forgets the lists with the schemas; may be nil
}

type toolSchema struct {
	compile  func() (*schema.Schema, error) // of the output
	mirrored []mirror.Param
	tasks    mcp.TaskSupport // of a server of 2025-11-25; empty for forbidden
}

// version returns a number that is another one after the list has changed.
func (m *schemaMemo) version() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

// forget forgets all, for the list has changed.
func (m *schemaMemo) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
}

// clear forgets all. mu is held.
func (m *schemaMemo) clear() {
	m.changes++
	m.tools, m.listed = nil, false
	m.cache.drop(mcp.MethodListTools)
}

// outdated forgets all that was known when the list had this version. It may have been forgotten by another caller since.
func (m *schemaMemo) outdated(version int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes == version {
		m.clear()
	}
}

// learn remembers tools that were asked for when the list had version before; it may have changed since. whole says that there
// are no others.
func (m *schemaMemo) learn(before int, tools []*mcp.Tool, mirrors, whole bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes != before {
		return
	}
	if m.tools == nil {
		m.tools = map[string]*toolSchema{}
	}
	for _, t := range tools {
		s := newToolSchema(t)
		if mirrors {
			s.mirrored, _ = mirror.Params(t.InputSchema) // it has been checked
		}
		m.tools[t.Name] = s
	}
	m.listed = m.listed || whole
}

// stranger reports whether a tool is none of those that the server lists, as far as they are known.
func (m *schemaMemo) stranger(tool string) bool {
	t, listed := m.find(tool)
	return t == nil && listed
}

func newToolSchema(t *mcp.Tool) *toolSchema {
	s := &toolSchema{compile: func() (*schema.Schema, error) { return nil, nil }}
	if t.Execution != nil {
		s.tasks = t.Execution.TaskSupport
	}
	if t.OutputSchema != nil {
		raw := slices.Clone(t.OutputSchema) // the list's frame may be large
		s.compile = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(raw) })
	}
	return s
}

// output returns the output schema of a tool, nil if it has none, is not listed, or has one with a regular expression that
// Go cannot compile, as schemas made for JavaScript have. It lists the tools if they have not been listed since the last
// change.
func (m *schemaMemo) output(ctx context.Context, c *Client, tool string) (*schema.Schema, error) {
	t, err := m.look(ctx, c, tool)
	if t == nil {
		return nil, err
	}
	s, err := t.compile()
	switch {
	case errors.Is(err, schema.ErrPattern):
		c.tel.OutputUnchecked(tool, err)
		return nil, nil
	case err != nil:
		return nil, &Error{Kind: KindProtocol, Op: mcp.MethodCallTool, Unsent: true, cause: fmt.Errorf("output of tool %s: %w", tool, err)}
	}
	return s, nil
}

// taskSupport returns whether a tool may be called as a task in 2025-11-25. It lists the tools as output does.
func (m *schemaMemo) taskSupport(ctx context.Context, c *Client, tool string) (mcp.TaskSupport, error) {
	t, err := m.look(ctx, c, tool)
	if t == nil {
		return mcp.TaskForbidden, err
	}
	return t.tasks, nil
}

// look returns what is known of a tool, nil if it is not listed. A list that changes while it is asked for is not remembered; some
// servers announce changes as soon as a session begins.
func (m *schemaMemo) look(ctx context.Context, c *Client, tool string) (t *toolSchema, err error) {
	t, listed := m.find(tool)
	if t != nil || listed {
		return t, nil
	}
	err = m.listEach(ctx, c, func(found *mcp.Tool) {
		if found.Name == tool {
			t = newToolSchema(found)
		}
	})
	if known, _ := m.find(tool); known != nil {
		t = known
	}
	return t, err
}

// list lists all tools, which are remembered with that.
func (m *schemaMemo) list(ctx context.Context, c *Client) error {
	return m.listEach(ctx, c, func(*mcp.Tool) {})
}

// listEach is list, and calls f for each.
func (m *schemaMemo) listEach(ctx context.Context, c *Client, f func(*mcp.Tool)) error {
	before := m.version()
	for t, err := range c.Tools(ctx) {
		if err != nil {
			return err
		}
		f(t)
	}
	m.complete(before)
	return nil
}

// mirrored returns the parameters of a tool that are repeated in headers, as far as is known.
func (m *schemaMemo) mirrored(tool string) []mirror.Param {
	if t, _ := m.find(tool); t != nil {
		return t.mirrored
	}
	return nil
}

func (m *schemaMemo) find(tool string) (*toolSchema, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tools[tool], m.listed
}

func (m *schemaMemo) complete(before int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listed = m.changes == before
}
