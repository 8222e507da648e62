package mcpclient

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/drift"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// DriftOptions configures the comparison of tool lists and the decision on changes: see [UseDriftDetection].
type DriftOptions struct {
	// Baseline is compared with the first list; it may be the result of [drift.ParseBaseline]. If Baseline is nil, the
	// client accepts the first list. The client does not modify Baseline, and the caller must not modify it while the
	// client runs.
	Baseline drift.Tools

	// OnChange, if not nil, decides on changes. If it returns nil, the client accepts them. If it returns an error or
	// panics, the client refuses them: it neither lists nor calls these tools until OnChange accepts a later change,
	// [Client.AcceptTool] accepts the tool, or the tool has its last accepted definition again. OnChange may take time,
	// for example to ask a person; the client refuses the changed tools while OnChange runs.
	//
	// OnChange is called in the goroutine that lists the tools, with the context of that goroutine. It may be called
	// concurrently for different changes. It may call the client.
	OnChange func(ctx context.Context, changes []ToolChange) error
}

// ToolChange is the change of one tool between two lists.
type ToolChange struct {
	drift.Change
	Definition *mcp.Tool // the new definition; nil if the tool was removed
}

// UseDriftDetection compares each complete list of tools that the client gets, for any reason, with the previous list,
// also across sessions. It compares the first list with the baseline. Each change is counted once
// (mcp_client.tool.changes) and logged (mcp_client.tool.changed). Package drift defines changes. If o is nil, there is
// no baseline, and the client refuses nothing.
//
// The client detects a change with the next complete list: from [Client.Tools], or from [Client.ListTools] if the list
// has one page. With OnChange, the client calls no tool before its definition is accepted, as far as the server reports
// changes: it lists the tools before the first call of a session, and before the first call after a list-changed
// notification. A call of a refused tool fails with [ErrToolChanged], and the client sends nothing. [Client.Tools]
// yields no tool before the last page was compared; if a page fails, it yields only an error. [Client.Call] refuses
// calls in the same way if the params are a [*mcp.CallToolParams]; it does not recognize the tool in other params.
//
// A fingerprint takes about 20 µs for a tool with 1 KB of schema. The client keeps at most 8 MiB of fingerprints,
// enough for more than 25,000 tools. It cannot compare further tools: with OnChange it refuses them, without OnChange
// it treats them as missing.
func UseDriftDetection(o *DriftOptions) Feature {
	return feature{join: func(c *Client) error {
		w := &driftWatch{c: c}
		if o != nil {
			w.DriftOptions, w.listed = *o, o.Baseline
		}
		c.drift = w
		return nil
	}}
}

// AcceptTool accepts a tool that OnChange of [DriftOptions] refused, if the server still lists the tool with this
// definition. Otherwise AcceptTool returns false. For a listed tool that was not refused, AcceptTool changes nothing
// and returns true.
func (c *Client) AcceptTool(t *mcp.Tool) bool {
	w := c.drift
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if listed, there := w.listed[t.Name]; !there || listed != drift.Of(t) {
		return false
	}
	delete(w.refused, t.Name)
	return true
}

// driftRoom bounds the fingerprints of one list, in bytes. Each tool counts with its name and driftOverhead, an
// estimate.
const (
	driftRoom     = 8 << 20
	driftOverhead = 256
)

// driftWatch tracks the definitions of a client's tools. A nil driftWatch does nothing. Every refused tool either is
// listed or was accepted before, so two lists bound the number of refused tools.
type driftWatch struct {
	DriftOptions
	c *Client

	mu      sync.Mutex
	listed  drift.Tools             // the last list, or the baseline before the first list; nil for neither; guarded by mu
	partial bool                    // driftRoom was too small for all tools of the last list; guarded by mu
	refused map[string]driftRefusal // by tool name; guarded by mu
}

// driftRefusal explains why a tool must not be called.
type driftRefusal struct {
	err   error             // error of OnChange; nil while OnChange still decides
	was   drift.Fingerprint // the last accepted definition
	known bool              // whether the field was is set: the tool had an accepted definition
}

// driftListing collects the fingerprints of a list, page by page.
type driftListing struct {
	prints      drift.Tools
	size        int
	definitions map[string]*mcp.Tool // definitions by tool name; filled only if there is an OnChange
	compared    bool
}

func (l *driftListing) add(tools []*mcp.Tool, keep bool) {
	if l.prints == nil {
		l.prints, l.definitions = drift.Tools{}, map[string]*mcp.Tool{}
	}
	for _, t := range tools {
		if l.size += len(t.Name) + driftOverhead; l.size > driftRoom {
			return
		}
		l.prints.Add(t)
		if keep {
			l.definitions[t.Name] = t
		}
	}
}

// learn adds a page to its list, and compares the list after the last page.
func (w *driftWatch) learn(ctx context.Context, l *toolListing, tools []*mcp.Tool, last bool) {
	if w == nil || !l.whole {
		return
	}
	l.drift.add(tools, w.OnChange != nil)
	if last {
		w.finish(ctx, &l.drift)
	}
}

// accepted removes the refused tools from a list, in place.
func (w *driftWatch) accepted(tools []*mcp.Tool) []*mcp.Tool {
	if w == nil || w.OnChange == nil {
		return tools
	}
	return slices.DeleteFunc(tools, func(t *mcp.Tool) bool { return w.refuses(t.Name) })
}

