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

// knownTools keeps, for each listed tool, the data that its calls need, until the list changes: the output schema,
// the parameters that are repeated in headers, and whether it may be a task. A tool that is missing in a later
// list is forgotten. A schema is compiled when it is first used.
//
// The data are bounded in bytes, see [toolSet]. If there was no room for a tool, the tools are listed again each
// time it is needed.
type knownTools struct {
	c *Client

	mu      sync.Mutex
	changes uint32  // number of changes of the list; guarded by mu
	listed  bool    // all tools were listed since the last change; guarded by mu
	known   toolSet // guarded by mu

	weighed *[weighedPages]weighedPage // pages of the list that was weighed last, nil before; guarded by mu
}

// weighedPage is the size of one page's tools.
type weighedPage struct {
	sum  uint64 // hash of the definitions
	cost *instrument.ToolList
}

// weighedPages is the number of pages for which the size is cached.
const weighedPages = 16

// version returns a number that changes with the list.
func (m *knownTools) version() uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

// forget forgets all tools, because the list has changed.
func (m *knownTools) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
}

// clear forgets all tools. mu is held.
func (m *knownTools) clear() {
	m.reset()
	m.c.cache.drop(mcp.MethodListTools)
}

// reset is like clear, but leaves the cache as it is. mu is held.
func (m *knownTools) reset() {
	m.changes++
	m.known, m.listed = toolSet{}, false
}

// forgetPrivate forgets all tools, because another principal may see other tools. Lists for all users stay in the
// cache.
func (m *knownTools) forgetPrivate() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reset()
}

// outdated forgets all tools, if the list still has this version and no other caller has forgotten them already.
func (m *knownTools) outdated(version uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes == version {
		m.clear()
	}
}

// toolListing collects the tools of one list, page by page.
type toolListing struct {
	before uint32 // version of the list at the beginning
	whole  bool
	tools  toolSet
	cost   *instrument.ToolList // nil if neither a meter nor an inspection needs it
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

// weigh reports to the telemetry how many tokens the tools of a complete list take in the context of a model.
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

// costOf returns the size of a page's tools, from the cache if the page has not changed. Estimating the tokens would
// take as long as everything else for a cached list.
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

// sumOf hashes the weighed parts of the tools.
func sumOf(tools []*mcp.Tool) uint64 {
	var h maphash.Hash
	h.SetSeed(weighing)
	for _, t := range tools {
		for _, text := range [...]string{t.Name, t.Description} {
			_, _ = h.WriteString(text) // never fails
			_ = h.WriteByte(0)
		}
		_, _ = h.Write(t.InputSchema)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// page lists one page of l, and remembers its tools.
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

// knows reports whether all tools have been remembered, and weighed if l needs it, since the last change of the list.
// Then a cached list of one page has nothing new, whatever its length.
func (m *knownTools) knows(l *toolListing) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.listed && m.changes == l.before && (l.cost == nil || m.weighed != nil)
}

// remember remembers the tools of one page. After the last page, tools that were not in the list are forgotten.
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

// stranger reports whether the server is known not to list the tool. If the list has more names than there is room
// for, the remaining ones count as strangers.
func (m *knownTools) stranger(tool string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.listed && m.known.tools.get(tool) == nil
}

// output returns the output schema of a tool. It is nil if the tool has none, is not listed, or has a regular
// expression that Go cannot compile, as some schemas for JavaScript have. It lists the tools if they were not
// listed since the last change.
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

// taskSupport reports whether a tool may be called as a task in 2025-11-25. Like output, it may list the tools first.
func (m *knownTools) taskSupport(ctx context.Context, tool string, options []CallOption) (mcp.TaskSupport, error) {
	t, err := m.look(ctx, tool, options)
	if t == nil {
		return mcp.TaskForbidden, err
	}
	return t.tasks, nil
}

// look returns the data of a tool, nil if it is not listed.
func (m *knownTools) look(ctx context.Context, tool string, options []CallOption) (*toolSchema, error) {
	if t, certain := m.find(tool); certain {
		return t, nil
	}
	return m.list(ctx, tool, m.c.cfg.toList(options))
}

// list lists and remembers all tools, and returns the data of one, nil if it is not in the list. If the list
// changes while it is read, it is not remembered; some servers announce changes as soon as a session begins.
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
		return known, nil // shared with other callers
	}
	return found, nil
}

// mirrored returns the parameters of a tool that are repeated in headers, as far as known.
func (m *knownTools) mirrored(tool string) []mirror.Param {
	t, _ := m.find(tool)
	return t.params()
}

// find returns the data of a tool, nil for none, and whether the data are complete.
func (m *knownTools) find(tool string) (_ *toolSchema, certain bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.known.tools.get(tool)
	if t == nil {
		return nil, m.listed && !m.known.partial
	}
	return t, t != nameOnly
}
