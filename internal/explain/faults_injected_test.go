package explain_test

import (
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// injections are the faults of a plan. comesTo is the cause that explain reports if the telemetry does not mention the
// injection; empty for none.
var injections = []struct {
	chaos.Fault
	comesTo string
}{
	{chaos.Fault{Kind: chaos.Latency, Delay: time.Second}, "slow_way"},
	{chaos.Fault{Kind: chaos.Drip, Rate: 100}, "slow_way"},
	{chaos.Fault{Kind: chaos.Drop}, "answer_lost"},
	{chaos.Fault{Kind: chaos.Duplicate}, "duplicate_answer"},
	{chaos.Fault{Kind: chaos.Reorder, Delay: time.Second}, "slow_way"},
	{chaos.Fault{Kind: chaos.Truncate}, "message_invalid_json"},
	{chaos.Fault{Kind: chaos.Garbage}, ""}, // the call succeeds
	{chaos.Fault{Kind: chaos.Oversize}, "answer_too_large"},
	{chaos.Fault{Kind: chaos.Error}, "server_failed"},
	{chaos.Fault{Kind: chaos.Busy, Code: 429}, "turned_away"},
	{chaos.Fault{Kind: chaos.Expire}, "session_expired"},
	{chaos.Fault{Kind: chaos.Freeze}, "no_answer"},
	{chaos.Fault{Kind: chaos.Cut}, "connection_closed"},
	{chaos.Fault{Kind: chaos.Death}, "server_killed"},
	{chaos.Fault{Kind: chaos.Refuse}, ""}, // the error text mentions the injection, and there is no other telemetry
}

// injected converts injections to faults of the laboratory.
var injected = func() (all []fault) {
	for _, i := range injections {
		f := fault{"on purpose: " + string(i.Kind), "injected_" + string(i.Kind), "(" + string(i.Kind) + ")", false,
			broken(i.Fault)}
		switch i.Kind {
		case chaos.Expire:
			f.real, f.provoke = true, expired(i.Fault)
		case chaos.Refuse:
			f.provoke = func(l *lab) {
				connecting(l.wrap(l.server(mcpserver.Options{}), i.Fault), mcpclient.Options{})(l)
			}
		}
		all = append(all, f)
	}
	return all
}()

// wrap returns t with one fault.
func (l *lab) wrap(t transport.Transport, f chaos.Fault) transport.Transport {
	l.Helper()
	w, err := chaos.Wrap(t, &chaos.Plan{Faults: []chaos.Fault{f}})
	if err != nil {
		l.Fatal(err)
	}
	return w
}

// broken makes a call into which f is injected.
func broken(f chaos.Fault) func(*lab) {
	return func(l *lab) {
		c := l.ready(l.wrap(l.server(mcpserver.Options{}), f), mcpclient.Options{Limits: mcpclient.Limits{Frame: 1 << 20}})
		_ = l.call(c, "forecast", oslo, mcpclient.WithTimeout(5*time.Second))
	}
}

// expired makes a call over HTTP, in a session, into which f is injected.
func expired(f chaos.Fault) func(*lab) {
	return func(l *lab) {
		h := l.server(mcpserver.Options{}).HTTPHandler(nil)
		s := httptest.NewServer(h)
		defer s.Close()
		old := mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}}
		c := l.ready(l.wrap(&transport.HTTP{URL: s.URL}, f), old)
		l.fails(c, "forecast", oslo)
		_ = c.Close()
		_ = h.Shutdown(l.Context())
	}
}

// TestInjectedFaultIsTheFirstCause injects each kind of fault. The second cause is the cause that explain reports
// without telemetry of the injection.
func TestInjectedFaultIsTheFirstCause(t *testing.T) {
	for i, f := range injected {
		want := injections[i]
		t.Run(string(want.Kind), func(t *testing.T) {
			facts := f.run(t)
			x := explain.Explain(&facts)
			if !f.isNamed(&facts) || x.Causes[0].Sure != explain.Certain {
				t.Fatalf("want %s, got\n%s", f.cause, x)
			}
			if want.comesTo != "" && !hasCause(x.Causes[1:], want.comesTo) {
				t.Errorf("want %s as a further cause, got\n%s", want.comesTo, x)
			}
			for j := range facts.Spans {
				delete(facts.Spans[j].Attributes, names.KeyMCPClientFaultKind)
			}
			y := explain.Explain(&facts)
			if want.comesTo != "" && (len(y.Causes) == 0 || y.Causes[0].ID != want.comesTo) {
				t.Errorf("want %s without telemetry of the injection, got\n%s", want.comesTo, y)
			}
		})
	}
	if kinds := chaos.Kinds(); len(injections) != len(kinds) {
		t.Errorf("injections has %d of %d kinds of faults", len(injections), len(kinds))
	}
}

func hasCause(causes []explain.Cause, id string) bool {
	return slices.ContainsFunc(causes, func(c explain.Cause) bool { return c.ID == id })
}

// TestInjectedFaultCountsOnlyBelowTheFailedCall explains a host's call that times out because the fault plan of a proxy
// delays the answer. It also tests the same fault in an unrelated request, and in a span that a server exports.
func TestInjectedFaultCountsOnlyBelowTheFailedCall(t *testing.T) {
	span := func(id, parent, kind, owner, fault string, took time.Duration) explain.Span {
		s := explain.Span{ID: id, Parent: parent, Kind: kind, Start: noon, End: noon.Add(took), Failed: id == "host",
			Attributes: map[string]string{names.KeyMCPMethodName: mcp.MethodCallTool, names.KeyGenAIToolName: "radar",
				names.KeyJSONRPCRequestID: id, owner: owner, names.KeyMCPClientFaultKind: fault}}
		if s.Failed {
			s.Attributes[names.KeyErrorType] = names.ErrorTimeout
		}
		return s
	}
	host := span("host", "", "CLIENT", names.KeyMCPClientName, "", time.Second)
	for name, c := range map[string]struct {
		other explain.Span
		want  bool
	}{
		"a client below it": {span("out", "in", "CLIENT", names.KeyMCPClientName, chaosLatency, 2*time.Second), true},
		"an unknown kind":   {span("out", "in", "CLIENT", names.KeyMCPClientName, "earthquake", 2*time.Second), false},
		"a server below it": {span("out", "in", "SERVER", names.KeyMCPServerName, chaosLatency, 2*time.Second), false},
		"beside it":         {span("out", "", "CLIENT", names.KeyMCPClientName, chaosLatency, time.Millisecond), false},
		"in a cycle":        {span("out", "out", "CLIENT", names.KeyMCPClientName, chaosLatency, time.Millisecond), false},
	} {
		in := span("in", "host", "SERVER", names.KeyMCPServerName, "", 2*time.Second)
		x := explain.Explain(&explain.Facts{TraceID: traceID, Spans: []explain.Span{host, in, c.other}})
		if got := hasCause(x.Causes, "injected_latency"); got != c.want || len(x.Causes) == 0 {
			t.Errorf("%s: got\n%s", name, x)
		}
	}
}

const chaosLatency = string(chaos.Latency)