// finish replaces the previous list by the complete list l, and requests a decision on the changes. For each list,
// finish does this once.
func (w *driftWatch) finish(ctx context.Context, l *driftListing) {
	if l.compared {
		return
	}
	l.compared = true
	w.mu.Lock()
	before := w.listed
	w.listed, w.partial = l.prints, l.size > driftRoom
	if before == nil {
		w.mu.Unlock()
		return
	}
	changes := drift.Compare(before, l.prints)
	if w.OnChange != nil {
		for _, c := range changes {
			w.suspend(c.Tool, before, l.prints)
		}
	}
	w.mu.Unlock()
	if len(changes) > 0 {
		w.decide(ctx, changes, l)
	}
}

// suspend refuses a changed tool until the decision. If the tool has its accepted definition again, suspend stops
// refusing the tool. The caller holds mu.
func (w *driftWatch) suspend(tool string, before, now drift.Tools) {
	r, refused := w.refused[tool]
	if !refused {
		r.was, r.known = before[tool]
	}
	is, there := now[tool]
	if there == r.known && is == r.was {
		delete(w.refused, tool)
		return
	}
	if w.refused == nil {
		w.refused = map[string]driftRefusal{}
	}
	r.err = nil
	w.refused[strings.Clone(tool)] = r
}

// decide calls OnChange and reports the changes to the telemetry.
func (w *driftWatch) decide(ctx context.Context, changes []drift.Change, l *driftListing) {
	var err error
	defer func() { // deferred, because OnChange may end the goroutine
		for _, c := range changes {
			w.c.core.Telemetry.ToolChanged(c.Tool, string(c.Kind), partsOf(c), w.settle(c.Tool, l, err))
		}
	}()
	if w.OnChange == nil {
		return
	}
	all := make([]ToolChange, len(changes))
	for i, c := range changes {
		all[i] = ToolChange{c, l.definitions[c.Tool]}
	}
	usercode.Run(func() { err = w.OnChange(ctx, all) }, func(f *usercode.Failure) { err = f })
}

// partsOf returns the changed parts of a tool, for the telemetry.
func partsOf(c drift.Change) string {
	parts := make([]string, len(c.Parts))
	for i, p := range c.Parts {
		parts[i] = string(p)
	}
	return strings.Join(parts, ",")
}

// expect makes the first list be compared with the tools of an earlier client of the same server. A baseline of the user
// and nil lists change nothing.
func (w *driftWatch) expect(before lists) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listed == nil && before != nil {
		w.listed = before.tools()
	}
}

// settle accepts a change if err is nil, and otherwise refuses it. If the tool has changed again in the meantime,
// settle does nothing. It returns the reason for the refusal.
func (w *driftWatch) settle(tool string, l *driftListing, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, suspended := w.refused[tool]
	decided, there := l.prints[tool]
	listed, still := w.listed[tool]
	switch {
	case !suspended || there != still || decided != listed:
		return nil
	case err == nil:
		delete(w.refused, tool)
		return nil
	}
	r.err = err
	w.refused[tool] = r
	return err
}

func (w *driftWatch) refuses(tool string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refusal(tool) != nil
}

var errUntracked = fmt.Errorf("the list of tools exceeds the %d MiB of definitions that the client can compare",
	driftRoom>>20)

// refusal returns the reason why a tool must not be listed or called, or nil. The caller holds mu.
func (w *driftWatch) refusal(tool string) error {
	var cause error
	r, refused := w.refused[tool]
	_, tracked := w.listed[tool]
	switch {
	case refused:
		cause = r.err
	case w.partial && !tracked:
		cause = errUntracked
	default:
		return nil
	}
	err := fmt.Errorf("tool %s: %w", tool, ErrToolChanged)
	if cause != nil {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// whole yields the complete list. It calls finish at the end of the iteration, because the last page is not always
// recognizable: some servers end a list with an unknown cursor. If OnChange may refuse changes, whole yields nothing
// before the complete list was compared.
func (w *driftWatch) whole(
	ctx context.Context, list iter.Seq2[*mcp.Tool, error], l func() *toolListing,
) iter.Seq2[*mcp.Tool, error] {
	if w == nil {
		return list
	}
	return func(yield func(*mcp.Tool, error) bool) {
		var tools []*mcp.Tool
		for t, err := range list {
			switch {
			case err == nil && w.OnChange != nil:
				tools = append(tools, t)
			case !yield(t, err) || err != nil:
				return
			}
		}
		w.finish(ctx, &l().drift)
		for _, t := range tools {
			if !w.refuses(t.Name) && !yield(t, nil) {
				return
			}
		}
	}
}

// admit returns an error if the call must not be made. It lists the tools first if the list may have changed.
func (w *driftWatch) admit(ctx context.Context, method string, params any, options []CallOption) error {
	if w == nil || w.OnChange == nil || method != mcp.MethodCallTool {
		return nil
	}
	if err := w.list(ctx, options); err != nil {
		return err
	}
	tool := mcp.TargetOf(params)
	w.mu.Lock()
	defer w.mu.Unlock()
	cause := w.refusal(tool)
	if cause == nil {
		return nil
	}
	return &Error{Kind: KindState, Op: mcp.MethodCallTool, Unsent: true,
		cause: &conn.Refusal{Word: names.ErrorToolChanged, Err: cause}}
}

// list lists the tools unless the client already has a current list.
func (w *driftWatch) list(ctx context.Context, options []CallOption) error {
	if w.c.tools.areListed() {
		return nil
	}
	for _, err := range w.c.Tools(ctx, w.c.cfg.toList(options)...) {
		if err != nil {
			return err
		}
	}
	return nil
}
