package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"

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

// TestEveryCallOfHostHasOneAuditRecord sends calls in each form, in each era and over each transport, to a proxy and a
// gateway. Each request that the proxy handles has a SERVER span, and must have one record.
func TestEveryCallOfHostHasOneAuditRecord(t *testing.T) {
	p := func(prefix string) Policy {
		return Policy{DenyTools: []string{prefix + "delete"}, Redaction: hostileRedaction, MaxConcurrent: 1}
	}
	atEveryPlace(t, p, func(t *testing.T, h *hostile, s *careless, prefix string, rec *telemetrytest.Recording) {
		for range 2 { // every second answer is an error
			for params, name := range callsOf(prefix+"delete", prefix+"safe") {
				for _, frame := range h.forms(mcp.MethodCallTool, params) {
					h.send(frame, mcp.MethodCallTool, name)
				}
			}
			h.send(h.message(mcp.MethodCallTool, fmt.Sprintf(`"name":%q`, prefix+"safe"), true), mcp.MethodCallTool,
				prefix+"safe")
		}
		handled := 0
		for _, span := range rec.Spans() {
			all := map[string]string{}
			for _, a := range span.Attributes() {
				all[string(a.Key)] = a.Value.String()
			}
			if span.SpanKind() == trace.SpanKindServer && all[names.KeyMCPMethodName] == mcp.MethodCallTool &&
				all[names.KeyJSONRPCRequestID] != "" {
				handled++
			}
		}
		records := rec.Logs(names.EventMCPServerAuditCall)
		if len(records) != handled || handled == 0 {
			t.Errorf("%d records of %d handled calls", len(records), handled)
		}
		if n := len(rec.Logs(names.EventMCPClientAuditCall)); n != 0 {
			t.Errorf("%d records of the requests to the server, want none", n)
		}
		count := map[string]int{}
		for _, r := range records {
			outcome := r.Text(names.KeyMCPServerAuditOutcome)
			count[outcome]++
			if r.Text(names.KeyMCPServerPolicyDecision) == names.PolicyDenied && outcome != names.AuditDidNotRun {
				t.Errorf("the outcome of a denied call is %s", outcome)
			}
		}
		if ran := count[names.AuditRan] + count[names.AuditMayHaveRun]; ran < s.called["safe"] || s.called["safe"] == 0 {
			t.Errorf("the server got %d calls, the records count %v", s.called["safe"], count)
		}
		if count[names.AuditDidNotRun] == 0 {
			t.Errorf("the records count %v, want denied calls", count)
		}
		wantNoSecrets(t, rec)
	}, telemetry.WithAudit(auditLog(t)))
}

// host is a client of a proxy or a gateway.
type host struct {
	*mcpclient.Client
	prefix string
	rec    *telemetrytest.Recording // of the proxy or gateway
	kill   func()                   // ends the server; the next one answers nothing
}

// throughProxyAndGateway runs f with the host of a proxy, and then with the host of a gateway, in a bubble. The server has
// the tools wait, fail and delete.
func throughProxyAndGateway(t *testing.T, p func(prefix string) Policy, f func(t *testing.T, h *host)) {
	t.Helper()
	for name, prefix := range map[string]string{"proxy": "", "gateway": "m_"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &host{prefix: prefix}
				living, kill := context.WithCancel(t.Context())
				defer kill()
				h.kill = kill
				h.rec = telemetrytest.Recorder(t, telemetry.WithAudit(auditLog(t)))
				s := mcpserver.New(mcp.Implementation{Name: "server", Version: "1"}, nil)
				wait := func(ctx context.Context, in waitArguments) (string, error) {
					select {
					case <-time.After(time.Duration(in.Seconds * float64(time.Second))):
						return "done", nil
					case <-ctx.Done():
						return "", context.Cause(ctx)
					}
				}
				add(t, s, "wait", wait)
				add(t, s, "delete", wait)
				add(t, s, "fail", func(context.Context, struct{}) (string, error) { return "", errors.New("no") })
				server := transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
					if living.Err() != nil {
						<-ctx.Done() // answers nothing
						return
					}
					ctx, cancel := context.WithCancel(ctx)
					defer cancel()
					defer context.AfterFunc(living, cancel)()
					_ = s.Serve(ctx, peer)
				})
				policy := p(prefix)
				var serve func(context.Context, mcpserver.Conn) error
				if prefix == "" {
					proxy, err := New(server, &Options{Name: "proxy", Policy: &policy, Telemetry: h.rec.Telemetry()})
					if err != nil {
						t.Fatal(err)
					}
					serve = proxy.Serve
				} else {
					g, err := NewGateway([]mcpclient.Member{{Name: "m", Transport: server}},
						&GatewayOptions{Policy: &policy, Telemetry: h.rec.Telemetry()})
					if err != nil {
						t.Fatal(err)
					}
					defer g.Close()
					serve = g.Serve
				}
				var served sync.WaitGroup
				served.Add(1)
				c, err := mcpclient.Connect(t.Context(), transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
					defer served.Done()
					_ = serve(ctx, peer)
				}), &mcpclient.Options{Telemetry: telemetry.Off()})
				if err != nil {
					t.Fatal(err)
				}
				defer served.Wait()
				defer c.Close()
				h.Client = c
				f(t, h)
			})
		})
	}
}

