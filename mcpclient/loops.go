package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/loops"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// UseLoopDetection watches for calls of tools that bring nothing new, as models make them that are stuck: one call
// again and again, ever new arguments with one result, a few calls in turns. Each call that is one too many is counted
// by mcp_client.tool.loops, marked on its span and told by the record mcp_client.tool.loop; with [LoopOptions.Break]
// the next one is not sent. A nil o means the defaults.
//
// Calls are watched by conversation: by the member gen_ai.conversation.id of the context's baggage, see
// telemetry.ContextWithConversation. Those without one are watched together, as one conversation. For each of the 64
// conversations that had the latest calls, the last 64 calls are remembered, as hashes with a key of the process and
// nothing else. Of arguments or results with more than 8 KiB the length and the first and the last 4 KiB are hashed:
// two that differ in between only are taken for the same. Calls by [Client.CallTool] and what is built on it are
// watched, and those by [Client.Call] with [mcp.CallToolParams], without calls that become tasks. Outcomes that are
// neither a result nor an error of the server do not count.
//
// What is honest work, servers say by the hints in the list of their tools, as far as the client has listed them:
//
//   - A tool with readOnlyHint or idempotentHint may be polled: the same call with the same result is a loop from
//     [LoopOptions.Polls] calls on. Other arguments that always have the same result are one from Repeats calls on.
//   - A tool that changes something, by an explicit readOnlyHint of false, destructiveHint or idempotentHint, may
//     always say "ok": to call it with other arguments is no loop, and the same call is one from Polls calls on.
//   - A tool of which nothing is said is taken for one that reads and is not polled.
//   - An error, of whatever tool, is a loop from Repeats calls on.
//
// [LoopOptions.Exempt] is for those of which the server says too little.
func UseLoopDetection(o *LoopOptions) Feature {
	var options LoopOptions
	if o != nil {
		options = *o
	}
	return feature{join: func(c *Client) (err error) {
		c.cfg.loops, err = newLoopWatch(&options)
		return err
	}}
}

// LoopOptions say what a loop is, and what becomes of it. The zero value of every field means the default.
type LoopOptions struct {
	// Repeats is how often a call, a result or a round of calls comes until it is a loop: 2 to 16. Zero means 5.
	Repeats int

	// Polls is the same of calls that are repeated for a reason, and not less than Repeats; rounds of these have so many
	// calls. Zero means 30, or Repeats if that is more, negative means never.
	Polls int

	// Break, if true, has the client not send a call that would go on with a loop: the error has a [*LoopError] and
	// [ErrLoop] in its chain. It sends it again when any other call of the conversation has had a result that is none of
	// the loop, or when CoolDown is over: then one call is let through, and what comes of it decides.
	Break bool

	// CoolDown is the time from the last call of the loop to the next that may go on with it. Zero means 1 min.
	CoolDown time.Duration

	// Exempt are the names of tools that are not watched: their calls are in no loop and end none.
	Exempt []string
}

// LoopKind says what of the calls in a loop is the same, in the words of mcp_client.loop.kind.
type LoopKind string

const (
	// LoopSameCall: one call with the same arguments has had the same result, and nothing else was changed meanwhile.
	LoopSameCall LoopKind = names.LoopSameCall
	// LoopSameResult: one tool in a row has had the same result, whatever its arguments.
	LoopSameResult LoopKind = names.LoopSameResult
	// LoopCycle: two to four calls came in turns, with the same results.
	LoopCycle LoopKind = names.LoopCycle
)

// ErrLoop is in the chain of the error of a call that was not sent because it would go on with a loop: see
// [LoopOptions.Break]. A [*LoopError] is there, too.
var ErrLoop = errors.New("the call would go on with a loop")

// LoopError says which loop a call would have gone on with.
type LoopError struct {
	Tool  string // of the call
	Kind  LoopKind
	Calls int // that belong to the loop
}

// Error says what to do, for the model may read it.
func (e *LoopError) Error() string {
	said := ""
	switch e.Kind {
	case LoopSameCall:
		said = "this call has had the same result " + strconv.Itoa(e.Calls) + " times"
	case LoopSameResult:
		said = "the tool has had the same result " + strconv.Itoa(e.Calls) + " times, whatever its arguments"
	case LoopCycle:
		said = "the last " + strconv.Itoa(e.Calls) + " calls were the same few in turns, with the same results"
	}
	return fmt.Sprintf("tool %q is not called again: %s; do something else", e.Tool, said)
}

// Is reports that the error is an [ErrLoop].
func (e *LoopError) Is(target error) bool { return target == ErrLoop }

// The defaults of LoopOptions.
const (
	usualRepeats  = 5
	usualPolls    = 30
	usualCoolDown = time.Minute
)

// loopWatch is what a client knows of the calls in its conversations. It is safe for concurrent use.
type loopWatch struct {
	limits   loops.Limits
	breaks   bool
	coolDown time.Duration
	exempt   map[string]bool

	mu    sync.Mutex
	talks loops.Talks // guarded by mu
}

