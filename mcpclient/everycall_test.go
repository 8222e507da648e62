package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// The test covers every public way to make a call and every way in which the call can fail (everyCall × everyFailure).
// For each pair, there must be one CLIENT span with the caller's error, one data point of the duration, and one log
// record.

// way is a public way to make a call.
type way struct {
	name   string
	method string // method in the name of the span
	target string // target in the name of the span; empty for none
	call   func(ctx context.Context, c *mcpclient.Client, options ...mcpclient.CallOption) error
	legacy bool // 2026-07-28 has no such request
	lists  bool // the operation lists the tools first
	typed  bool // the operation validates and decodes structured content
	tool   bool // the result may be an error of the tool
}

func (w *way) span() string {
	if w.target == "" {
		return w.method
	}
	return w.method + " " + w.target
}

type sum struct {
	N int `json:"n"`
}

// whole reads a list to its end and returns its errors.
func whole[T any](list func(func(T, error) bool)) (failed error) {
	for _, err := range list {
		failed = errors.Join(failed, err)
	}
	return failed
}

var everyCall = []way{
	{"CallTool", mcp.MethodCallTool, "x", func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.CallTool(ctx, "x", nil, o...)
		return err
	}, false, false, false, true},
	{"CallToolRaw", mcp.MethodCallTool, "x", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		_, err := c.CallToolRaw(ctx, &mcp.CallToolParams{Name: "x"}, o...)
		return err
	}, false, false, false, true},
	{"CallToolAs", mcp.MethodCallTool, "x", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		_, err := mcpclient.CallToolAs[sum](ctx, c, "x", nil, o...)
		return err
	}, false, true, true, true},
	{"StartTool", mcp.MethodCallTool, "x", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		_, err := c.StartTool(ctx, "x", nil, o...)
		return err
	}, false, false, false, true},
	{"Group.CallTool", mcp.MethodCallTool, "x", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		g, err := mcpclient.GroupOf(c)
		if err != nil {
			return err
		}
		_, err = g.CallTool(ctx, "g_x", nil, o...)
		return err
	}, false, false, false, true},
	{"Call", "x/y", "", func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		return c.Call(ctx, "x/y", nil, nil, o...)
	}, false, false, false, false},
	{"ListTools", mcp.MethodListTools, "", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		_, err := c.ListTools(ctx, nil, o...)
		return err
	}, false, false, false, false},
	{"Tools", mcp.MethodListTools, "", func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		return whole(c.Tools(ctx, o...))
	}, false, false, false, false},
	{"ListPrompts", mcp.MethodListPrompts, "", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		_, err := c.ListPrompts(ctx, nil, o...)
		return err
	}, false, false, false, false},
	{"Prompts", mcp.MethodListPrompts, "", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		return whole(c.Prompts(ctx, o...))
	}, false, false, false, false},
	{"GetPrompt", mcp.MethodGetPrompt, "x", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		_, err := c.GetPrompt(ctx, "x", nil, o...)
		return err
	}, false, false, false, false},
	{"ListResources", mcp.MethodListResources, "", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		_, err := c.ListResources(ctx, nil, o...)
		return err
	}, false, false, false, false},
	{"Resources", mcp.MethodListResources, "", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		return whole(c.Resources(ctx, o...))
	}, false, false, false, false},
	{"ListResourceTemplates", mcp.MethodListResourceTemplates, "",
		func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
			_, err := c.ListResourceTemplates(ctx, nil, o...)
			return err
		}, false, false, false, false},
	{"ResourceTemplates", mcp.MethodListResourceTemplates, "",
		func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
			return whole(c.ResourceTemplates(ctx, o...))
		}, false, false, false, false},
	{"ReadResource", mcp.MethodReadResource, "", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		_, err := c.ReadResource(ctx, "file:///x", o...)
		return err
	}, false, false, false, false},
	{"Complete", mcp.MethodComplete, "", func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.Complete(ctx, mcp.ResourceRef("file:///{x}"), mcp.CompleteArgument{Name: "x"}, nil, o...)
		return err
	}, false, false, false, false},
	{"Ping", mcp.MethodPing, "", func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		return c.Ping(ctx, o...)
	}, true, false, false, false},
	{"SetLogLevel", mcp.MethodSetLevel, "", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		return c.SetLogLevel(ctx, mcp.LevelError, o...)
	}, true, false, false, false},
	{"SubscribeResource", mcp.MethodSubscribe, "", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		return c.SubscribeResource(ctx, "file:///x", o...)
	}, true, false, false, false},
	{"List", "x/list", "", func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		name := func(s string) string { return s }
		return whole(mcpclient.List(ctx, c, "x/list", name, func(ctx context.Context, cursor *string,
			options []mcpclient.CallOption) ([]string, *string, error) {
			return nil, nil, c.Call(ctx, "x/list", &mcp.PageParams{Cursor: cursor}, nil, options...)
		}, o...))
	}, false, false, false, false},
	{"Task.Poll", mcp.MethodGetTask, "", func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.ResumeTask("t1", o...).Poll(ctx)
		return err
	}, false, false, false, false},
	{"Task.Wait", mcp.MethodCallTool, "", func(ctx context.Context, c *mcpclient.Client, o ...mcpclient.CallOption) error {
		_, err := c.ResumeTask("t1", o...).Wait(ctx)
		return err
	}, false, false, false, false},
	{"Task.Cancel", mcp.MethodCancelTask, "", func(ctx context.Context, c *mcpclient.Client,
		o ...mcpclient.CallOption) error {
		return c.ResumeTask("t1", o...).Cancel(ctx)
	}, false, false, false, false},
}

