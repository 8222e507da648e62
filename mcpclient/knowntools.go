package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/mirror"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/contextcost"
)

// knownTools stores the data that calls of listed tools need, until the list changes: the output schema, the parameters
// that are repeated in headers, and whether a call may become a task. If a tool is missing in a later list, knownTools
// forgets it. A schema is compiled when it is first used.
//
// The data is bounded in bytes, see [toolSet]. If there was no room for the data of a tool, the client lists the tools
// again each time it needs that data.
type knownTools struct {
	c *Client

	mu      sync.Mutex
	changes uint32  // number of changes of the list; guarded by mu
	listed  bool    // all tools were listed since the last change; guarded by mu
	known   toolSet // guarded by mu

	weighed *[weighedPages]weighedPage // pages of the list that was weighed last; nil before the first; guarded by mu
}

// weighedPage is the size of one page's tools.
type weighedPage struct {
	sum  uint64 // hash of the definitions
	cost *instrument.ToolList
}

// weighedPages is the number of pages whose size is cached.
const weighedPages = 16

// version returns a number that changes whenever the list changes.
func (m *knownTools) version() uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

// forget removes all tools, because the list has changed.
func (m *knownTools) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
}

// clear removes all tools. The caller holds mu.
func (m *knownTools) clear() {
	m.reset()
	m.c.cache.drop(mcp.MethodListTools)
}

// reset is like clear, but does not touch the result cache. The caller holds mu.
func (m *knownTools) reset() {
	m.changes++
	m.known, m.listed = toolSet{}, false
}

// forgetPrivate removes all tools, because another user may see other tools. Lists for all users stay in the result
// cache.
func (m *knownTools) forgetPrivate() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reset()
}

// outdated removes all tools if the list still has this version. Otherwise another caller has already removed them.
func (m *knownTools) outdated(version uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes == version {
		m.clear()
	}
}

// toolListing collects the tools of one list, page by page.
type toolListing struct {
	before uint32 // version of the list when the listing began
	whole  bool
	tools  toolSet
	cost   *instrument.ToolList // nil if neither metrics nor an inspection need it
	pages  int                  // number of weighed pages
	drift  driftListing
}

func (m *knownTools) begin() *toolListing {
	l := &toolListing{before: m.version()}
	if t := m.c.core.Telemetry; running.Watched() || t.Metered() {
		l.cost = t.NewToolList()
	}
	return l
}

// weigh adds a page of tools to the estimate of l: the tokens that the tools take in a model's context. After the last
// page, weigh reports the estimate to the telemetry. There is no estimate for an incomplete list.
func (m *knownTools) weigh(l *toolListing, tools []*mcp.Tool, last bool) {
	if l.cost == nil || !l.whole {
		return
	}
	l.cost.AddList(m.costOf(l.pages, tools))
	l.pages++
	if last {
		m.c.core.Telemetry.ToolsListed(l.cost)
	}
}

