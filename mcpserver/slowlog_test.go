package mcpserver_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// stuck is a log handler that blocks on every record until the test releases it.
type stuck struct {
	slog.Handler
	release chan struct{}
	written chan string // events whose records the handler has received
}

func newStuck() stuck {
	return stuck{slog.DiscardHandler, make(chan struct{}), make(chan string, 100_000)}
}

func (h stuck) Handle(_ context.Context, r slog.Record) error {
	<-h.release
	h.written <- r.Message
	return nil
}

func (h stuck) WithAttrs([]slog.Attr) slog.Handler { return h }

func (stuck) Enabled(context.Context, slog.Level) bool { return true }

// events returns the number of records of each event.
func (h stuck) events() map[string]int {
	events := map[string]int{}
	for range len(h.written) {
		events[<-h.written]++
	}
	return events
}

// toldOf maps descriptions to messages of clients that make the server write to its log, in any revision.
var toldOf = map[string]string{
	"garbage":       `{"jsonrpc":`,
	"no object":     `17`,
	"an invalid id": `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
	"a frame over the limit": `{"jsonrpc":"2.0","method":"x/large","params":{"x":"` + strings.Repeat("x",
		64<<10) + `"}}`,
	"an answer without a request":        `{"jsonrpc":"2.0","id":987654321,"result":{}}`,
	"a batch":                            `[{"jsonrpc":"2.0","method":"x/news"}]`,
	"a notification without a handler":   `{"jsonrpc":"2.0","method":"x/other"}`,
	"a notification with a handler":      `{"jsonrpc":"2.0","method":"x/news"}`,
	"a notification with invalid params": `{"jsonrpc":"2.0","method":"x/news","params":[]}`,
	"a cancellation of an unknown request": `{"jsonrpc":"2.0","method":"notifications/cancelled",` +
		`"params":{"requestId":987654321}}`,
	"a second initialize": strings.Replace(initialize, `"id":1`, `"id":"i"`, 1),
	"an unknown method":   `{"jsonrpc":"2.0","id":"m","method":"x/unknown"}`,
	"invalid params":      `{"jsonrpc":"2.0","id":"p","method":"tools/list","params":[]}`,
}

// slowLogServer returns a server whose log handler hangs.
func slowLogServer(t *testing.T, h stuck) *mcpserver.Server {
	t.Helper()
	s := newServer(t, mcpserver.Options{Limits: mcpserver.Limits{Frame: 32 << 10},
		Telemetry: telemetry.New(telemetry.WithLogger(slog.New(h)))})
	must(t, s.HandleNotification("x/news", func(context.Context, *mcpserver.Notification) {}))
	return s
}

// A log handler that blocks delays neither the reading of a connection nor the requests on it.
func TestBlockedLogHandlerDoesNotDelayRequests(t *testing.T) {
	for _, v := range mcp.SupportedVersions() {
		t.Run(string(v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newStuck()
				c := speak(t, slowLogServer(t, h), v)
				promptly := func(beside string) {
					t.Helper()
					begun := time.Now()
					c.send(c.request("tools/call", `"name":"greet","arguments":{"name":"x"}`))
					answered := false
					for _, got := range c.taken() {
						answered = answered || strings.Contains(got, fmt.Sprintf(`"id":%d,"result"`, c.id))
					}
					if took := time.Since(begun); !answered || took > 0 {
						t.Fatalf("beside %s: answered is %v after %v, want it true at once", beside, answered, took)
					}
				}
				promptly("nothing")
				for what, frame := range toldOf {
					c.send(frame)
					c.taken()
					promptly(what)
				}
				close(h.release)
				c.bye()
				if events := h.events(); v.Era() == mcp.Legacy && events["mcp_server.session.end"] != 1 {
					t.Errorf("before Serve has returned the log has %v", events)
				}
			})
		})
	}
}

// held is a log handler that blocks until the test releases it, and then calls another handler.
type held struct {
	slog.Handler
	release chan struct{}
}

func (h held) Handle(ctx context.Context, r slog.Record) error {
	<-h.release
	return h.Handler.Handle(ctx, r)
}

func (h held) WithAttrs(attrs []slog.Attr) slog.Handler {
	return held{h.Handler.WithAttrs(attrs), h.release}
}

func TestDroppedLogRecordsAreReported(t *testing.T) {
	const sent = 34_000
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		h := held{rec.LogHandler(), make(chan struct{})}
		s := newServer(t, mcpserver.Options{Telemetry: telemetry.New(telemetry.WithLogger(slog.New(h)))})
		c := speak(t, s, mcp.Version20260728)
		for range sent {
			c.send(toldOf["a notification without a handler"])
		}
		c.send(c.request("tools/call", `"name":"greet","arguments":{"name":"x"}`))
		if got := c.taken(); len(got) != 1 {
			t.Errorf("got %q, want one answer", got)
		}
		close(h.release)
		c.bye()
		lost, err := strconv.Atoi(rec.Log("mcp_server.log.lost").Text("mcp_server.suppressed"))
		if written := len(rec.Logs("mcp_server.notification.received")); err != nil || lost < 1000 || lost+written < sent {
			t.Errorf("%d records are written and %d told to be lost (%v), want %d in all", written, lost, err, sent)
		}
	})
}

func TestBlockedLogHandlerDoesNotDelayHTTPRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newStuck()
		w := serveWeb(t, slowLogServer(t, h), &mcpserver.HTTPOptions{KeepAlive: -1})
		stream, address := w.oldSession("http://localhost/mcp")
		go w.post(initialize, address)
		stream.message()
		session := w.open("2025-11-25")
		begun := time.Now()
		for what, frame := range toldOf {
			w.post(frame, "Mcp-Session-Id", session)
			if p := w.post(callOf(1, "greet", `{"name":"x"}`), "Mcp-Session-Id", session); p.status != http.StatusOK {
				t.Errorf("a request beside %s got %d: %s", what, p.status, p.body)
			}
		}
		w.post(toldOf["a notification without a handler"], address)
		go w.post(callOf(1, "greet", `{"name":"x"}`), address)
		if m := stream.message(); m.Result == nil {
			t.Errorf("a request over HTTP+SSE got %+v, want its result", m)
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("the requests took %v, want no time", took)
		}
		stream.leave()
		close(h.release)
		w.end()
		if events := h.events(); events["mcp_server.session.end"] != 2 {
			t.Errorf("before Shutdown has returned the log has %v, want the end of both sessions", events)
		}
	})
}
