package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// inFrontOf returns a proxy in front of a server that speaks v, or a gateway with the server as its member m.
func inFrontOf(t *testing.T, to transport.Transport, v mcp.Version, gateway bool, p *Policy,
	rec *telemetry.Telemetry) (f frontEnd, stop func()) {
	t.Helper()
	var err error
	stop = func() {}
	if !gateway {
		if f, err = New(to, &Options{Name: "proxy", Policy: p, Telemetry: rec}); err != nil {
			t.Fatal(err)
		}
		return f, stop
	}
	g, err := NewGateway([]mcpclient.Member{{Name: "m", Transport: to, Options: &mcpclient.Options{
		Versions: []mcp.Version{v}, RequestTimeout: -1, Telemetry: rec,
	}}}, &GatewayOptions{Policy: p, Telemetry: rec})
	if err != nil {
		t.Fatal(err)
	}
	return g, func() { _ = g.Close() }
}

// gossip is a server that does not answer calls of the tool slow, and reports the progress of such a call during a call
// of the tool fast.
func gossip() transport.Transport {
	return transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		s := newCareless(mcp.Version20260728, "slow", "fast")
		var slow json.RawMessage // progress token of the tool slow
		for {
			frame, err := p.Receive(ctx)
			if err != nil {
				return
			}
			text := string(frame)
			switch {
			case strings.Contains(text, `"slow"`):
				meta, _ := mcp.Object(frame).Lookup("params")
				meta, _ = mcp.Object(meta).Lookup("_meta")
				slow, _ = mcp.Object(meta).Lookup("progressToken")
				slow = append(json.RawMessage(nil), slow...)
				continue
			case strings.Contains(text, `"fast"`):
				_ = p.Send(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error",`+
					`"data":"the log of slow"}}`))
				_ = p.Send(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,`+
					`"progress":1,"message":"the progress of slow"}}`, slow))
				id, _ := mcp.Object(frame).Lookup("id")
				_ = p.Send(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":`+
					`[{"type":"text","text":"the answer"}]}}`, id))
				continue
			}
			for _, out := range s.handle(frame) {
				_ = p.Send(ctx, []byte(out))
			}
		}
	})
}

// TestCancelledCallSendsNothingToOtherHost uses two hosts that choose the same progress token.
func TestCancelledCallSendsNothingToOtherHost(t *testing.T) {
	for _, gateway := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			f, stop := inFrontOf(t, gossip(), mcp.Version20260728, gateway, nil, rec.Telemetry())
			defer stop()
			prefix := ""
			if gateway {
				prefix = "m_"
			}
			h := onHTTP(t, f, mcp.Version20260728)
			defer h.leave()
			h.send(h.message(mcp.MethodCallTool, `"name":"`+prefix+`slow"`, true), mcp.MethodCallTool, prefix+"slow")
			h.taken()
			h.id = 0 // another host, with the same ids and tokens
			h.send(h.message(mcp.MethodCallTool, `"name":"`+prefix+`fast"`, true), mcp.MethodCallTool, prefix+"fast")
			if got := h.taken(); strings.Contains(got, "of slow") || !strings.Contains(got, "the answer") {
				t.Errorf("gateway %v: the other host got %s", gateway, got)
			}
			if rec.Value("mcp_server.notification.drops", "mcp.method.name", mcp.NotificationMessage) == 0 {
				t.Errorf("gateway %v: the dropped log message is not counted", gateway)
			}
		})
	}
}

func TestHostCannotChangeSharedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCareless(mcp.Version20260728)
		f, stop := inFrontOf(t, s.transport(), mcp.Version20260728, false, nil, telemetry.Off())
		defer stop()
		h := onHTTP(t, f, mcp.Version20260728)
		defer h.leave()
		for m := range mcp.Methods() {
			if m.Sender&mcp.FromClient == 0 || m.Name == mcp.NotificationCancelled {
				continue
			}
			for form, frame := range h.forms(m.Name, `"uri":"x:y","level":"debug","taskId":"t"`) {
				before := s.got[m.Name]
				h.send(frame, m.Name, map[mcp.Target]string{mcp.TargetResource: "x:y", mcp.TargetTask: "t"}[m.Target])
				_, modern := mcp.Lookup(m.Name, mcp.Version20260728)
				reached := s.got[m.Name] > before
				if reached && (!modern || strings.Contains(form, "notification")) {
					t.Errorf("%s of %s has reached the server of all hosts", form, m.Name)
				}
			}
		}
		if s.got[mcp.MethodReadResource] == 0 {
			t.Error("no request has reached the server")
		}
	})
}

func TestCompletionGoesToOwnerOfTemplate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCareless(mcp.Version20260728)
		f, stop := inFrontOf(t, s.transport(), mcp.Version20260728, true, nil, telemetry.Off())
		defer stop()
		h := onHTTP(t, f, mcp.Version20260728)
		defer h.leave()
		for uri, want := range map[string]string{
			"x:{y}": `"completion"`, "z:{y}": `no server lists the resource template \"z:{y}\"`,
		} {
			h.send(h.message(mcp.MethodComplete, `"ref":{"type":"ref/resource","uri":"`+uri+`"},"argument":{"name":"y",`+
				`"value":"a"}`, true), mcp.MethodComplete, "")
			if got := h.taken(); !strings.Contains(got, want) {
				h.send(h.message(mcp.MethodComplete, `"ref":{"type":"ref/resource","uri":"`+uri+`"},"argument":{"name":"y",`+
					`"value":"a"}`, true), mcp.MethodComplete, "") // every second answer is an error
				if again := h.taken(); !strings.Contains(again, want) {
					t.Errorf("%s: the host got %s, want %s", uri, got+again, want)
				}
			}
		}
		if s.got[mcp.MethodComplete] == 0 || strings.Contains(fmt.Sprint(s.params), "z:") {
			t.Error("the member was asked for an unlisted template, or was not asked for its own")
		}
	})
}

