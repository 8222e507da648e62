package mcpclient

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/drift"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// DriftOptions say with what lists of tools are compared, and who decides on changes: see [UseDriftDetection].
type DriftOptions struct {
	// Baseline is what the first list is compared with, for example what [drift.ParseBaseline] has read. Nil means that
	// the first list is accepted as it is. It is not changed, and must not be while the client runs.
	Baseline drift.Tools

	// OnChange, if not nil, decides on changes. If it returns nil, they are accepted. Any error refuses them, and so does
	// a panic: the client lists these tools no more and does not call them until a change of theirs is accepted, by
	// OnChange or by [Client.AcceptTool], or until they are again as they were accepted last. So it is while OnChange
	// runs, which may take its time to ask a person.
	//
	// It is called in the goroutine that lists the tools, with its context, and may be called for other changes at the
	// same time. It may call the client.
	OnChange func(ctx context.Context, changes []ToolChange) error
}

// ToolChange is a tool that is in a list otherwise than before.
type ToolChange struct {
	drift.Change
	Definition *mcp.Tool // as it is listed now; nil if it was removed
}

// UseDriftDetection compares each whole list of tools that the client gets, for any reason, with the one before, across
// sessions, and the first one with the baseline. What has changed is counted (mcp_client.tool.changes) and
// logged (mcp_client.tool.changed), each change once. Package drift says what counts as a change. nil options have no
// baseline and refuse nothing.
//
// A change is seen with the next whole list, that of [Client.Tools] or a [Client.ListTools] that has one page. With an
// OnChange no tool is called before its definition has been accepted, as far as the server tells of changes: the tools
// are listed before the first call of a session, and before the first one after the server has said that its list has
// changed. A call of a tool that is refused fails with [ErrToolChanged], and nothing is sent. [Client.Tools] yields the
// tools of all pages when the last one has been compared, or an error alone. [Client.Call] does the same if its params
// are a [*mcp.CallToolParams], and does not know the tool in others.
//
// A fingerprint takes about 20 µs for a tool with 1 KB of schema. The client keeps 8 MiB of fingerprints at most, more
// than 25,000 tools. It cannot compare the tools beyond: with an OnChange it refuses them, without one it takes them
// for tools that the server does not have.
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

// AcceptTool accepts a tool that OnChange of [DriftOptions] has refused, if the server still lists it with this
// definition, which it reports. A tool that was not refused stays accepted.
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

// driftRoom bounds the fingerprints of one list, in bytes. A tool takes its name and an overhead, roughly so.
const (
	driftRoom     = 8 << 20
	driftOverhead = 256
)

// driftWatch is what a client knows of the definitions of its tools. A nil one watches nothing. What is refused was
// accepted before or is listed, which bounds it by the room of two lists.
type driftWatch struct {
	DriftOptions
	c *Client

	mu      sync.Mutex
	listed  drift.Tools             // guarded by mu; the last list, or the baseline; nil before the first
	partial bool                    // guarded by mu; listed lacks tools of the last list, which are beyond driftRoom
	refused map[string]driftRefusal // guarded by mu; by the names of tools
}

// driftRefusal is why a tool must not be called.
type driftRefusal struct {
	err   error             // of OnChange; nil while that decides
	was   drift.Fingerprint // accepted last
	known bool              // there was such a tool
}

// driftListing is what is known of a list while its pages come.
type driftListing struct {
	prints      drift.Tools
	size        int
	definitions map[string]*mcp.Tool // if there is an OnChange
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

// learn compares a list when its last page is there. It returns the tools of the page that are not refused.
func (w *driftWatch) learn(ctx context.Context, l *toolListing, tools []*mcp.Tool, last bool) []*mcp.Tool {
	if w == nil {
		return tools
	}
	if l.whole {
		l.drift.add(tools, w.OnChange != nil)
		if last {
			w.finish(ctx, &l.drift)
		}
	}
	if w.OnChange == nil {
		return tools
	}
	kept := tools[:0]
	for _, t := range tools {
		if !w.refuses(t.Name) {
			kept = append(kept, t)
		}
	}
	clear(tools[len(kept):])
	return kept
}

// finish takes a list that is complete in the place of the one before, once, and has the changes decided on.
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

// suspend refuses a tool that has changed until it is decided on, unless it is as it was accepted again. mu is held.
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

// decide calls OnChange and tells of the changes.
func (w *driftWatch) decide(ctx context.Context, changes []drift.Change, l *driftListing) {
	var err error
	defer func() { // also if OnChange ends the goroutine
		for _, c := range changes {
			var parts []string
			for _, p := range c.Parts {
				parts = append(parts, string(p))
			}
			w.c.core.Telemetry.ToolChanged(c.Tool, string(c.Kind), strings.Join(parts, ","), w.settle(c.Tool, l, err))
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

// settle accepts a change, or refuses it if err is not nil, unless the tool has changed again meanwhile. It returns why
// the tool is refused.
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

var errUntracked = fmt.Errorf("the list of tools takes more than the %d MiB that can be compared", driftRoom>>20)

// refusal returns why a tool must be neither listed nor called, nil if it may. mu is held.
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

// whole yields a list to its end, which the last page does not always tell: some servers end a list with a cursor that
// they do not know. If changes may be refused, nothing is yielded before all of it has been compared.
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

// admit returns why a call must not be made, nil if it may. It lists the tools if the list has changed.
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

// list lists the tools unless that has been done.
func (w *driftWatch) list(ctx context.Context, options []CallOption) error {
	if w.c.tools.areListed() {
		return nil
	}
	for _, err := range w.c.Tools(ctx, toList(options)...) {
		if err != nil {
			return err
		}
	}
	return nil
}