// world is the environment of a failure.
type world struct {
	t    *testing.T
	c    *mcpclient.Client
	rig  *rigged
	s    *script
	way  *way
	v    *conversation                  // nil while there is no connection
	asks chan frame                     // requests of the way's method, which the failure answers
	list func(v *conversation, f frame) // answers tools/list; nil for the usual list
}

// serve answers all requests except the requests of the way's method.
func (w *world) serve(v *conversation) {
	for {
		raw, err := v.Peer().Receive(v.Context())
		if err != nil {
			return
		}
		f := parseFrame(raw)
		switch {
		case f.Method == mcp.MethodListTools && w.way.method != f.Method:
			if w.list != nil {
				w.list(v, f)
				continue
			}
			v.Answer(f, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"x","inputSchema":`+
				`{"type":"object"},"outputSchema":{"type":"object","required":["n"]}}]}`)
		case f.ID != nil:
			w.asks <- f
		}
	}
}

// connect plays the handshake of a modern or a legacy server.
func (w *world) connect(modern bool) {
	v := w.s.next(w.t)
	const has = `{"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{},"logging":{},` +
		`"extensions":{"io.modelcontextprotocol/tasks":{}},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`
	if modern {
		v.Answer(v.Expect(mcp.MethodDiscover), `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+
			has+`,"ttlMs":0,"cacheScope":"private"}`)
	} else {
		v.Answer(v.Expect(mcp.MethodInitialize), `{"protocolVersion":"2025-11-25","capabilities":`+has+
			`,"serverInfo":{"name":"old","version":"1"}}`)
		v.Expect(mcp.NotificationInitialized)
	}
	await(w.t, w.c)
	w.v = v
	go w.serve(v)
}

// failure is a way in which a call can fail.
type failure struct {
	name      string
	errorType string
	options   func(o *mcpclient.Options)
	unready   bool              // there is no connection
	suits     func(w *way) bool // reports whether the failure can happen in this way; nil for all ways
	happen    func(w *world, ctx context.Context) error
}

// direct makes the call. It expects that the client sends nothing.
func direct(w *world, ctx context.Context) error { return w.way.call(ctx, w.c) }

// once makes the call, and runs the function then when the server has received the request.
func once(then func(w *world, f frame)) func(w *world, ctx context.Context) error {
	return func(w *world, ctx context.Context) error {
		done := background(func() error { return w.way.call(ctx, w.c, mcpclient.WithTimeout(time.Minute)) })
		then(w, <-w.asks)
		return <-done
	}
}

func listsTools(w *way) bool  { return w.lists }
func hasOutput(w *way) bool   { return w.typed }
func callsATool(w *way) bool  { return w.tool }
func anyButATask(w *way) bool { return !strings.HasPrefix(w.name, "Task.") }

// endsWait reports whether a failure ends Task.Wait, which continues after failures of single requests.
func (f *failure) endsWait() bool {
	switch f.name {
	case "deadline", "cancelled", "cancelled before":
		return true
	}
	return false
}

var everyFailure = []failure{
	{"not ready", "not_ready", nil, true, anyButATask, direct}, // requests about a task wait until the client is ready
	{"waiting times out", "timeout", nil, true, anyButATask, func(w *world, ctx context.Context) error {
		return w.way.call(ctx, w.c, mcpclient.WaitForReady(), mcpclient.WithTimeout(time.Second))
	}},
	{"the caller leaves while it waits", "cancelled", nil, true, anyButATask, func(w *world, ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		return w.way.call(ctx, w.c, mcpclient.WaitForReady())
	}},
	{"timeout", "timeout", nil, false, nil, func(w *world, ctx context.Context) error {
		return w.way.call(ctx, w.c, mcpclient.WithTimeout(time.Second))
	}},
	{"deadline", "timeout", nil, false, nil, func(w *world, ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return w.way.call(ctx, w.c)
	}},
	{"cancelled", "cancelled", nil, false, nil, func(w *world, ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		return w.way.call(ctx, w.c)
	}},
	{"cancelled before", "cancelled", nil, false, nil, func(w *world, ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return w.way.call(ctx, w.c)
	}},
	{"list fails", "-32603", nil, false, listsTools, func(w *world, ctx context.Context) error {
		w.list = func(v *conversation, f frame) { v.Refuse(f, mcp.CodeInternalError, "no list today") }
		return w.way.call(ctx, w.c)
	}},
	{"list hangs", "timeout", nil, false, listsTools, func(w *world, ctx context.Context) error {
		w.list = func(*conversation, frame) {}
		return w.way.call(ctx, w.c, mcpclient.WithTimeout(time.Second))
	}},
	{"drift: list fails", "-32603", func(o *mcpclient.Options) {
		o.Features = append(o.Features, mcpclient.UseDriftDetection(&mcpclient.DriftOptions{
			OnChange: func(context.Context, []mcpclient.ToolChange) error { return nil }}))
	}, false, callsATool, func(w *world, ctx context.Context) error {
		w.list = func(v *conversation, f frame) { v.Refuse(f, mcp.CodeInternalError, "no list today") }
		return w.way.call(ctx, w.c)
	}},
	{"lost before it is sent", "connection_lost", nil, false, nil, func(w *world, ctx context.Context) error {
		w.rig.send = func(m transport.Message) (error, bool) { return transport.ErrClosed, m.Method == w.way.method }
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		return w.way.call(ctx, w.c)
	}},
	{"lost after it was sent", "connection_lost", nil, false, nil, once(func(w *world, _ frame) { w.v.Close() })},
	{"backpressure", "transport_busy", nil, false, nil, func(w *world, ctx context.Context) error {
		w.rig.send = func(m transport.Message) (error, bool) { return transport.ErrBusy, m.Method == w.way.method }
		return w.way.call(ctx, w.c)
	}},
	{"JSON-RPC error", "-32603", nil, false, nil, once(func(w *world, f frame) {
		w.v.Refuse(f, mcp.CodeInternalError, "it broke")
	})},
	{"malformed answer", "protocol_violation", nil, false, func(w *way) bool {
		return w.method != mcp.MethodPing && w.method != mcp.MethodSetLevel && w.method != mcp.MethodSubscribe &&
			w.name != "Call" && w.name != "List"
	}, once(func(w *world, f frame) { w.v.Answer(f, `7`) })},
	{"tool error", "tool_error", nil, false, callsATool, once(func(w *world, f frame) {
		w.v.Answer(f, `{"resultType":"complete","isError":true,"content":[]}`)
	})},
	{"no output", "protocol_violation", nil, false, hasOutput, once(func(w *world, f frame) {
		w.v.Answer(f, `{"resultType":"complete","content":[]}`)
	})},
	{"output does not fit the schema", "protocol_violation", nil, false, hasOutput, once(func(w *world, f frame) {
		w.v.Answer(f, `{"resultType":"complete","content":[],"structuredContent":{"m":1}}`)
	})},
	{"output does not fit the type", "protocol_violation", nil, false, hasOutput, once(func(w *world, f frame) {
		w.v.Answer(f, `{"resultType":"complete","content":[],"structuredContent":{"n":"one"}}`)
	})},
	{"drained", "shutdown", nil, false, anyButATask, func(w *world, ctx context.Context) error {
		if err := w.c.Shutdown(ctx); err != nil {
			return err
		}
		return w.way.call(ctx, w.c)
	}},
	{"stopped before", "shutdown", nil, false, nil, func(w *world, ctx context.Context) error {
		if err := w.c.Close(); err != nil {
			return err
		}
		return w.way.call(ctx, w.c)
	}},
	{"stopped while it waits", "shutdown", nil, false, nil, once(func(w *world, _ frame) {
		if err := w.c.Close(); err != nil {
			w.t.Error(err)
		}
	})},
	{"denied by middleware", "*errors.errorString", func(o *mcpclient.Options) {
		o.Middleware = append(o.Middleware, func(mcpclient.CallFunc) mcpclient.CallFunc {
			return func(context.Context, string, any, any, ...mcpclient.CallOption) error {
				return errors.New("not for you")
			}
		})
	}, false, func(w *way) bool { return !w.lists && anyButATask(w) }, direct},
	{"refused by middleware afterwards", "*errors.errorString", func(o *mcpclient.Options) {
		o.Middleware = append(o.Middleware, func(next mcpclient.CallFunc) mcpclient.CallFunc {
			return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
				if err := next(ctx, method, params, result, options...); err == nil || method == mcp.MethodListTools {
					return err
				}
				return errors.New("not for you")
			}
		})
	}, false, func(w *way) bool {
		return w.method != mcp.MethodListTools && anyButATask(w)
	}, once(func(w *world, f frame) {
		w.v.Refuse(f, mcp.CodeInternalError, "it broke")
	})},
	{"loop breaker", "loop", func(o *mcpclient.Options) {
		o.Features = append(o.Features, mcpclient.UseLoopDetection(&mcpclient.LoopOptions{Break: true, Repeats: 2}))
	}, false, func(w *way) bool { return w.tool && !w.typed }, func(w *world, ctx context.Context) error {
		for range 5 {
			done := background(func() error { return w.way.call(ctx, w.c) })
			select {
			case f := <-w.asks:
				w.v.Answer(f, fmt.Sprintf(textResult, "the same"))
			case err := <-done:
				return err
			}
			if err := <-done; err != nil {
				return err
			}
		}
		return errors.New("no loop was seen")
	}},
}

func TestEveryFailedCallRecordsOneOperation(t *testing.T) {
	for _, modern := range []bool{true, false} {
		for _, f := range everyFailure {
			for _, w := range everyCall {
				if f.suits != nil && !f.suits(&w) || modern && w.legacy || w.name == "Task.Wait" && !f.endsWait() {
					continue
				}
				era := map[bool]string{true: "modern", false: "legacy"}[modern]
				t.Run(era+"/"+f.name+"/"+w.name, func(t *testing.T) { failOnce(t, modern, &f, &w) })
			}
		}
	}
}

func failOnce(t *testing.T, modern bool, f *failure, w *way) {
	o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}}
	if !modern {
		o.Versions = legacyOnly
	}
	if f.options != nil {
		f.options(&o)
	}
	rig := &rigged{}
	log := auditLog(t)
	observed(t, o, rig, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		world := &world{t: t, c: c, rig: rig, s: s, way: w, asks: make(chan frame, 64)}
		if f.unready {
			s.next(t) // the server answers nothing
		} else {
			world.connect(modern)
		}
		err := f.happen(world, t.Context())
		synctest.Wait()
		if err == nil && f.name != "tool error" {
			t.Fatal("want an error")
		}
		theOneOperation(t, rec, w, f, err)
		theOneAuditRecord(t, rec, w, f)
	}, telemetry.WithAudit(log))
}

// provenUnrun lists the failures after which it is certain that the tool did not run.
var provenUnrun = map[string]bool{
	"not ready": true, "waiting times out": true, "the caller leaves while it waits": true, "cancelled before": true,
	"list fails": true, "list hangs": true, "drift: list fails": true, "lost before it is sent": true,
	"backpressure": true, "drained": true, "stopped before": true, "denied by middleware": true, "loop breaker": true,
}

// theOneAuditRecord checks the audit of a failed call: each request has one record, and the last record has the outcome
// of the call. Waiting for a resumed task calls no tool.
func theOneAuditRecord(t *testing.T, rec *telemetrytest.Recording, w *way, f *failure) {
	t.Helper()
	want := 0
	if w.tool {
		want = len(rec.SpansNamed(w.span(), trace.SpanKindClient))
	}
	records := rec.Logs(names.EventMCPClientAuditCall)
	if len(records) != want {
		t.Fatalf("%d audit records, want %d", len(records), want)
	}
	if want == 0 {
		return
	}
	last, outcome := records[want-1], names.AuditMayHaveRun
	switch {
	case provenUnrun[f.name]:
		outcome = names.AuditDidNotRun
	case f.name == "tool error":
		outcome = names.AuditRan
	}
	if got := last.Text(names.KeyMCPClientAuditOutcome); got != outcome {
		t.Errorf("the audit record has the outcome %s, want %s", got, outcome)
	}
	if got := last.Text(names.KeyMCPClientAuditArgumentsHash); len(got) != 64 {
		t.Errorf("the audit record has the hash %q of the arguments", got)
	}
	if got := last.Text(names.KeyGenAIToolName); !strings.HasSuffix(got, "x") {
		t.Errorf("the audit record has the tool %q", got)
	}
}

// theOneOperation checks the telemetry of a failed call.
func theOneOperation(t *testing.T, rec *telemetrytest.Recording, w *way, f *failure, err error) {
	t.Helper()
	n := 0
	for _, s := range rec.SpansNamed(w.span(), trace.SpanKindClient) {
		if s.Status().Code != codes.Error {
			continue
		}
		n++
		attrs := map[string]string{}
		for _, kv := range s.Attributes() {
			attrs[string(kv.Key)] = kv.Value.String()
		}
		if got := attrs[names.KeyErrorType]; got != f.errorType {
			t.Errorf("error.type of the span is %q, want %q, for %v", got, f.errorType, err)
		}
		if (s.Status().Description == "") != (f.errorType == "tool_error") {
			t.Errorf("the description of the status is %q, for %v", s.Status().Description, err)
		}
		if safe, want := attrs[names.KeyMCPClientSafeToRetry], fmt.Sprint(mcpclient.SafeToRetry(err)); safe != want {
			t.Errorf("%s of the span is %q, want %s, for %v", names.KeyMCPClientSafeToRetry, safe, want, err)
		}
	}
	if n != 1 {
		t.Errorf("%d CLIENT spans %q with an error, want one, for %v", n, w.span(), err)
	}
	points := uint64(0)
	for _, errorType := range []string{f.errorType, "_OTHER"} {
		points += rec.Count(names.MetricMCPClientOperationDuration, names.KeyMCPMethodName, w.method, names.KeyErrorType,
			errorType)
	}
	if points != 1 {
		t.Errorf("%d points of %s with error.type %s, want one, for %v", points, names.MetricMCPClientOperationDuration,
			f.errorType, err)
	}
	records := 0
	for _, r := range rec.Logs(names.EventMCPClientRequestException) {
		if r.Text(names.KeyMCPMethodName) == w.method {
			records++
		}
	}
	if records != 1 {
		t.Errorf("%d records %s, want one, for %v", records, names.EventMCPClientRequestException, err)
	}
}

func TestRetryWithoutConnectionHasZeroDuration(t *testing.T) {
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		v := s.next(t).modern()
		await(t, c)
		done := background(func() error {
			return c.Call(t.Context(), mcp.MethodListPrompts, nil, nil, mcpclient.Retry(1), mcpclient.WithTimeout(2*time.Second))
		})
		v.Expect(mcp.MethodListPrompts)
		v.Close()
		s.next(t) // the server answers nothing
		if err := <-done; !errors.Is(err, mcpclient.ErrTimeout) {
			t.Fatalf("got %v, want a timeout", err)
		}
		synctest.Wait()
		spans := rec.SpansNamed(mcp.MethodListPrompts, trace.SpanKindClient)
		if len(spans) != 2 {
			t.Fatalf("%d spans, want one for each attempt", len(spans))
		}
		if took := spans[0].EndTime().Sub(spans[0].StartTime()); took != 0 {
			t.Errorf("the span of the first attempt takes %v, want it without the pause after it", took)
		}
		if took := spans[1].EndTime().Sub(spans[1].StartTime()); took < time.Second {
			t.Errorf("the span of the second attempt takes %v, want it with the wait for a connection", took)
		}
		for _, p := range rec.Points(names.MetricMCPClientOperationDuration, names.KeyMCPMethodName, mcp.MethodListPrompts) {
			if p.Sum != 0 {
				t.Errorf("the duration of %v is %v s, want none: nothing was sent", p.Attrs.ToSlice(), p.Sum)
			}
		}
		if n := len(rec.Logs(names.EventMCPClientRequestReissued)); n != 0 {
			t.Errorf("%d records of a retried request, want none", n)
		}
	})
}

func TestStepsBeforeARequestAreInsideItsSpan(t *testing.T) {
	var seen trace.SpanContext
	o := mcpclient.Options{Middleware: []mcpclient.Middleware{func(next mcpclient.CallFunc) mcpclient.CallFunc {
		return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
			if method == mcp.MethodCallTool {
				seen = trace.SpanContextFromContext(ctx)
			}
			return next(ctx, method, params, result, options...)
		}
	}}}
	w := &way{method: mcp.MethodCallTool}
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		world := &world{t: t, c: c, s: s, way: w, asks: make(chan frame, 1)}
		world.connect(true)
		done := background(func() error { _, err := mcpclient.CallToolAs[sum](t.Context(), c, "x", nil); return err })
		world.v.Answer(<-world.asks, `{"resultType":"complete","content":[],"structuredContent":{"n":1}}`)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		call, list := rec.Span("tools/call x"), rec.Span(mcp.MethodListTools)
		if list.Parent().SpanID() != call.SpanContext().SpanID() {
			t.Error("the span of tools/list is not a child of the call's span")
		}
		if seen.SpanID() != call.SpanContext().SpanID() {
			t.Error("the span in the middleware's context is not the call's span")
		}
	})
}