// gone is the transport to a server whose process ends immediately.
type gone struct{ transport.Transport }

func (gone) Dial(context.Context, transport.Config) (transport.Conn, error) {
	return nil, errors.New(`the process has ended: exit status 1; its last output: "no sk-116"`)
}

func (gone) Name() string { return "gone" }

// TestLastOutputOfServerIsRedacted uses a server that does not start, and servers that answer each HTTP request with
// 500, 403 or 400.
func TestLastOutputOfServerIsRedacted(t *testing.T) {
	p := &Policy{Redaction: hostileRedaction}
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		for _, gateway := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				rec := telemetrytest.Recorder(t)
				f, stop := inFrontOf(t, gone{transport.Stdio{Command: "x"}}, v, gateway, p, rec.Telemetry())
				h := onStdio(t, f, v)
				h.begin()
				h.send(h.message(mcp.MethodCallTool, `"name":"m_a"`, true), mcp.MethodCallTool, "m_a")
				h.leave()
				stop()
				got := h.taken()
				if leak := shows(got); leak != "" || !gateway && !strings.Contains(got, "[redacted]") {
					t.Errorf("%s, gateway %v: the host got %s", v, gateway, got)
				}
				wantNoSecrets(t, rec)
			})
		}
	}
	for _, status := range []int{http.StatusInternalServerError, http.StatusForbidden, http.StatusBadRequest} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `failed for sk-117 {"token":"hush-1"}`, status)
		}))
		rec := telemetrytest.Recorder(t)
		proxy, err := New(&transport.HTTP{URL: web.URL}, &Options{Policy: p, Telemetry: rec.Telemetry()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = mcpclient.Connect(t.Context(), transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
			_ = proxy.Serve(ctx, peer)
		}), &mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}, Telemetry: telemetry.Off(),
			Backoff: mcpclient.Backoff{Attempts: 1}})
		if err == nil || shows(err.Error()) != "" {
			t.Errorf("%d: the host got %v", status, err)
		}
		wantNoSecrets(t, rec)
		web.Close()
	}
}

// TestHostsThatOnlyInitializeStartFewServers opens sessions without using them.
func TestHostsThatOnlyInitializeStartFewServers(t *testing.T) {
	for _, gateway := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var running, most atomic.Int64
			s := newCareless(mcp.Version20251125, "safe")
			counted := transport.InMemory(func(ctx context.Context, p *transport.Peer) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				for {
					frame, err := p.Receive(ctx)
					if err != nil {
						return
					}
					for _, out := range s.handle(frame) {
						_ = p.Send(ctx, []byte(out))
					}
				}
			})
			f, stop := inFrontOf(t, counted, mcp.Version20251125, gateway, nil, telemetry.Off())
			defer stop()
			h := onHTTP(t, f, mcp.Version20251125)
			defer h.leave()
			hello := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":`+
				`{},"clientInfo":{"name":"hostile","version":"1"}}}`, mcp.Version20251125)
			handler := h.send
			for range 4 * DefaultMaxSessions {
				handler(hello, mcp.MethodInitialize, "")
			}
			want := int64(DefaultMaxSessions + 1) // one session may start before another has ended
			if gateway {
				want = 1 // the shared server of hosts without sessions
			}
			if most.Load() > want {
				t.Errorf("gateway %v: %d servers were running concurrently, want %d at most", gateway, most.Load(), want)
			}
		})
	}
}

// TestListMemoryIsBounded asks a gateway for lists after the memory for lists is used up.
func TestListMemoryIsBounded(t *testing.T) {
	var b listBudget
	if _, ok := b.take(maxListed/listedCopies+1, 0); ok || b.used.Load() != 0 {
		t.Error("a page above the limit was accepted")
	}
	if _, ok := b.take(0, maxListed/listedItem+1); ok || b.used.Load() != 0 {
		t.Error("more items were accepted than the memory allows")
	}
	synctest.Test(t, func(t *testing.T) {
		s := newCareless(mcp.Version20260728, "safe")
		f, stop := inFrontOf(t, s.transport(), mcp.Version20260728, true, nil, telemetry.Off())
		defer stop()
		g := f.(*Gateway)
		h := onHTTP(t, f, mcp.Version20260728)
		defer h.leave()
		for taken, want := range map[int64]string{0: `"m_safe"`, maxListed: "memory limit for lists; try again later"} {
			g.listed.used.Store(taken)
			h.send(h.message(mcp.MethodListTools, "", true), mcp.MethodListTools, "")
			if got := h.taken(); !strings.Contains(got, want) || g.listed.used.Load() != taken {
				t.Errorf("with %d bytes taken: the host got %s, and %d bytes are taken after it", taken, got,
					g.listed.used.Load())
			}
		}
	})
}
