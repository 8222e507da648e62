package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// wait is how long tests wait for events that must happen.
const wait = 20 * time.Second

// serve starts a server on a real socket and returns its URL. The server ends with the test, even if a handler hangs.
func serve(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL + "/mcp"
}

// dialHTTP opens a connection that is closed with the test.
func dialHTTP(t testing.TB, h *transport.HTTP, cfg transport.Config) transport.Conn {
	t.Helper()
	conn, err := h.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatalf("dial: want a connection, got %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(endedContext()) })
	return conn
}

// serveTLS starts a server with a certificate that no client trusts.
func serveTLS(t testing.TB) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

func endedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// call returns a request of the legacy era.
func call(id int64) transport.Message {
	return transport.Message{
		Data: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t"}}`, id),
		Kind: transport.KindRequest, ID: id, Method: "tools/call", Name: "t", ProtocolVersion: "2025-11-25",
	}
}

// modernCall returns a request of the modern era.
func modernCall(id int64) transport.Message {
	m := call(id)
	m.ProtocolVersion = "2026-07-28"
	return m
}

func initialize(id int64) transport.Message {
	return transport.Message{
		Data: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{}}`, id),
		Kind: transport.KindRequest, ID: id, Method: "initialize",
	}
}

func initialized() transport.Message {
	return notification("notifications/initialized")
}

func notification(method string) transport.Message {
	return transport.Message{
		Data: fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q}`, method),
		Kind: transport.KindNotification, Method: method, ProtocolVersion: "2025-11-25",
	}
}

// result returns the answer to a request.
func result(id int64) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id) }

// sent is the part of a message that a server reads.
type sent struct {
	ID     int64  `json:"id"`
	Method string `json:"method"`
}

// readSent returns the message in the body of a request.
func readSent(r *http.Request) (m sent) {
	data, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(data, &m)
	return m
}

// answerJSON answers with one JSON text.
func answerJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// answerEvents answers with an event stream and leaves it open.
func answerEvents(w http.ResponseWriter, stream string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	writeFlushed(w, stream)
}

func writeFlushed(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

// event returns an event with this data.
func event(data string) string { return "data: " + data + "\n\n" }

// send sends a message, and fails the test if the connection does not accept it.
func send(t testing.TB, conn transport.Conn, m transport.Message) {
	t.Helper()
	if err := conn.Send(t.Context(), m); err != nil {
		t.Fatalf("send %s: want it accepted, got %v", m.Method, err)
	}
}

// receive returns the next frame.
func receive(t testing.TB, conn transport.Conn) transport.Frame {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	f, err := conn.Receive(ctx)
	if err != nil {
		t.Fatalf("receive: want a frame, got error %v", err)
	}
	return f
}

// receiveData fails the test unless the next frame is want, for this request.
func receiveData(t testing.TB, conn transport.Conn, want string, request int64) {
	t.Helper()
	f := receive(t, conn)
	if f.Err != nil || string(f.Data) != want || f.Request != request {
		t.Fatalf("receive: want %s for request %d, got %.200s for %d and error %v", want, request, f.Data, f.Request, f.Err)
	}
}

// receiveError returns the failure of this request. It fails the test unless the next frame reports that failure.
func receiveError(t testing.TB, conn transport.Conn, request int64) *transport.RequestError {
	t.Helper()
	f := receive(t, conn)
	if f.Err == nil || f.Request != request {
		t.Fatalf("receive: want a failure of request %d, got %.200s for %d and error %v", request, f.Data, f.Request, f.Err)
	}
	return f.Err
}

// receiveNothing fails the test if a frame arrives within 50 ms.
func receiveNothing(t testing.TB, conn transport.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if f, err := conn.Receive(ctx); err != context.DeadlineExceeded {
		t.Fatalf("receive: want nothing, got %.200s, failure %v, error %v", f.Data, f.Err, err)
	}
}

// receiveEnd returns the error that ended the connection.
func receiveEnd(t testing.TB, conn transport.Conn) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	f, err := conn.Receive(ctx)
	if err == nil || ctx.Err() != nil {
		t.Fatalf("receive: want the end of the connection, got %.200s, failure %v, error %v", f.Data, f.Err, err)
	}
	return err
}

// startSession initializes a session without a GET stream.
func startSession(t testing.TB, conn transport.Conn) {
	t.Helper()
	send(t, conn, initialize(1))
	receiveData(t, conn, result(1), 1)
	send(t, conn, initialized())
}
