package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// withHold returns a server with a tool whose calls last until release is called.
func withHold(t testing.TB, o mcpserver.Options) (_ *mcpserver.Server, release func()) {
	s := bare(t, o)
	held := make(chan struct{})
	must(t, mcpserver.AddTool(s, &mcp.Tool{Name: "hold"}, func(ctx context.Context, _ struct{}) (string, error) {
		select {
		case <-held:
			return "ok", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}))
	return s, sync.OnceFunc(func() { close(held) })
}

// listed reports whether Servers returns s.
func listed(s *mcpserver.Server) bool { return slices.Contains(mcpserver.Servers(), s) }

const callHold = `"name":"hold","arguments":{}`

func TestInspectShowsRequestsInFlightWithTheirAges(t *testing.T) {
	for _, tel := range []*telemetry.Telemetry{telemetry.New(), telemetry.Off()} {
		synctest.Test(t, func(t *testing.T) {
			s, release := withHold(t, mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 2}, Telemetry: tel})
			if listed(s) {
				t.Error("a server that serves nobody is not among the running ones")
			}
			c := speak(t, s, mcp.Version20251125)
			idle := speak(t, s, mcp.Version20251125)
			for range 5 {
				c.send(c.request(mcp.MethodCallTool, callHold))
				time.Sleep(time.Second)
			}
			i := s.Inspect()
			if !listed(s) || i.Connected != 2 || i.InFlight != 5 || i.Tools != 1 || i.Limits.MaxConcurrent != 2 {
				t.Errorf("got %+v, want 2 connections and 5 requests", i)
			}
			var got []string
			for _, r := range i.Requests {
				got = append(got, fmt.Sprintf("%d: %s %s %s %v %v", r.Connection, r.ID, r.Method, r.Target, r.Age, r.Waiting))
			}
			want := []string{
				"1: 1 tools/call hold 5s false", "1: 2 tools/call hold 4s false", "1: 3 tools/call hold 3s true",
				"1: 4 tools/call hold 2s true", "1: 5 tools/call hold 1s true",
			}
			if !slices.Equal(got, want) {
				t.Errorf("requests: got %q, want %q", got, want)
			}
			busy := i.Connections[0]
			if busy.Number != 1 || busy.Running != 2 || busy.Waiting != 3 || busy.Bytes == 0 || busy.Age != 5*time.Second ||
				busy.Client == "" || busy.Version != mcp.Version20251125 || i.Connections[1].Running != 0 {
				t.Errorf("connections, the busiest first: got %+v", i.Connections)
			}
			release()
			synctest.Wait()
			if i := s.Inspect(); i.InFlight != 0 || len(i.Requests) != 0 || i.Connections[0].Running != 0 {
				t.Errorf("when all is answered: got %+v", i)
			}
			must(t, c.finish())
			if !listed(s) {
				t.Error("with one connection left, the server is running")
			}
			must(t, idle.finish())
			if i := s.Inspect(); listed(s) || i.Connected != 0 {
				t.Errorf("without connections: got %d, and running %v", i.Connected, listed(s))
			}
		})
	}
}

func TestInspectShowsHTTPActivityWithoutSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := withHold(t, mcpserver.Options{Telemetry: telemetry.New()})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 7}})
		session := w.open("2025-11-25")
		var calls sync.WaitGroup
		calls.Go(func() {
			w.post(`{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{`+callHold+`}}`, "Mcp-Session-Id", session)
		})
		synctest.Wait()
		time.Sleep(time.Minute)
		calls.Go(func() {
			w.post(asked(1, mcp.MethodCallTool, bothMetas, callHold), "MCP-Protocol-Version", string(mcp.Version20260728),
				"Mcp-Method", mcp.MethodCallTool, "Mcp-Name", "hold")
		})
		synctest.Wait()
		time.Sleep(time.Second)

		i := s.Inspect()
		if len(i.Handlers) != 1 || i.Handlers[0].Sessions != 1 || i.Handlers[0].MaxSessions != 7 ||
			i.Handlers[0].Requests != 2 || i.Handlers[0].Closing {
			t.Errorf("the handler: got %+v", i.Handlers)
		}
		if i.InFlight != 2 || i.Requests[0].Age != 61*time.Second || i.Requests[0].Connection != 1 ||
			i.Requests[0].ID != `mine` ||
			i.Requests[1].Age != time.Second || i.Requests[1].Connection != 0 {
			t.Errorf("requests: got %+v", i.Requests)
		}
		if c := i.Connections[0]; !strings.HasPrefix(session, strings.TrimSuffix(c.Session, "…")) || len(c.Session) > 10 ||
			c.Protocol != "http" {
			t.Errorf("the session: got %+v, want the beginning of %s", c, session)
		}
		release()
		calls.Wait()
		raw, err := json.Marshal(s.Inspect())
		if err != nil || strings.Contains(string(raw), session) {
			t.Errorf("want no id of a session in the inspection, got %v and\n%s", err, raw)
		}
		if n := s.Inspect().Networks; len(n) != 1 || len(n[0].Recent) == 0 ||
			!slices.ContainsFunc(n[0].Operations, func(o telemetry.Operation) bool {
				return o.Method == mcp.MethodCallTool && o.Target == "hold" && o.Count == 2 && o.Failed == 0
			}) {
			t.Errorf("operations: got %+v", n)
		}
		w.end()
		if listed(s) {
			t.Error("a handler that is shut down is not running")
		}
	})
}

func TestInspectShowsTasksWithoutTheirIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, mcpserver.Options{Tasks: &mcpserver.TaskOptions{MaxRunning: 3}})
		held := make(chan struct{})
		must(t, mcpserver.AddTool(s, &mcp.Tool{Name: "long"}, func(context.Context, struct{}) (string, error) {
			<-held
			return "ok", nil
		}, mcpserver.TaskTool()))
		c := speak(t, s, mcp.Version20260728)
		c.send(asked(1, mcp.MethodCallTool, strings.Replace(bothMetas, `"io.modelcontextprotocol/clientCapabilities":{`,
			`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}`, 1),
			`"name":"long","arguments":{}`))
		time.Sleep(time.Minute)
		i := s.Inspect()
		if i.RunningTasks != 1 || i.MaxTasks != 3 || i.Tasks[0].Tool != "long" || i.Tasks[0].Status != mcp.TaskWorking ||
			i.Tasks[0].Age.Round(time.Second) != time.Minute {
			t.Errorf("tasks: got %d of %d, %+v; the client got %q", i.RunningTasks, i.MaxTasks, i.Tasks, c.taken())
		}
		close(held)
		must(t, s.Shutdown(t.Context()))
		must(t, c.finish())
		if i := s.Inspect(); i.RunningTasks != 0 {
			t.Errorf("when it is done: got %+v", i.Tasks)
		}
	})
}

// With ten thousand requests on a thousand connections, Inspect lists only the oldest requests and the busiest
// connections, and the total numbers.
func TestInspectionSizeIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := withHold(t, mcpserver.Options{})
		const connections = 2 * inspect.MaxListed
		var clients []*talk
		for n := range connections {
			c := speak(t, s, mcp.Version20251125)
			clients = append(clients, c)
			for range 5 + n%11 {
				c.in <- received{frame: []byte(c.request(mcp.MethodCallTool, callHold))}
			}
		}
		synctest.Wait()
		i := s.Inspect()
		if i.Connected != connections || len(i.Connections) != inspect.MaxListed || i.InFlight != 1991 ||
			len(i.Requests) != inspect.MaxListed {
			t.Errorf("got %d of %d connections and %d of %d requests", len(i.Connections), i.Connected, len(i.Requests),
				i.InFlight)
		}
		if i.Connections[0].Running != 15 || i.Connections[inspect.MaxListed-1].Running != 10 {
			t.Errorf("the busiest are shown: got %d to %d requests", i.Connections[0].Running,
				i.Connections[inspect.MaxListed-1].Running)
		}
		if raw, err := json.Marshal(i); err != nil || len(raw) > 100_000 {
			t.Errorf("as JSON: got %d bytes, %v", len(raw), err)
		}
		release()
		for _, c := range clients {
			must(t, c.finish())
		}
	})
}

