package mcpserver_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestTelemetryCountsStreamsByKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := serveWeb(t, newWebServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}), nil)
		session := w.open("2025-11-25")
		open := map[string]*events{
			"get": w.stream(http.MethodGet, "", "Mcp-Session-Id", session),
			"sse": w.stream(http.MethodGet, ""),
			"listen": w.stream(http.MethodPost, asked(1, mcp.MethodSubscriptionsListen, bothMetas,
				`"notifications":{"toolsListChanged":true}`),
				modernHeaders(mcp.MethodSubscriptionsListen, "")...),
		}
		open["sse"].next()    // the URL for messages
		open["listen"].next() // the acknowledgement
		synctest.Wait()
		for kind := range open {
			if n := rec.Value("mcp_server.stream.active", "mcp_server.stream.kind", kind); n != 1 {
				t.Errorf("open streams of kind %s: got %d, want 1", kind, n)
			}
		}
		time.Sleep(10 * time.Second)
		for _, e := range open {
			e.leave()
		}
		synctest.Wait()
		w.end()
		for kind := range open {
			points := rec.Points("mcp_server.stream.duration", "mcp_server.stream.kind", kind)
			if len(points) != 1 || points[0].Count != 1 || points[0].Sum != 10 {
				t.Errorf("streams of kind %s that were open: got %v, want one for 10 s", kind, points)
			}
		}
		opened, closed := len(rec.Logs("mcp_server.stream.opened")), len(rec.Logs("mcp_server.stream.closed"))
		if opened != 3 || closed != 3 {
			t.Errorf("records: got %d of streams that opened and %d that closed, want 3 and 3", opened, closed)
		}
	})
}

func TestTelemetryCountsOpenSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := newWebServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		w := serveWeb(t, s, nil)
		sessions := func() int64 { return rec.Value("mcp_server.session.active", "mcp_server.name", "test") }
		first := w.open("2025-11-25")
		w.open("2025-06-18")
		if n := sessions(); n != 2 {
			t.Errorf("open sessions: got %d, want 2", n)
		}
		w.do(http.MethodDelete, "", "Mcp-Session-Id", first)
		synctest.Wait()
		if n := sessions(); n != 1 {
			t.Errorf("open sessions after one has ended: got %d, want 1", n)
		}
		w.end()
		if n := sessions(); n != 0 {
			t.Errorf("open sessions when all is over: got %d, want 0", n)
		}
	})
}

// TestTelemetryCountsMessagesWaitingForClient uses a client that stops reading for a while.
func TestTelemetryCountsMessagesWaitingForClient(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	s := newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()})
	requests, in, err := os.Pipe()
	must(t, err)
	out, answers, err := os.Pipe()
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), mcpserver.NewStreamConn(requests, answers, 0)) }()
	const calls = 100
	go func() { // ends with the calls: the server reads even while it cannot send
		_, _ = io.WriteString(in, initialize+"\n"+initialized+"\n")
		for i := range calls {
			_, _ = io.WriteString(in, callOf(i+1, "greet", `{"name":"`+name8K+`"}`)+"\n")
		}
	}()
	waitFor(t, "messages wait to be sent", func() bool { return rec.Value("mcp_server.send.queue.length") > 0 })
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the connection
	waitFor(t, "they have been sent", func() bool { return rec.Count("mcp_server.send.queue.wait") > 0 })
	must(t, in.Close())
	must(t, <-served)
}

// name8K is an argument large enough to fill a pipe quickly.
var name8K = string(make8K())

func make8K() []byte {
	b := make([]byte, 8<<10)
	for i := range b {
		b[i] = 'x'
	}
	return b
}

// waitFor waits until ok returns true, for tests with real processes and pipes.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it takes too long until %s", what)
		}
	}
}

// TestUnsentMessagesAreCountedAsDropped uses a client that accepts no stream, and a client that has not opened one.
func TestUnsentMessagesAreCountedAsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := newWebServer(t, mcpserver.Options{Telemetry: rec.Telemetry(), Logging: true})
		w := serveWeb(t, s, nil)
		session := w.open("2025-11-25")
		progress := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","arguments":{"values":[1,2]},` +
			`"_meta":{"progressToken":1}}}`
		if p := w.post(progress, "Mcp-Session-Id", session, "Accept", "application/json"); p.status != http.StatusOK {
			t.Fatalf("the call got %d with %s", p.status, p.body)
		}
		for range 300 {
			must(t, s.Log(mcp.LevelError, "", "x"))
		}
		s.RemoveTools("steps")
		time.Sleep(time.Second)
		s.RemoveTools("greet", "echo")
		time.Sleep(time.Second)
		w.end()
		for _, want := range []struct {
			reason, method string
			n              int64
		}{
			{"no_stream", mcp.NotificationProgress, 2},
			{"queue_full", mcp.NotificationMessage, 44},
			{"coalesced", mcp.NotificationToolListChanged, 1},
		} {
			n := rec.Value("mcp_server.notification.drops", "mcp_server.drop.reason", want.reason, "mcp.method.name",
				want.method)
			if n != want.n {
				t.Errorf("%s dropped as %s: got %d, want %d", want.method, want.reason, n, want.n)
			}
		}
		if n := rec.Value("mcp_server.notification.messages", "mcp_server.direction", "sent"); n != 0 {
			t.Errorf("notifications counted as sent: got %d, want 0", n)
		}
	})
}

func TestPendingServerRequestsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := openedAble(t, withTool(t, mcpserver.Options{Telemetry: rec.Telemetry()}, "roots", rootsTool), "2025-11-25")
		w.send(callOf(7, "roots", "{}"))
		if n := rec.Value("mcp_server.active_asks", "mcp.method.name", mcp.MethodListRoots); n != 1 {
			t.Errorf("questions that wait for their answers: got %d, want 1", n)
		}
		w.send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
		if n := rec.Value("mcp_server.active_asks"); n != 0 {
			t.Errorf("after the answer: got %d, want 0", n)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestASlowCallIsLoggedAtInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		w := opened(t, t.Context(), newServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}))
		w.send(callOf(1, "sleep", `{"seconds":9}`), callOf(2, "sleep", `{"seconds":1}`))
		time.Sleep(time.Minute)
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		for _, r := range rec.Logs("mcp_server.request.stop") {
			want := "DEBUG"
			if r.Text("jsonrpc.request.id") == "1" {
				want = "INFO"
			}
			if r.Text("mcp.method.name") == "tools/call" && r.Level.String() != want {
				t.Errorf("call %s took %s s: got it logged at %v, want %s", r.Text("jsonrpc.request.id"),
					r.Text("mcp_server.duration"), r.Level, want)
			}
		}
	})
}
