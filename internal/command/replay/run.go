package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Run makes the requests of a plan, session after session, in their order and as many at once as there were. It
// answers what the server asks as the host did. patience is how long an answer may take. made hears of each request
// that was made and what became of it. Run returns why a session could not go on.
func Run(ctx context.Context, plan [][]Step, to transport.Transport, patience time.Duration,
	made func(s Step, outcome string)) error {
	for _, steps := range plan {
		if err := runSession(ctx, steps, to, patience, made); err != nil {
			return err
		}
	}
	return nil
}

func runSession(ctx context.Context, steps []Step, to transport.Transport, patience time.Duration,
	made func(s Step, outcome string)) (err error) {
	conn, err := to.Dial(ctx, transport.Config{})
	if err != nil {
		return err
	}
	h := newHost(conn, steps)
	defer func() { err = errors.Join(err, h.close()) }()
	r := runner{
		host: h, patience: patience, made: made, actual: map[string]json.RawMessage{}, was: questions{}, now: questions{},
	}
	for _, s := range steps {
		if s.Skip != "" {
			continue
		}
		if err := r.settle(ctx, s.Seq); err != nil {
			return err
		}
		if err := r.pause(ctx, s.At()); err != nil {
			return err
		}
		if err := r.send(ctx, s); err != nil {
			return err
		}
	}
	return r.settle(ctx, 1<<62)
}

// runner makes the requests of one session.
type runner struct {
	*host
	patience time.Duration
	made     func(s Step, outcome string)
	open     []*sent
	at       time.Duration              // when the latest message came that was sent or waited for, in the recording
	polls    int                        // that were made beyond those of the recording
	actual   map[string]json.RawMessage // by a value of the recording, what the server has said in its place
	was, now questions                  // what the server has asked for in results, in the recording and now
}

// sent is a request that was made.
type sent struct {
	Step
	id       int64
	params   json.RawMessage  // as they were sent
	recorded *recording.Entry // what became of it, nil for nothing
	answer   chan message     // has room for one
}

// given are the members by which a host gives a server back what that has said, with those in which it said it.
var given = map[string][][]string{
	"cursor":       {{"nextCursor"}},
	"taskId":       {{"taskId"}, {"task", "taskId"}},
	"requestState": {{"requestState"}},
}

func (r *runner) send(ctx context.Context, s Step) error {
	params := withoutTrace(s.Content)
	for name := range given {
		was, _ := mcp.Object(params).Lookup(name)
		if now := r.actual[string(was)]; now != nil {
			params = recording.Replace(params, now, name)
		}
	}
	params = renamed(params, r.was[joined(s.Method, s.Content, s.Content)], r.now[joined(s.Method, params, params)])
	if s.Kind == recording.Notification {
		return r.notify(ctx, s.Method, params)
	}
	one := &sent{Step: s, params: params, answer: make(chan message, 1)}
	for _, step := range s.Steps {
		if step.Request == s.Request && step.Answers() {
			one.recorded = step.Entry
		}
	}
	r.open = append(r.open, one)
	var err error
	one.id, err = r.request(ctx, s.Method, params, one.answer)
	return err
}

// settle waits for the answers that had come before an entry of the recording.
func (r *runner) settle(ctx context.Context, before int) error {
	var open []*sent
	for _, s := range r.open {
		if s.recorded == nil || s.recorded.Seq > before {
			open = append(open, s) // a subscription, for example
			continue
		}
		if err := r.await(ctx, s); err != nil {
			return err
		}
	}
	r.open = open
	return nil
}

// maxPause is how long to wait at most where the host has waited: for a change to be told of, or to ask for the state
// of a task again.
const maxPause = 2 * time.Second

// pause waits as long as the host has waited before a message that came at this time.
func (r *runner) pause(ctx context.Context, at time.Duration) error {
	d := at - r.at
	r.at = max(r.at, at)
	if d <= 0 {
		return nil
	}
	over := time.NewTimer(min(d, maxPause))
	defer over.Stop()
	select {
	case <-over.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// await waits for an answer, or cancels the request as it was cancelled.
func (r *runner) await(ctx context.Context, s *sent) error {
	patience := r.patience
	cancelled := s.recorded.Kind == recording.Cancelled
	switch {
	case s.Method == mcp.MethodSubscriptionsListen:
		patience = min(maxPause, s.recorded.At()-r.at) // what it is for has been, long ago
	case cancelled:
		patience = min(patience, s.recorded.Took())
	}
	r.at = max(r.at, s.recorded.At())
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case m := <-s.answer:
		r.learn(s, m.Result)
		r.made(s.Step, m.outcome())
		return r.untilDone(ctx, s, m)
	case <-late.C:
	case <-r.over:
		return fmt.Errorf("the session has ended before %s was answered: %w", s.Method, r.why)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if cancelled {
		r.made(s.Step, "cancelled, as it was")
	} else {
		r.made(s.Step, "no answer in time")
	}
	params, _ := json.Marshal(map[string]any{"requestId": s.id}) // a number always can
	return r.notify(ctx, mcp.NotificationCancelled, params)
}

// untilDone asks for the state of a task again that had ended in the recording, and has not now.
func (r *runner) untilDone(ctx context.Context, s *sent, m message) error {
	status := func(result json.RawMessage) string { return string(lookup(result, []string{"status"})) }
	const working = `"working"`
	if s.Method != mcp.MethodGetTask || status(m.Result) != working || status(s.recorded.Content) == working {
		return nil
	}
	if r.polls++; r.polls > int(r.patience/maxPause) {
		return nil
	}
	if err := r.pause(ctx, r.at+maxPause); err != nil {
		return err
	}
	r.at -= maxPause
	if err := r.send(ctx, s.Step); err != nil {
		return err
	}
	again := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	return r.await(ctx, again)
}

// learn notes what the server has said in place of what it had said.
func (r *runner) learn(s *sent, now json.RawMessage) {
	recorded := s.recorded.Content
	r.was.note(s.Method, s.Content, recorded)
	r.now.note(s.Method, s.params, now)
	for _, paths := range given {
		for _, path := range paths {
			if a, b := lookup(recorded, path), lookup(now, path); a != nil && b != nil {
				r.actual[string(a)] = b
			}
		}
	}
}

func lookup(raw json.RawMessage, path []string) json.RawMessage {
	for _, name := range path {
		raw, _ = mcp.Object(raw).Lookup(name)
	}
	return raw
}

// withoutTrace returns params without the trace context of when they were recorded.
func withoutTrace(params json.RawMessage) json.RawMessage {
	meta := lookup(params, []string{"_meta"})
	if meta == nil {
		return params
	}
	own := mcp.Object(meta)
	for _, name := range []string{"traceparent", "tracestate", "baggage"} {
		own = own.Without(name)
	}
	return recording.Replace(params, json.RawMessage(own), "_meta")
}
