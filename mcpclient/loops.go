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

// UseLoopDetection detects repeated tool calls without new results, as a stuck model makes them: the same call again
// and again, different arguments with the same result, or a few calls in turns. For each call in a loop, the client
// increments mcp_client.tool.loops, marks the call's span and emits the record mcp_client.tool.loop. With
// [LoopOptions.Break], it does not send the next call of the loop. A nil o selects the defaults.
//
// The client groups calls by conversation: by the member gen_ai.conversation.id of the context's baggage, see
// telemetry.ContextWithConversation. All calls without this member form one conversation. The client keeps the last 64
// calls of each of the 64 most recent conversations. It keeps only hashes, with a key of the process. Of arguments or
// results above 8 KiB, it hashes only the length and the first and last 4 KiB. So two values that differ only in the
// middle count as equal. The detection covers [Client.CallTool] and the functions that are built on it, and
// [Client.Call] with [mcp.CallToolParams], but not calls that become tasks. Only results and errors of the server count
// as outcomes of calls.
//
// The hints in the server's list of tools, if the client has listed the tool, define the exceptions:
//
//   - A tool with readOnlyHint or idempotentHint may be polled: repetitions of the same call with the same result form
//     a loop from [LoopOptions.Polls] calls on. For a tool with readOnlyHint, calls with different arguments and the
//     same result form a loop from Repeats calls on.
//   - A tool that changes something may always return "ok". Such a tool has destructiveHint, idempotentHint, or an
//     explicit readOnlyHint of false. Its calls with different arguments are not a loop, and repetitions of the same
//     call form a loop from Polls calls on.
//   - A tool without hints counts as a tool that only reads and is not polled.
//   - Repeated errors of any tool form a loop from Repeats calls on.
//
// [LoopOptions.Exempt] exempts tools with insufficient hints.
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

// LoopOptions defines what a loop is, and its consequences. The zero value of every field selects its default.
type LoopOptions struct {
	// Repeats is the number of calls, results or rounds of calls that form a loop: 2 to 16. Zero means 5.
	Repeats int

	// Polls replaces Repeats for calls that may be polled, and must be at least Repeats. A cycle of such calls is a loop
	// from Polls calls on. Zero means 30, or Repeats if Repeats is more than 30. A negative value means never.
	Polls int

	// Break makes the client refuse a call that would continue a loop. The error of the call wraps a [*LoopError] and
	// [ErrLoop]. The client allows the call again when another call of the conversation has had a new result, or after
	// CoolDown: then the client sends one call as a trial, and its outcome decides.
	Break bool

	// CoolDown is the time from the last call of the loop to the next trial. Zero means 1 min.
	CoolDown time.Duration

	// Exempt names the tools that the client does not watch: their calls neither belong to a loop nor end one.
	Exempt []string
}

// LoopKind is the kind of a loop, with the values of mcp_client.loop.kind.
type LoopKind string

const (
	// LoopSameCall: one call with the same arguments has had the same result repeatedly, and no other call had a new
	// result in between.
	LoopSameCall LoopKind = names.LoopSameCall
	// LoopSameResult: consecutive calls of one tool have had the same result, with any arguments.
	LoopSameResult LoopKind = names.LoopSameResult
	// LoopCycle: two to four calls were repeated in turns, with the same results.
	LoopCycle LoopKind = names.LoopCycle
)

// ErrLoop is wrapped, together with a [*LoopError], in the error of a call that the client refused because it would
// continue a loop: see [LoopOptions.Break].
var ErrLoop = errors.New("the call would continue a loop")

// LoopError describes the loop that a call would have continued.
type LoopError struct {
	Tool  string // tool of the call
	Kind  LoopKind
	Calls int // number of calls in the loop
}

// Error describes the loop and an alternative, because a model may read the text.
func (e *LoopError) Error() string {
	said := ""
	switch e.Kind {
	case LoopSameCall:
		said = "this call returned the same result " + strconv.Itoa(e.Calls) + " times"
	case LoopSameResult:
		said = "the tool returned the same result " + strconv.Itoa(e.Calls) + " times, for different arguments"
	case LoopCycle:
		said = "the last " + strconv.Itoa(e.Calls) + " calls repeated the same few calls, with the same results"
	}
	return fmt.Sprintf("the client does not call tool %q again: %s; change the arguments or use another tool",
		e.Tool, said)
}

// Is reports whether target is [ErrLoop].
func (e *LoopError) Is(target error) bool { return target == ErrLoop }

// Defaults of LoopOptions.
const (
	usualRepeats  = 5
	usualPolls    = 30
	usualCoolDown = time.Minute
)

// loopWatch records the calls of a client's conversations. It is safe for concurrent use.
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
		return nil, fmt.Errorf("UseLoopDetection: Repeats is %d, but must be from 2 to %d", o.Repeats, loops.MaxRepeats)
	case w.limits.Polls < w.limits.Repeats:
		return nil, fmt.Errorf("UseLoopDetection: Polls is %d, but must be at least Repeats", o.Polls)
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

// loopCall identifies a call for the loop detection, by hashes.
type loopCall struct {
	watched bool
	came    bool   // the tool has returned a result
	talk    uint64 // zero for calls without a conversation
	tool    uint64
	args    uint64
	result  uint64
}

// heard records the hash of the result. It is called before the result is decoded in place.
func (l *loopCall) heard(text []byte) { l.result, l.came = loops.Hash(text), true }

// watched is the layer that starts the loop detection for a tool call.
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

// admit records the arguments of a call when its params are encoded. It returns an error if the call must not be sent.
// The params include the caller's _meta, so a call with different _meta counts as a different call.
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

// stop reports whether the client must refuse the call, because it would continue a loop and is not a trial.
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

// observe records the outcome of a call. If the call belongs to a loop, observe reports the loop to the telemetry.
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

// loopOf converts a loop for the telemetry.
func loopOf(l loops.Loop) instrument.Loop {
	return instrument.Loop{Kind: loopWords[l.Kind], Calls: l.Calls}
}

var loopWords = [...]string{
	loops.SameCall: names.LoopSameCall, loops.SameResult: names.LoopSameResult, loops.Cycle: names.LoopCycle,
}

// traitsOf returns the traits of a tool's calls, as its hints define them.
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
