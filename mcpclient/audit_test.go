package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/audit"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// auditLog returns an audit log without a file.
func auditLog(t *testing.T) *audit.Log {
	t.Helper()
	l, err := audit.Open("", []byte("a key for the tests, of 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// outcomes returns the outcomes of the audit records, in order.
func outcomes(rec *telemetrytest.Recording) (all []string) {
	for _, r := range rec.Logs(names.EventMCPClientAuditCall) {
		all = append(all, r.Text(names.KeyMCPClientAuditOutcome))
	}
	return all
}

func TestEveryKindOfAnswerHasItsAuditOutcome(t *testing.T) {
	for _, test := range []struct {
		name    string
		answers []string
		want    string
	}{
		{"result", []string{`{"resultType":"complete","content":[]}`}, "[ran]"},
		{"task that completes", []string{
			`{"resultType":"task","taskId":"t1","status":"working","createdAt":"2026-07-28T00:00:00Z",` +
				`"lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":60000,"pollIntervalMs":1}`,
			`{"resultType":"complete","taskId":"t1","status":"completed","createdAt":"2026-07-28T00:00:00Z",` +
				`"lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":60000,"result":{"content":[]}}`,
		}, "[may_have_run]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &way{method: mcp.MethodCallTool}
			o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}}
			observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
				world := &world{t: t, c: c, s: s, way: w, asks: make(chan frame, 1)}
				world.connect(true)
				done := background(func() error { _, err := c.CallTool(t.Context(), "x", map[string]any{"a": 1}); return err })
				for _, answer := range test.answers {
					world.v.Answer(<-world.asks, answer)
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(outcomes(rec)); got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
			}, telemetry.WithAudit(auditLog(t)))
		})
	}
}

