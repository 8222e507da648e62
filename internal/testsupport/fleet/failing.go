package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// Way is one method of an SDK's client that sends a request.
type Way struct {
	Name   string // name of the Go method
	Method string
	Target string // target in the name of the span; empty for none
	Legacy bool   // the request does not exist in 2026-07-28
	Call   func(ctx context.Context) error
}

// SDK describes an SDK with an adapter that instruments its clients.
type SDK struct {
	Versions []string
	// Connect connects a client, instrumented with tel, to a server and returns all methods of the client that send a
	// request.
	Connect func(t *testing.T, server net.Conn, tel *telemetry.Telemetry, version string) []Way
	// EndsEarly is true if the SDK itself fails a request with a context that has already ended, so that the adapter does
	// not see the request.
	EndsEarly bool
}

// failing is one way in which a request can fail.
type failing struct {
	name, errorType string
	suits           func(w *Way) bool // reports whether the way applies to w; nil for always
	happen          func(s *scripted, w *Way) error
}

const cancelledBefore = "cancelled before"

var everyFailing = []failing{
	{"deadline", "timeout", nil, func(s *scripted, w *Way) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		return w.Call(ctx)
	}},
	{"cancelled", "cancelled", nil, func(s *scripted, w *Way) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		return s.during(func() error { return w.Call(ctx) }, func(json.RawMessage) { cancel() })
	}},
	{cancelledBefore, "cancelled", nil, func(s *scripted, w *Way) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return w.Call(ctx)
	}},
	{"connection lost", "connection_lost", nil, func(s *scripted, w *Way) error {
		return s.during(func() error { return w.Call(context.Background()) }, func(json.RawMessage) { s.conn.Close() })
	}},
	{"lost before", "connection_lost", nil, func(s *scripted, w *Way) error {
		s.conn.Close()
		<-s.done
		return w.Call(context.Background())
	}},
	{"JSON-RPC error", "-32603", nil, func(s *scripted, w *Way) error {
		return s.during(func() error { return w.Call(context.Background()) }, func(id json.RawMessage) {
			s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"it broke"}}`, id)
		})
	}},
	{"tool error", "tool_error", func(w *Way) bool { return w.Method == "tools/call" }, func(s *scripted, w *Way) error {
		return s.during(func() error { return w.Call(context.Background()) }, func(id json.RawMessage) {
			s.write(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","isError":true,"content":[]}}`, id)
		})
	}},
}

// EveryFailure makes each request fail in each way, and checks that each failure emits one CLIENT span with the error,
// one point of the duration and one record.
func EveryFailure(t *testing.T, sdk *SDK) {
	for _, version := range sdk.Versions {
		for _, f := range everyFailing {
			if f.name == cancelledBefore && sdk.EndsEarly {
				continue
			}
			s := newScripted(t, version)
			for n, w := range sdk.Connect(t, s.client, telemetry.Off(), version) {
				if w.Legacy && s.modern() || f.suits != nil && !f.suits(&w) {
					continue
				}
				t.Run(version+"/"+f.name+"/"+w.Name, func(t *testing.T) {
					r := telemetrytest.Recorder(t)
					s := newScripted(t, version)
					w := sdk.Connect(t, s.client, r.Telemetry(), version)[n]
					if err := f.happen(s, &w); err == nil && f.errorType != "tool_error" {
						t.Fatal("want an error")
					}
					oneFailure(t, r, &w, f.errorType)
				})
			}
		}
	}
}

func oneFailure(t *testing.T, r *telemetrytest.Recording, w *Way, errorType string) {
	t.Helper()
	name := w.Method
	if w.Target != "" {
		name += " " + w.Target
	}
	failed := 0
	for _, s := range r.SpansNamed(name, trace.SpanKindClient) {
		got := ""
		for _, a := range s.Attributes() {
			if a.Key == "error.type" {
				got = a.Value.String()
			}
		}
		if s.Status().Code == codes.Error && got == errorType {
			failed++
		} else {
			t.Errorf("span %q: status %v and error.type %q, want status Error and error.type %q", name, s.Status(), got,
				errorType)
		}
	}
	if failed != 1 {
		t.Errorf("%d CLIENT spans %q failed, want one", failed, name)
	}
	if n := r.Count("mcp.client.operation.duration", "mcp.method.name", w.Method, "error.type", errorType); n != 1 {
		t.Errorf("mcp.client.operation.duration has %d points with error.type %s, want 1", n, errorType)
	}
	records := 0
	for _, record := range r.Logs("mcp_client.request.exception") {
		if record.Text("mcp.method.name") == w.Method {
			records++
		}
	}
	if records != 1 {
		t.Errorf("%d records mcp_client.request.exception, want one", records)
	}
}

// scripted is a server that answers only the handshake. The test answers all other requests.
type scripted struct {
	version      string
	client, conn net.Conn
	asked        chan json.RawMessage // ids of the requests after the handshake
	done         chan struct{}
}

func newScripted(t *testing.T, version string) *scripted {
	s := &scripted{version: version, asked: make(chan json.RawMessage, 64), done: make(chan struct{})}
	s.client, s.conn = net.Pipe()
	t.Cleanup(func() {
		s.conn.Close()
		<-s.done
	})
	go func() { // ends when the connection is closed
		defer close(s.done)
		for lines := bufio.NewScanner(s.conn); lines.Scan(); {
			s.read(lines.Bytes())
		}
	}()
	return s
}

func (s *scripted) modern() bool { return s.version >= "2026" }

func (s *scripted) read(line []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal(line, &m); err != nil || m.ID == nil {
		return
	}
	const has = `"capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{},"logging":{}},` +
		`"serverInfo":{"name":"scripted","version":"1"}`
	switch {
	case m.Method == "initialize":
		s.write(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,`+has+`}}`, m.ID, s.version)
	case m.Method == "server/discover" && s.modern():
		s.write(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",`+
			`"supportedVersions":[%q],`+has+`}}`, m.ID, s.version)
	case m.Method == "server/discover":
		s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	default:
		s.asked <- m.ID
	}
}

// write sends a message. If the client has closed the connection, the message is lost, as intended.
func (s *scripted) write(format string, arguments ...any) {
	_, _ = fmt.Fprintf(s.conn, format+"\n", arguments...)
}

// during starts call. When the server has received the request of call, during calls the function then.
func (s *scripted) during(call func() error, then func(id json.RawMessage)) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case id := <-s.asked:
		then(id)
	case err := <-done:
		return fmt.Errorf("the request ended before the server received it: %w", err)
	}
	return <-done
}