// wants compares the outcomes and decisions of the audit records with want.
func (h *host) wants(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	var got []string
	for _, r := range h.rec.Logs(names.EventMCPServerAuditCall) {
		one := r.Text(names.KeyMCPServerAuditOutcome)
		if decision := r.Text(names.KeyMCPServerPolicyDecision); decision != "" {
			one += " " + decision
		}
		got = append(got, one)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got the records %q, want %q", got, want)
	}
	if n := len(h.rec.Logs(names.EventMCPClientAuditCall)); n != 0 {
		t.Errorf("%d records of the requests to the server, want none", n)
	}
}

func (h *host) call(ctx context.Context, tool string, arguments any, o ...mcpclient.CallOption) {
	_, _ = h.CallTool(ctx, h.prefix+tool, arguments, o...)
}

func nothing(string) Policy { return Policy{} }

func TestProxiedCallsHaveTheirOutcome(t *testing.T) {
	throughProxyAndGateway(t, nothing, func(t *testing.T, h *host) {
		h.call(t.Context(), "wait", waitArguments{})
		h.wants(t, "ran")
		h.call(t.Context(), "fail", nil)
		h.wants(t, "ran", "ran")
		h.call(t.Context(), "wait", map[string]any{"_": 1}) // the server refuses the arguments, which the proxy cannot know
		h.wants(t, "ran", "ran", "ran")
		h.call(t.Context(), "wait", waitArguments{Seconds: 10}, mcpclient.WithTimeout(time.Second))
		h.wants(t, "ran", "ran", "ran", "may_have_run")
	})
}

func TestUnknownToolBehindProxy(t *testing.T) {
	throughProxyAndGateway(t, nothing, func(t *testing.T, h *host) {
		h.call(t.Context(), "none", nil) // only the server knows its tools
		h.wants(t, "may_have_run")
		if h.prefix != "" {
			_, _ = h.CallTool(t.Context(), "of no member", nil)
			h.wants(t, "may_have_run", "did_not_run")
		}
	})
}

func TestServerThatDiesBehindProxy(t *testing.T) {
	throughProxyAndGateway(t, nothing, func(t *testing.T, h *host) {
		running := background(func() { h.call(t.Context(), "wait", waitArguments{Seconds: 3600}) })
		synctest.Wait()
		h.kill()
		<-running
		h.wants(t, "may_have_run")
		h.call(t.Context(), "wait", waitArguments{}, mcpclient.WithTimeout(time.Minute))
		h.wants(t, "may_have_run", "did_not_run")
	})
}

func TestPolicyIsPartOfTheAuditRecord(t *testing.T) {
	policy := func(prefix string) Policy {
		return Policy{DenyTools: []string{prefix + "delete"}, Timeout: 5 * time.Second, MaxConcurrent: 1}
	}
	throughProxyAndGateway(t, policy, func(t *testing.T, h *host) {
		h.call(t.Context(), "delete", waitArguments{})
		h.wants(t, "did_not_run denied")
		h.call(t.Context(), "wait", waitArguments{Seconds: 60})
		h.wants(t, "did_not_run denied", "may_have_run timed_out")
		running := background(func() { h.call(t.Context(), "wait", waitArguments{Seconds: 3}) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		queued := background(func() { h.call(ctx, "wait", waitArguments{}) })
		synctest.Wait()
		cancel()
		<-queued
		h.wants(t, "did_not_run denied", "may_have_run timed_out", "did_not_run")
		<-running
		h.wants(t, "did_not_run denied", "may_have_run timed_out", "did_not_run", "ran")
	})
	limited := func(string) Policy { return Policy{Rate: Rate{Calls: 1, Per: time.Hour}} }
	throughProxyAndGateway(t, limited, func(t *testing.T, h *host) {
		h.call(t.Context(), "wait", waitArguments{})
		h.wants(t, "ran") // waits: a call is answered before its record is made
		h.call(t.Context(), "wait", waitArguments{})
		h.wants(t, "ran", "did_not_run limited")
	})
}

func TestRedactedArgumentsAreHashedAsTheHostSentThem(t *testing.T) {
	redacting := func(string) Policy { return Policy{Redaction: Redaction{Keys: []string{"token"}, Arguments: true}} }
	hashes := map[string]bool{}
	for _, policy := range []func(string) Policy{nothing, redacting} {
		throughProxyAndGateway(t, policy, func(t *testing.T, h *host) {
			h.call(t.Context(), "wait", waitArguments{Token: "hush"})
			synctest.Wait()
			hashes[h.rec.Log(names.EventMCPServerAuditCall).Text(names.KeyMCPServerAuditArgumentsHash)] = true
		})
	}
	if len(hashes) != 1 {
		t.Errorf("got the hashes %v, want one", hashes)
	}
}

// background runs f in a goroutine, and returns a channel that is closed when f has returned.
func background(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	return done
}