// The memory of a handler is freed even if the program does not shut the handler down.
func TestUnreferencedServerIsCollected(t *testing.T) {
	collected := make(chan struct{})
	func() {
		s := bare(t, mcpserver.Options{})
		s.HTTPHandler(nil)
		if !listed(s) {
			t.Error("a server with a handler is running")
		}
		runtime.AddCleanup(s, func(struct{}) { close(collected) }, struct{}{})
	}()
	for range 1000 {
		runtime.GC()
		select {
		case <-collected:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("the server is not collected")
}

func TestBrokenConnectionLogsFlightRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s, release := withHold(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		orderly := speak(t, s, mcp.Version20251125)
		must(t, orderly.finish())
		const event = "mcp_server.connection.flight_record"
		if n := len(rec.Logs(event)); n != 0 {
			t.Errorf("a connection that ends in order: got %d records, want none", n)
		}
		c := speak(t, s, mcp.Version20251125)
		c.send(c.request(mcp.MethodCallTool, callHold))
		c.in <- received{err: io.ErrUnexpectedEOF}
		if err := <-c.wire.result; !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("Serve returned %v, want %v", err, io.ErrUnexpectedEOF)
		}
		release()
		text := rec.Log(event).Text("mcp_server.flight_record.text")
		for _, part := range []string{"handler tools/call hold", "session failed: connection_lost",
			"failure failed: connection_lost"} {
			if !strings.Contains(text, part) {
				t.Errorf("want %q in the record, got:\n%s", part, text)
			}
		}
	})
}

// Connections that break repeatedly do not flood the log. Each record contains the number of suppressed records before
// it, and the number of older entries that did not fit into the record.
func TestFlightRecorderIsLoggedOncePerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := bare(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		for _, pings := range []int{0, 0, telemetry.FlightSize} {
			c := speak(t, s, mcp.Version20251125)
			for range pings {
				c.result(mcp.MethodPing, "")
			}
			c.in <- received{err: io.ErrUnexpectedEOF}
			<-c.wire.result
			time.Sleep(40 * time.Second)
		}
		records := rec.Logs("mcp_server.connection.flight_record")
		if len(records) != 2 {
			t.Fatalf("three failures in 80 s: got %d records, want 2", len(records))
		}
		if got := records[1].Text("mcp_server.suppressed"); got != "1" {
			t.Errorf("records left out before the second: got %q, want 1", got)
		}
		if n, err := strconv.Atoi(records[1].Text("mcp_server.flight_record.omitted")); err != nil || n < 1 {
			t.Errorf("entries without room: got %d, %v, want some", n, err)
		}
	})
}

// During inspections, many clients connect, call and disconnect. This test is for the race detector.
func TestInspectDuringClientActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, mcpserver.Options{Telemetry: telemetry.New(), Limits: mcpserver.Limits{Total: 16}})
		must(t, mcpserver.AddTool(s, &mcp.Tool{Name: "quick"},
			func(context.Context, struct{}) (string, error) { return "ok", nil }))
		w := serveWeb(t, s, nil)
		over := make(chan struct{})
		var looking, calling sync.WaitGroup
		looking.Go(func() {
			for {
				if i := s.Inspect(); len(i.Requests) > i.InFlight || len(i.Connections) > i.Connected {
					t.Errorf("got more shown than there are: %+v", i)
				}
				select {
				case <-over:
					return
				default:
				}
			}
		})
		for range 64 {
			calling.Go(func() {
				id := w.open("2025-11-25")
				for n := range 5 {
					w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"quick","arguments":{}}}`, n),
						"Mcp-Session-Id", id)
				}
				w.do("DELETE", "", "Mcp-Session-Id", id)
			})
		}
		calling.Wait()
		close(over)
		looking.Wait()
		w.end()
	})
}
