package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

// schemaMemo remembers the output schemas of the tools that were listed, until the list changes. A schema is compiled when
// it is first used.
type schemaMemo struct {
	mu      sync.Mutex
	changes int                    // guarded by mu; how often the list has changed
	tools   map[string]*toolSchema // guarded by mu
	listed  bool                   // guarded by mu; all tools have been listed since the last change
}

type toolSchema struct {
	compile func() (*schema.Schema, error)
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
	m.changes++
	m.tools, m.listed = nil, false
}

// learn remembers tools that were asked for when the list had version before; it may have changed since.
func (m *schemaMemo) learn(before int, tools []*mcp.Tool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes != before {
		return
	}
	if m.tools == nil {
		m.tools = map[string]*toolSchema{}
	}
	for _, t := range tools {
		m.tools[t.Name] = newToolSchema(t.OutputSchema)
	}
}

func newToolSchema(raw json.RawMessage) *toolSchema {
	if raw == nil {
		return &toolSchema{compile: func() (*schema.Schema, error) { return nil, nil }}
	}
	raw = append(json.RawMessage(nil), raw...) // the list's frame may be large
	return &toolSchema{compile: sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(raw) })}
}

// output returns the output schema of a tool, nil if it has none, is not listed, or has one with a regular expression that
// Go cannot compile, as schemas made for JavaScript have. It lists the tools if they have not been listed since the last
// change.
func (m *schemaMemo) output(ctx context.Context, c *Client, tool string) (*schema.Schema, error) {
	t, listed := m.find(tool)
	if t == nil && !listed {
		before := m.version()
		for _, err := range c.Tools(ctx) {
			if err != nil {
				return nil, err
			}
		}
		m.complete(before)
		t, _ = m.find(tool)
	}
	if t == nil {
		return nil, nil
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
