package simulation

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// The oracles are rules that each world must obey. Some are checked elsewhere:
//
//   - LATE, FOREIGN, FAILED, WRONG: an operation ends in time, fails only with an error of the client's own, does not
//     fail in a calm world, and gets the answer to its own question: operations_test.go.
//   - Spans have ended, gauges are zero, each started request has stopped, and all telemetry is in the schema:
//     package telemetrytest.
//   - No goroutine is left: package testing/synctest.

// calm is the time without faults before the oracles check the clients.
const calm = 2 * time.Minute

// checkHeard checks that each client in use has received the current revisions, and that it receives one more change.
func (w *world) checkHeard() {
	time.Sleep(calm)
	draw := w.draw(4)
	for _, more := range []bool{false, true} {
		if more {
			for _, uri := range uris {
				w.update(draw, uri)
			}
			w.edit()
			time.Sleep(patience)
		}
		for _, c := range w.clients {
			if !c.isLeaving() {
				c.checkHeard(more)
			}
		}
	}
}

func (c *client) checkHeard(more bool) {
	w, ctx := c.w, context.Background()
	w.inTime("a client is ready", c.WaitForReady)
	c.mu.Lock()
	heard, watching := maps.Clone(c.heard), maps.Clone(c.watching)
	c.mu.Unlock()
	for what, since := range watching {
		now := w.things.now(what)
		if known := max(heard[what], since); known < now {
			w.t.Errorf("STALE: client %d has heard of %s at %d, and it is %d (behind one more change: %v)", c.number, what,
				known, now, more)
			continue
		}
		if what == tools {
			if has, n, err := c.hasTool(ctx, edition(now)); !has || n != len(fixed)+1 {
				w.t.Errorf("STALE: client %d lists %d tools, the latest among them: %v, %v", c.number, n, has, err)
			}
		} else if revision, err := c.read(what); revision != now {
			w.t.Errorf("STALE: client %d reads %s at %d, and it is %d: %v", c.number, what, revision, now, err)
		}
	}
	a, err := c.call(ctx, toolPeek, question{ID: "last"})
	if want := (answer{"last", toolPeek}); err != nil || a != want {
		w.t.Errorf("FAILED: the last call of client %d: %+v, %v", c.number, a, err)
	}
}

// checkRuns compares the errors of callers with the number of runs of each tool.
func (w *world) checkRuns() {
	for _, op := range w.operations.all {
		switch runs := w.ledger.times(op.id); {
		case op.id == "":
		case runs > 1 && !op.again:
			w.t.Errorf("TWICE: %v has run %d times: %v", op, runs, op.err)
		case op.err == nil && runs == 0:
			w.t.Errorf("WRONG: %v was answered and has not run", op)
		case mcpclient.SafeToRetry(op.err) && runs > 0:
			w.t.Errorf("UNSAFE: %v is safe to retry and has run: %v", op, op.err)
		}
	}
}

// checkTelemetry compares the CLIENT spans with the operations, and the durations with the spans.
func (w *world) checkTelemetry() {
	below := map[trace.SpanID][]sdktrace.ReadOnlySpan{}
	calls := 0
	for _, s := range w.near.Spans() {
		if s.SpanKind() != trace.SpanKindClient {
			continue
		}
		below[s.Parent().SpanID()] = append(below[s.Parent().SpanID()], s)
		if strings.HasPrefix(s.Name(), mcp.MethodCallTool) {
			calls++
		}
	}
	if n := w.near.Count("mcp.client.operation.duration", "mcp.method.name", mcp.MethodCallTool); int(n) != calls {
		w.t.Errorf("METRICS: %d durations of calls, and %d spans", n, calls)
	}
	served := w.servers.Count("mcp.server.operation.duration", "mcp.method.name", mcp.MethodCallTool)
	if w.calm && w.middle != gateway && int(served) != calls { // a gateway may send more requests than calls
		w.t.Errorf("METRICS: %d calls were served, and %d made", served, calls)
	}
	for _, op := range w.operations.all {
		spans, failed := below[op.span], 0
		for _, s := range spans {
			if s.Status().Code == codes.Error {
				failed++
			}
		}
		single := op.id != "" && !op.retried && op.what != toolAsk && op.what != toolJob // one request has one span
		switch {
		case errors.Is(op.err, mcpclient.ErrNoMember): // the group has no client
		case single && len(spans) != 1:
			w.t.Errorf("SPANS: %v has %d CLIENT spans: %v", op, len(spans), op.err)
		case op.err != nil && failed == 0:
			w.t.Errorf("SPANS: %v has no CLIENT span that failed, of %d: %v", op, len(spans), op.err)
		case op.err == nil && failed > 0 && !op.retried && op.what != toolJob:
			w.t.Errorf("SPANS: %v has %d CLIENT spans that failed, and has not", op, failed)
		}
	}
}