// costOf returns the size of a page's tools. The size of an unchanged page comes from the cache: estimating its tokens
// again would take as long as all other work for a cached list.
func (m *knownTools) costOf(page int, tools []*mcp.Tool) *instrument.ToolList {
	sum := sumOf(tools)
	if known := m.weighedBefore(page); known.sum == sum && known.cost != nil {
		return known.cost
	}
	cost := m.c.core.Telemetry.NewToolList()
	for _, t := range tools {
		d := contextcost.Of(t)
		cost.Add(t.Name, instrument.ToolSize(d.Description), instrument.ToolSize(d.InputSchema))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.weighed == nil {
		m.weighed = new([weighedPages]weighedPage)
	}
	if page < weighedPages {
		m.weighed[page] = weighedPage{sum, cost}
	}
	return cost
}

func (m *knownTools) weighedBefore(page int) (p weighedPage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.weighed != nil && page < weighedPages {
		p = m.weighed[page]
	}
	return p
}

var weighing = maphash.MakeSeed()

// sumOf hashes the parts of the tools that count for their size.
func sumOf(tools []*mcp.Tool) uint64 {
	var h maphash.Hash
	h.SetSeed(weighing)
	for _, t := range tools {
		for _, text := range [...]string{t.Name, t.Description} {
			_, _ = h.WriteString(text) // a Hash never fails
			_ = h.WriteByte(0)
		}
		_, _ = h.Write(t.InputSchema)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// page lists one page of l, and stores the data of its tools.
func (m *knownTools) page(ctx context.Context, l *toolListing, cursor *string, o []CallOption) (*mcp.ListToolsResult,
	error) {
	c := m.c
	params := &mcp.PageParams{Cursor: cursor}
	if err := c.require(ctx, mcp.MethodListTools, params, o, hasTools, "tools"); err != nil {
		return nil, err
	}
	r, found := new(mcp.ListToolsResult), false
	o = append(o[:len(o):len(o)], func(a *asked) { a.found = &found })
	if err := c.cachedCall(ctx, mcp.MethodListTools, params, r, o...); err != nil {
		return nil, err
	}
	if last := r.NextCursor == nil; found && last && cursor == nil && m.knows(l) {
		l.drift.compared = true
	} else {
		m.weigh(l, r.Tools, last)
		m.remember(l, r.Tools, m.mirrors(), last)
		c.drift.learn(ctx, l, r.Tools, last)
	}
	r.Tools = c.drift.accepted(r.Tools)
	return r, nil
}

// knows reports whether the data of all tools are stored, and their sizes if l needs them. If so, reading a cached list
// of one page again brings nothing new.
func (m *knownTools) knows(l *toolListing) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.listed && m.changes == l.before && (l.cost == nil || m.weighed != nil)
}

// remember stores the data of one page's tools. After the last page, it removes tools that were not in the list.
func (m *knownTools) remember(l *toolListing, tools []*mcp.Tool, mirrors, last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes != l.before {
		return
	}
	complete := last && l.whole
	l.tools.expect(len(tools))
	for _, t := range tools {
		s := newToolSchema(t, mirrors)
		name := strings.Clone(t.Name)
		l.tools.put(name, s)
		if !complete {
			m.known.put(name, s)
		}
	}
	if complete {
		m.known, m.listed = l.tools, true
	}
}

// areListed reports whether all tools were listed since the last change of the list.
func (m *knownTools) areListed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.listed
}

// stranger reports whether the tool is missing in the server's complete list. If the list has more names than the
// client can store, tools beyond that limit count as strangers too.
func (m *knownTools) stranger(tool string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.listed && m.known.tools.get(tool) == nil
}

// output returns the output schema of a tool. The schema is nil if the tool has none or is not listed. It is also nil
// if it has a regular expression that Go cannot compile, as some schemas for JavaScript have. If the tools were not
// listed since the last change, output lists them.
func (m *knownTools) output(ctx context.Context, tool string, options []CallOption) (*schema.Schema, error) {
	t, err := m.look(ctx, tool, options)
	if t == nil {
		return nil, err
	}
	s, err := t.compile()
	switch {
	case errors.Is(err, schema.ErrPattern):
		m.c.core.Telemetry.OutputUnchecked(tool, err)
		return nil, nil
	case err != nil:
		return nil, &Error{Kind: KindProtocol, Op: mcp.MethodCallTool, Unsent: true,
			cause: fmt.Errorf("output of tool %s: %w", tool, err)}
	}
	return s, nil
}

// taskSupport reports whether a tool may or must be called as a task in 2025-11-25. Like output, it may list the tools
// first.
func (m *knownTools) taskSupport(ctx context.Context, tool string, options []CallOption) (mcp.TaskSupport, error) {
	t, err := m.look(ctx, tool, options)
	if t == nil {
		return mcp.TaskForbidden, err
	}
	return t.tasks, nil
}

// look returns the data of a tool, or nil if the server does not list it.
func (m *knownTools) look(ctx context.Context, tool string, options []CallOption) (*toolSchema, error) {
	if t, certain := m.find(tool); certain {
		return t, nil
	}
	return m.list(ctx, tool, m.c.cfg.toList(options))
}

// list lists all tools, stores their data, and returns the data of one tool, or nil if that tool is not in the list. If
// the list changes during the listing, list returns the data of the tool but does not store it. An error instead would
// make calls fail, because some servers announce a change as soon as a session begins.
func (m *knownTools) list(ctx context.Context, tool string, options []CallOption) (found *toolSchema, _ error) {
	mirrors := m.mirrors()
	for t, err := range m.c.Tools(ctx, options...) {
		if err != nil {
			return nil, err
		}
		if t.Name == tool {
			found = newToolSchema(t, mirrors)
		}
	}
	if known, certain := m.find(tool); certain && known != nil {
		return known, nil // use the copy that other callers share
	}
	return found, nil
}

// mirrored returns the parameters of a tool that are repeated in headers. It returns nil if they are unknown.
func (m *knownTools) mirrored(tool string) []mirror.Param {
	t, _ := m.find(tool)
	return t.params()
}

// find returns the stored data of a tool, or nil. It returns false if listing the tools again may give a better answer.
func (m *knownTools) find(tool string) (_ *toolSchema, certain bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.known.tools.get(tool)
	if t == nil {
		return nil, m.listed && !m.known.partial
	}
	return t, t != nameOnly
}