func newLoopWatch(o *LoopOptions) (*loopWatch, error) {
	w := &loopWatch{breaks: o.Break, coolDown: cmp.Or(o.CoolDown, usualCoolDown)}
	w.limits.Repeats = cmp.Or(o.Repeats, usualRepeats)
	w.limits.Polls = cmp.Or(o.Polls, max(usualPolls, w.limits.Repeats))
	if o.Polls < 0 {
		w.limits.Polls = math.MaxInt
	}
	switch {
	case w.limits.Repeats < 2 || w.limits.Repeats > loops.MaxRepeats:
		return nil, fmt.Errorf("UseLoopDetection: Repeats is %d, want 2 to %d", o.Repeats, loops.MaxRepeats)
	case w.limits.Polls < w.limits.Repeats:
		return nil, fmt.Errorf("UseLoopDetection: Polls is %d, less than Repeats", o.Polls)
	case w.coolDown < 0:
		return nil, errors.New("UseLoopDetection: CoolDown is negative")
	}
	if len(o.Exempt) > 0 {
		w.exempt = make(map[string]bool, len(o.Exempt))
		for _, name := range o.Exempt {
			w.exempt[name] = true
		}
	}
	return w, nil
}

// loopCall is what a call knows of the loop that it may belong to, as hashes.
type loopCall struct {
	watched bool
	came    bool   // the result of the tool
	talk    uint64 // zero for calls of no conversation
	tool    uint64
	args    uint64
	result  uint64
}

// heard notes the result before it is decoded in place.
func (l *loopCall) heard(text []byte) { l.result, l.came = loops.Hash(text), true }

// watched is the layer that notes to which conversation a call of a tool belongs.
func watched(next roundTrip) roundTrip {
	return func(ctx context.Context, cl *call) *Error {
		if w := cl.c.cfg.loops; w != nil && cl.Method == mcp.MethodCallTool {
			w.begin(ctx, cl)
		}
		return next(ctx, cl)
	}
}

func (w *loopWatch) begin(ctx context.Context, cl *call) {
	p, ok := cl.params.(*mcp.CallToolParams)
	if !ok || p == nil || w.exempt[p.Name] {
		return
	}
	cl.loop.watched, cl.loop.tool = true, loops.HashString(p.Name)
	if id := instrument.ConversationOf(ctx); id != "" {
		cl.loop.talk = loops.HashString(id)
	}
}

// admit notes what a call asks for, when its params are encoded, and returns why it is not to be sent. The params
// have what the caller has put into _meta: a call that differs by that is another one.
func (w *loopWatch) admit(cl *call) *conn.Fault {
	cl.loop.args = loops.Hash(cl.scratch)
	if !w.breaks {
		return nil
	}
	loop, stopped := w.stop(&cl.loop)
	if !stopped {
		return nil
	}
	told := loopOf(loop)
	cl.Op.Stopped(told)
	return &conn.Fault{Kind: conn.KindState, Op: cl.Method, Unsent: true, Cause: &conn.Refusal{
		Word: names.ErrorLoop,
		Err:  &LoopError{Tool: cl.Target, Kind: LoopKind(told.Kind), Calls: told.Calls},
	}}
}

// stop reports whether the call would go on with a loop and is not the one that may try.
func (w *loopWatch) stop(l *loopCall) (loops.Loop, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	talk := w.talks.Of(l.talk)
	loop := talk.Loop()
	if loop.Kind == loops.None || !talk.Continues(l.tool, l.args) {
		return loop, false
	}
	now := time.Now()
	if now.Before(talk.Trial) {
		return loop, true
	}
	talk.Trial = now.Add(w.coolDown)
	return loop, false
}

// observe hears of the end of a call, and tells of a loop that it belongs to.
func (w *loopWatch) observe(cl *call, err *conn.Fault) {
	c := loops.Call{Tool: cl.loop.tool, Args: cl.loop.args, Result: cl.loop.result}
	switch {
	case err != nil && err.Server != nil:
		c.Result = loops.HashString(strconv.FormatInt(err.Server.Code, 10) + " " + err.Server.Message)
		c.Traits = loops.Failed
	case err != nil || !cl.loop.came:
		return
	default:
		if r, ok := cl.result.(*mcp.CallToolResult); ok && r.IsError {
			c.Traits = loops.Failed
		}
	}
	cl.loop.came = false
	if t, _ := cl.c.tools.find(cl.Target); t != nil {
		c.Traits |= t.traits
	}
	if loop := w.add(cl.loop.talk, c); loop.Kind != loops.None {
		cl.Op.Loops(loopOf(loop))
	}
}

func (w *loopWatch) add(id uint64, c loops.Call) loops.Loop {
	w.mu.Lock()
	defer w.mu.Unlock()
	talk := w.talks.Of(id)
	loop := talk.Add(c, w.limits)
	if w.breaks && loop.Kind != loops.None {
		talk.Trial = time.Now().Add(w.coolDown)
	}
	return loop
}

// loopOf returns a loop in the words of the telemetry.
func loopOf(l loops.Loop) instrument.Loop {
	return instrument.Loop{Kind: loopWords[l.Kind], Calls: l.Calls}
}

var loopWords = [...]string{
	loops.SameCall: names.LoopSameCall, loops.SameResult: names.LoopSameResult, loops.Cycle: names.LoopCycle,
}

// traitsOf returns what the hints of a tool say of its calls: of one that is said to change something, and of one that
// only reads, as far as they say so.
func traitsOf(a *mcp.ToolAnnotations) (t loops.Traits) {
	is := func(hint *bool) bool { return hint != nil && *hint }
	if is(a.ReadOnlyHint) {
		return loops.ReadOnly
	}
	if is(a.IdempotentHint) {
		t |= loops.Idempotent
	}
	if a.ReadOnlyHint != nil || a.DestructiveHint != nil || is(a.IdempotentHint) {
		t |= loops.Writes
	}
	return t
}
