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

// Run sends the messages of a plan, session by session, in order and with the recorded concurrency. It answers the
// server's requests as the recorded host did. timeout bounds the wait for each answer. report is called with each
// request and its outcome. Run returns an error if a session ends early.
func Run(ctx context.Context, plan [][]Step, to transport.Transport, timeout time.Duration,
	report func(s Step, outcome string)) error {
	for _, steps := range plan {
		if err := runSession(ctx, steps, to, timeout, report); err != nil {
			return err
		}
	}
	return nil
}

func runSession(ctx context.Context, steps []Step, to transport.Transport, timeout time.Duration,
	report func(s Step, outcome string)) (err error) {
	conn, err := to.Dial(ctx, transport.Config{})
	if err != nil {
		return err
	}
	h := newHost(conn, steps)
	defer func() { err = errors.Join(err, h.close()) }()
	r := runner{
		host: h, timeout: timeout, report: report, actual: map[string]json.RawMessage{}, was: openInputs{}, now: openInputs{},
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

// runner sends the requests of one session.
type runner struct {
	*host
	timeout time.Duration
	report  func(s Step, outcome string)
	open    []*sent                    // requests in flight
	at      time.Duration              // recorded time of the latest message that was sent or awaited
	polls   int                        // number of tasks/get requests that are not in the recording
	actual  map[string]json.RawMessage // current value of the server, by recorded value
	was     openInputs                 // input requests in the recording
	now     openInputs                 // input requests in this run
}

// sent is a request in flight.
type sent struct {
	Step
	id       int64
	params   json.RawMessage  // params as sent
	recorded *recording.Entry // recorded answer; nil if the recording has none
	answer   chan message     // buffers one message
}

// echoed lists the members of a host's params that repeat a value of the server, each with the paths of this value in
// the server's results.
var echoed = map[string][][]string{
	"cursor":       {{"nextCursor"}},
	"taskId":       {{"taskId"}, {"task", "taskId"}},
	"requestState": {{"requestState"}},
}

func (r *runner) send(ctx context.Context, s Step) error {
	params := withoutTrace(s.Content)
	for name := range echoed {
		was, _ := mcp.Object(params).Lookup(name)
		if now := r.actual[string(was)]; now != nil {
			params = recording.Replace(params, now, name)
		}
	}
	params = rekeyed(params, r.was[joinKey(s.Method, s.Content, s.Content)], r.now[joinKey(s.Method, params, params)])
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

// settle waits for the recorded answers whose Seq is at most before.
func (r *runner) settle(ctx context.Context, before int) error {
	var open []*sent
	for _, s := range r.open {
		if s.recorded == nil || s.recorded.Seq > before {
			open = append(open, s) // for example a subscription
			continue
		}
		if err := r.await(ctx, s); err != nil {
			return err
		}
	}
	r.open = open
	return nil
}

// maxPause bounds each pause of the host, for example before it polls a task again.
const maxPause = 2 * time.Second

// pause waits as long as the recorded host waited before the message at this time, but at most maxPause.
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

// await waits for an answer. It cancels the request after the timeout, or if the recorded host cancelled it.
func (r *runner) await(ctx context.Context, s *sent) error {
	timeout := r.timeout
	cancelled := s.recorded.Kind == recording.Cancelled
	switch {
	case s.Method == mcp.MethodSubscriptionsListen:
		timeout = min(maxPause, s.recorded.At()-r.at) // a subscription gets no answer
	case cancelled:
		timeout = min(timeout, s.recorded.Took())
	}
	r.at = max(r.at, s.recorded.At())
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case m := <-s.answer:
		r.learn(s, m.Result)
		r.report(s.Step, m.outcome())
		return r.untilDone(ctx, s, m)
	case <-late.C:
	case <-r.over:
		return fmt.Errorf("the session ended before the answer to %s: %w", s.Method, r.why)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if cancelled {
		r.report(s.Step, "cancelled, as recorded")
	} else {
		r.report(s.Step, "no answer within the timeout")
	}
	params, _ := json.Marshal(map[string]any{"requestId": s.id}) // encoding a number cannot fail
	return r.notify(ctx, mcp.NotificationCancelled, params)
}

// untilDone polls a task that is still running, if the recorded task had ended at this point of the recording.
func (r *runner) untilDone(ctx context.Context, s *sent, m message) error {
	status := func(result json.RawMessage) string { return string(lookup(result, []string{"status"})) }
	const working = `"working"`
	if s.Method != mcp.MethodGetTask || status(m.Result) != working || status(s.recorded.Content) == working {
		return nil
	}
	if r.polls++; r.polls > int(r.timeout/maxPause) {
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

// learn stores the server's current values for the recorded values.
func (r *runner) learn(s *sent, now json.RawMessage) {
	recorded := s.recorded.Content
	r.was.add(s.Method, s.Content, recorded)
	r.now.add(s.Method, s.params, now)
	for _, paths := range echoed {
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

// withoutTrace returns params without the recorded trace context.
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