// withReadOnlyTool connects a client to a scripted server with the read-only tool x, which may be retried.
func withReadOnlyTool(t *testing.T, s *script, c *mcpclient.Client) *world {
	t.Helper()
	w := &world{t: t, c: c, s: s, way: &way{method: mcp.MethodCallTool}, asks: make(chan frame, 1)}
	w.list = func(v *conversation, f frame) {
		v.Answer(f, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"x","inputSchema":`+
			`{"type":"object"},"annotations":{"readOnlyHint":true}}]}`)
	}
	w.connect(true)
	if err := whole(c.Tools(t.Context())); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestRetriedCallHasARecordForEachRequest(t *testing.T) {
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		world := withReadOnlyTool(t, s, c)
		done := background(func() error {
			_, err := c.CallTool(t.Context(), "x", nil, mcpclient.Retry(1), mcpclient.WithTimeout(time.Minute))
			return err
		})
		<-world.asks
		world.v.Close()
		world.connect(true)
		world.v.Answer(<-world.asks, `{"resultType":"complete","content":[]}`)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		records := rec.Logs(names.EventMCPClientAuditCall)
		if got := fmt.Sprint(outcomes(rec)); got != "[may_have_run ran]" {
			t.Fatalf("got %s", got)
		}
		if one, other := records[0].Text(names.KeyMCPClientCorrID), records[1].Text(names.KeyMCPClientCorrID); one != other {
			t.Errorf("the correlation ids are %s and %s, want the same", one, other)
		}
	}, telemetry.WithAudit(auditLog(t)))
}

func TestRetryThatIsNotSentHasNoRecord(t *testing.T) {
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		world := withReadOnlyTool(t, s, c)
		done := background(func() error {
			_, err := c.CallTool(t.Context(), "x", nil, mcpclient.Retry(1), mcpclient.WithTimeout(2*time.Second))
			return err
		})
		<-world.asks
		world.v.Close()
		s.next(t) // the server answers nothing
		if err := <-done; err == nil {
			t.Fatal("want an error")
		}
		synctest.Wait()
		if got := fmt.Sprint(outcomes(rec)); got != "[may_have_run]" {
			t.Errorf("got %s, want the record of the request that was sent", got)
		}
	}, telemetry.WithAudit(auditLog(t)))
}

func TestConversationIsInTheAuditRecord(t *testing.T) {
	w := &way{method: mcp.MethodCallTool}
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		world := &world{t: t, c: c, s: s, way: w, asks: make(chan frame, 1)}
		world.connect(true)
		ctx, err := telemetry.ContextWithConversation(t.Context(),
			telemetry.Conversation{ID: "c1", Agent: "planner", User: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		done := background(func() error { // params without a type of package mcp
			return c.Call(ctx, mcp.MethodCallTool, json.RawMessage(`{"name":"y","arguments":{}}`), nil)
		})
		world.v.Answer(<-world.asks, `{"resultType":"complete","content":[]}`)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		r := rec.Log(names.EventMCPClientAuditCall)
		for key, want := range map[string]string{
			names.KeyGenAIToolName: "y", names.KeyGenAIConversationID: "c1", names.KeyGenAIAgentName: "planner",
			names.KeyMCPClientAuditOutcome: "ran",
		} {
			if got := r.Text(key); got != want {
				t.Errorf("%s is %q, want %q", key, got, want)
			}
		}
		if got := r.Text(names.KeyUserHash); len(got) != 64 {
			t.Errorf("%s is %q", names.KeyUserHash, got)
		}
	}, telemetry.WithAudit(auditLog(t)))
}

func TestManyConcurrentCallsHaveOneRecordEach(t *testing.T) {
	w := &way{method: mcp.MethodCallTool}
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		world := &world{t: t, c: c, s: s, way: w, asks: make(chan frame, 256)}
		world.connect(true)
		const n = 200
		var all sync.WaitGroup
		for range n {
			all.Go(func() { _, _ = c.CallTool(t.Context(), "x", nil, mcpclient.WithTimeout(time.Second)) })
		}
		for i := range n {
			if f := <-world.asks; i%2 == 0 { // the others time out
				world.v.Answer(f, `{"resultType":"complete","content":[]}`)
			}
		}
		all.Wait()
		count, sequences := map[string]int{}, map[string]bool{}
		for _, r := range rec.Logs(names.EventMCPClientAuditCall) {
			count[r.Text(names.KeyMCPClientAuditOutcome)]++
			sequences[r.Text(names.KeyMCPClientAuditSequence)] = true
		}
		if count["ran"] != n/2 || count["may_have_run"] != n/2 || len(sequences) != n {
			t.Errorf("got %v with %d sequences, want %d of each outcome", count, len(sequences), n/2)
		}
	}, telemetry.WithAudit(auditLog(t)))
}

// TestLostAuditRecordsAreCounted calls a tool with an audit log to which nothing can be written any more.
func TestLostAuditRecordsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := auditLog(t)
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		rec := telemetrytest.Recorder(t, telemetry.WithAudit(log))
		s := mcpserver.New(mcp.Implementation{Name: "server", Version: "1"}, &mcpserver.Options{Telemetry: rec.Telemetry()})
		if err := mcpserver.AddTool(s, &mcp.Tool{Name: "greet"}, func(context.Context, struct{}) (string, error) {
			return "hello", nil
		}); err != nil {
			t.Fatal(err)
		}
		c, err := mcpclient.Connect(t.Context(), transport.InMemory(func(ctx context.Context, p *transport.Peer) {
			_ = s.Serve(ctx, p)
		}), &mcpclient.Options{Name: "weather", TelemetryGroup: "tenant", Telemetry: rec.Telemetry()})
		if err != nil {
			t.Fatal(err)
		}
		ctx, err := telemetry.ContextWithConversation(t.Context(), telemetry.Conversation{ID: "c1", Agent: "planner", User: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.CallTool(ctx, "greet", nil); err != nil {
			t.Errorf("want the result, although the audit fails, got %v", err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the server makes its record after it has answered
		for event, losses := range map[string]string{
			names.EventMCPClientAuditCall: names.MetricMCPClientAuditLosses,
			names.EventMCPServerAuditCall: names.MetricMCPServerAuditLosses,
		} {
			r := rec.Log(event)
			if r.Level != slog.LevelError || r.Text(names.KeyExceptionMessage) == "" || r.Text(names.KeyUserHash) == "" ||
				r.Text(names.KeyGenAIConversationID) != "c1" || r.Text(names.KeyGenAIAgentName) != "planner" {
				t.Errorf("%s: want an error with its reason, user, agent and conversation, got %+v", event, r)
			}
			if got := rec.Value(losses); got != 1 {
				t.Errorf("%s: want 1, got %d", losses, got)
			}
		}
	})
}
