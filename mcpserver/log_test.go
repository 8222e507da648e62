package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/slogtest"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// allLevels lists the levels of the protocol, from the least to the most severe.
var allLevels = []mcp.LoggingLevel{
	mcp.LevelDebug, mcp.LevelInfo, mcp.LevelNotice, mcp.LevelWarning, mcp.LevelError, mcp.LevelCritical, mcp.LevelAlert,
	mcp.LevelEmergency,
}

// logAll logs at every level.
func logAll(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, level := range allLevels {
		if err := r.Log(ctx, level, "test", map[string]string{"text": string(level)}); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// logged returns the levels of the log messages among frames.
func logged(t *testing.T, frames []string) (levels []mcp.LoggingLevel) {
	t.Helper()
	for _, f := range frames {
		if decoded(t, f).Method == mcp.NotificationMessage {
			levels = append(levels, logParams(t, f).Level)
		}
	}
	return levels
}

// logParams returns the params of a log message.
func logParams(t *testing.T, frame string) mcp.LoggingMessageParams {
	t.Helper()
	var m struct{ Params mcp.LoggingMessageParams }
	if err := json.Unmarshal([]byte(frame), &m); err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	return m.Params
}

func setLevel(level string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"level","method":"logging/setLevel","params":{"level":%q}}`, level)
}

func withLevel(id int, level string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"tool",`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":%s}}}`, id, level)
}

func TestLegacyLogLevelDefaultsToInfo(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		synctest.Test(t, func(t *testing.T) {
			w := serve(t, t.Context(), withTool(t, mcpserver.Options{Logging: true}, "tool", logAll))
			w.send(initializeAs(version), initialized)
			if out := w.taken(); len(out) != 1 || !strings.Contains(out[0], `"logging":{}`) {
				t.Errorf("%s: initialize got %q, want the capability logging", version, out)
			}
			w.send(callOf(1, "tool", "{}"))
			if got := logged(t, w.taken()); !slices.Equal(got, allLevels[1:]) {
				t.Errorf("%s: without a level the client got %v, want %v", version, got, allLevels[1:])
			}
			for i, level := range allLevels {
				w.send(setLevel(string(level)), callOf(1, "tool", "{}"))
				out := w.taken()
				if got := logged(t, out); !slices.Equal(got, allLevels[i:]) {
					t.Errorf("%s: at the level %s the client got %v, want %v", version, level, got, allLevels[i:])
				}
				if out[0] != `{"jsonrpc":"2.0","id":"level","result":{}}` {
					t.Errorf("%s: logging/setLevel got %s, want an empty result", version, out[0])
				}
			}
			if err := w.finish(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDefaultLogLevelIsConfigurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := opened(t, t.Context(), withTool(t, mcpserver.Options{Logging: true, LogLevel: mcp.LevelAlert}, "tool", logAll))
		w.send(callOf(1, "tool", "{}"))
		if got := logged(t, w.taken()); !slices.Equal(got, allLevels[6:]) {
			t.Errorf("the client got %v, want %v", got, allLevels[6:])
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestModernClientGetsLogMessagesPerRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, t.Context(), withTool(t, mcpserver.Options{Logging: true}, "tool", logAll))
		for i, level := range allLevels {
			w.send(withLevel(1, `"`+string(level)+`"`))
			if got := logged(t, w.taken()); !slices.Equal(got, allLevels[i:]) {
				t.Errorf("at the level %s the client got %v, want %v", level, got, allLevels[i:])
			}
		}
		w.send(withLevel(2, "null"))
		if out := w.taken(); len(out) != 1 {
			t.Errorf("without a level the client got %q, want no log messages", out)
		}
		for _, level := range []string{`"loud"`, `7`, `""`, `{}`} {
			w.send(withLevel(3, level))
			if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
				t.Errorf("the level %s got %+v, want that it is refused with -32602", level, m)
			}
		}
		w.send(asked(4, "logging/setLevel", bothMetas, `"level":"info"`))
		if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeMethodNotFound {
			t.Errorf("logging/setLevel got %+v, want an unknown method", m)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestSetLevelRefusesInvalidLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := opened(t, t.Context(), withTool(t, mcpserver.Options{Logging: true}, "tool", logAll))
		for _, params := range []string{`{"level":"loud"}`, `{"level":7}`, `{}`, `{"level":null}`} {
			w.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":` + params + `}`)
			if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
				t.Errorf("%s got %+v, want -32602", params, m)
			}
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestLogMessagesNeedLoggingCapability(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{}, "tool", logAll)
		w := opened(t, t.Context(), s)
		w.send(callOf(1, "tool", "{}"), withLevel(2, `"debug"`))
		if out := w.taken(); len(out) != 2 {
			t.Errorf("the server sent %q, want two answers", out)
		}
		if err := s.Log(mcp.LevelError, "", make(chan int)); err != nil {
			t.Errorf("Log returned %v, want nil without a listener", err)
		}
		w.send(setLevel("debug"))
		if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeMethodNotFound {
			t.Errorf("logging/setLevel got %+v, want an unknown method", m)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestLogMessagesPrecedeResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late func() error
		var logger *slog.Logger
		s := withTool(t, mcpserver.Options{Logging: true}, "tool",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				late = func() error { return r.Log(context.Background(), mcp.LevelError, "", "late") }
				logger = r.Logger("late")
				if string(r.Arguments) == "{}" {
					return nil, nil
				}
				go func() { _ = r.Log(context.WithoutCancel(ctx), mcp.LevelError, "part", "early") }()
				time.Sleep(time.Second) // in this time, the message starts to wait for the client
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		release := w.block()
		w.send(callOf(1, "tool", `{"early":true}`))
		time.Sleep(2 * time.Second)
		release()
		synctest.Wait()
		want := []string{
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"part","data":"early"}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`,
		}
		if out := w.taken(); !slices.Equal(out, want) {
			t.Errorf("the server sent %q, want %q", out, want)
		}
		for range 2 { // after a request with log messages, and after a request without
			if err := late(); !errors.Is(err, mcpserver.ErrAnswered) {
				t.Errorf("Log after the answer returned %v, want ErrAnswered", err)
			}
			if logger.Enabled(t.Context(), slog.LevelError) {
				t.Error("the logger is enabled after the answer, want that it is not")
			}
			logger.Error("late")
			w.send(callOf(2, "tool", `{}`))
		}
		if got := logged(t, w.taken()); len(got) > 0 {
			t.Errorf("after the answer, messages of the levels %v were sent, want none", got)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestLogErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		got := map[string]error{}
		s := withTool(t, mcpserver.Options{Logging: true}, "tool",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				got["a level that there is not"] = r.Log(ctx, "loud", "", "x")
				got["a channel"] = r.Log(ctx, mcp.LevelError, "", make(chan int))
				got["no JSON"] = r.Log(ctx, mcp.LevelError, "", json.RawMessage(`{"x":`))
				got["too much"] = r.Log(ctx, mcp.LevelError, "", strings.Repeat("x", 1<<20))
				got["no time"] = r.Log(cancelled, mcp.LevelError, "", "x")
				if err := r.Log(ctx, mcp.LevelDebug, "", make(chan int)); err != nil {
					t.Errorf("Log below the level returned %v, want nil: nothing was encoded", err)
				}
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		w.send(callOf(1, "tool", "{}"))
		if out := w.taken(); len(out) != 1 || len(got) != 5 {
			t.Errorf("the server sent %q, want the answer", out)
		}
		for what, err := range got {
			if err == nil {
				t.Errorf("Log returned nil for %s, want an error", what)
			}
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestLogOutsideRequestDoesNothing(t *testing.T) {
	r := mcpserver.RequestFrom(t.Context())
	if err := r.Log(t.Context(), mcp.LevelError, "", "x"); err != nil {
		t.Errorf("Log returned %v, want nil", err)
	}
	if l := r.Logger("x"); l.Enabled(t.Context(), slog.LevelError) {
		t.Error("the logger is enabled, want it disabled")
	}
}

func TestLoggerStopsWaitingWhenRequestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := false
		s := withTool(t, mcpserver.Options{Logging: true}, "tool",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				r.Logger("x").Error("nobody reads this") // Error has no context
				done = true
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		release := w.block()
		w.send(callOf(1, "tool", "{}"))
		if done {
			t.Error("the logger did not wait for a client that takes nothing")
		}
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if !done {
			t.Error("the logger waits on though the client has cancelled the request")
		}
		release()
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestTheLoggerIsASlogHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handlers := make(chan slog.Handler)
		over := make(chan struct{})
		s := withTool(t, mcpserver.Options{Logging: true}, "tool",
			func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				handlers <- r.Logger("test").Handler()
				<-over
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		w.send(setLevel("debug"), callOf(1, "tool", "{}"))
		w.taken()
		h := <-handlers
		err := slogtest.TestHandler(h, func() []map[string]any {
			var records []map[string]any
			for _, f := range w.taken() {
				p := logParams(t, f)
				var record map[string]any
				if err := json.Unmarshal(p.Data, &record); err != nil {
					t.Fatal(err)
				}
				if _, there := record["level"]; there {
					t.Errorf("%s has the level twice", f)
				}
				record["level"] = p.Level // the level is a member of the message
				records = append(records, record)
			}
			return records
		})
		if err != nil {
			t.Error(err)
		}
		close(over)
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

// recursive is a value that logs while slog resolves it.
type recursive struct{ logger *slog.Logger }

func (v recursive) LogValue() slog.Value {
	v.logger.Error("inner")
	return slog.StringValue("resolved")
}

func TestLoggerMapsLevelsAndEncodesAttributes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{Logging: true}, "tool",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				l := r.Logger("db").With("level", "mine").WithGroup("query")
				l.Log(ctx, slog.LevelError+5, "broken", "err", errors.New("no table"), "n", 3)
				l.Log(ctx, slog.LevelInfo+3, "v", "value", recursive{r.Logger("in")}, "channel", make(chan int))
				if l.Enabled(ctx, slog.LevelInfo-1) {
					t.Error("the logger is enabled below info, want that it is not")
				}
				return nil, nil
			})
		w := opened(t, t.Context(), s)
		w.send(callOf(1, "tool", "{}"))
		out := w.taken()
		if len(out) != 4 {
			t.Fatalf("the server sent %q, want three messages and the answer", out)
		}
		for i, want := range [][]string{
			{`"level":"critical","logger":"db"`, `"msg":"broken"`, `"level":"mine","query":{"err":"no table","n":3}`},
			{`"level":"error","logger":"in"`, `"msg":"inner"`},
			{`"level":"notice","logger":"db"`, `"value":"resolved"`, `"channel":"!ERROR:`},
		} {
			for _, part := range want {
				if !strings.Contains(out[i], part) {
					t.Errorf("message %d is %s, want %s in it", i, out[i], part)
				}
			}
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestDisabledLoggerAllocatesNothing(t *testing.T) {
	s := withTool(t, mcpserver.Options{Logging: true}, "tool",
		func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			l := r.Logger("x")
			if n := testing.AllocsPerRun(100, func() { l.DebugContext(ctx, "quiet", "n", 1) }); n > 0 {
				t.Errorf("a record below the level costs %v allocations, want none", n)
			}
			return nil, nil
		})
	synctest.Test(t, func(t *testing.T) {
		w := opened(t, t.Context(), s)
		w.send(callOf(1, "tool", "{}"))
		if m := w.reply(t); m.Error != nil {
			t.Errorf("got %+v, want a result", m)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestServerLogIsFilteredByLegacySessionLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{Logging: true}, "tool", logAll)
		quiet, loud, modern := opened(t, t.Context(), s), opened(t, t.Context(), s), serve(t, t.Context(), s)
		unconfirmed := serve(t, t.Context(), s)
		unconfirmed.send(initialize)
		quiet.send(setLevel("error"))
		loud.send(setLevel("debug"))
		modern.send(withLevel(1, `"debug"`))
		for _, w := range []*wire{quiet, loud, modern, unconfirmed} {
			w.taken()
		}
		for _, level := range allLevels[:5] {
			if err := s.Log(level, "all", level); err != nil {
				t.Error(err)
			}
		}
		if err := s.Log("loud", "", 1); err == nil {
			t.Error("Log returned nil for an unknown level, want an error")
		}
		if err := s.Log(mcp.LevelError, "", make(chan int)); err == nil {
			t.Error("Log returned nil for a channel, want an error")
		}
		synctest.Wait()
		for name, tt := range map[string]struct {
			w    *wire
			want []mcp.LoggingLevel
		}{"quiet": {quiet, allLevels[4:5]}, "loud": {loud, allLevels[:5]}, "modern": {modern,
			nil}, "unconfirmed": {unconfirmed, nil}} {
			if got := logged(t, tt.w.taken()); !slices.Equal(got, tt.want) {
				t.Errorf("the %s client got %v, want %v", name, got, tt.want)
			}
			if err := tt.w.finish(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestServerLogNeverBlocksAndReportsDroppedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{Logging: true}, "tool", logAll)
		w := opened(t, t.Context(), s)
		release := w.block()
		for i := range 1000 {
			if err := s.Log(mcp.LevelError, "", i); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // one message is being sent
		}
		release()
		synctest.Wait()
		out := w.taken()
		if len(out) != 258 || !strings.Contains(out[1], `"data":"log messages dropped: 743"`) ||
			!strings.Contains(out[257], `"data":999}`) {
			t.Errorf("%d messages were sent, the second %s, the last %s; want 258, how many were dropped, and the latest",
				len(out), out[1], out[len(out)-1])
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestHTTPLogMessagesUseStreamOfTheirRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{Logging: true}, "tool",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, r.Log(ctx, mcp.LevelError, "", "here")
			})
		w := serveWeb(t, s, nil)
		session := w.open("2025-11-25")
		p := w.post(callOf(1, "tool", "{}"), "Mcp-Session-Id", session)
		if before, after, ok := strings.Cut(p.body, `"data":"here"`); !ok || strings.Contains(before, `"id":1`) ||
			!strings.Contains(after, `"id":1`) {
			t.Errorf("the legacy client got %s, want the message before the answer", p.body)
		}
		p = w.post(withLevel(1, `"debug"`), modernHeaders("tools/call", "tool")...)
		if p.header.Get("Content-Type") != "text/event-stream" || strings.Count(p.body, `"data":"here"`) != 1 {
			t.Errorf("the modern client got %s, want the message", p.body)
		}
		p = w.post(withLevel(1, `null`), modernHeaders("tools/call", "tool")...)
		if p.header.Get("Content-Type") != "application/json" {
			t.Errorf("the modern client that wants no messages got %s, want plain JSON", p.body)
		}
		if err := s.Log(mcp.LevelError, "", "general"); err != nil {
			t.Error(err)
		}
		if m := w.stream("GET", "", "Mcp-Session-Id", session).next(); !strings.Contains(string(m.Data), "general") {
			t.Errorf("the session's stream begins with %s, want the message that waited for it", m.Data)
		}
	})
}

func TestSetLevelNeedsSessionOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, withTool(t, mcpserver.Options{Logging: true}, "tool", logAll),
			&mcpserver.HTTPOptions{Stateless: true})
		p := w.post(setLevel("error"), "Mcp-Protocol-Version", "2025-11-25")
		if p.status != http.StatusOK || !strings.Contains(p.body, "-32603") {
			t.Errorf("logging/setLevel got %d with %s, want an error", p.status, p.body)
		}
		p = w.post(callOf(1, "tool", "{}"), "Mcp-Protocol-Version", "2025-11-25")
		if n := strings.Count(p.body, mcp.NotificationMessage); n != len(allLevels)-1 {
			t.Errorf("%d messages were sent, want the messages from level info on: %s", n, p.body)
		}
	})
}

func TestUndeliveredMessagesAreResentAfterReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{Logging: true}, "tool", logAll)
		w := serveWeb(t, s, &mcpserver.HTTPOptions{NotResumable: true, KeepAlive: -1})
		session := w.open("2025-11-25")
		listener := w.stream("GET", "", "Mcp-Session-Id", session)
		// The first message fills the buffers between server and client.
		for _, data := range []string{strings.Repeat("x", 100<<10), "second", "third"} {
			must(t, s.Log(mcp.LevelError, "", data))
		}
		synctest.Wait()
		listener.leave()
		synctest.Wait()
		again := w.stream("GET", "", "Mcp-Session-Id", session)
		for _, want := range []string{"second", "third"} {
			if m := again.next(); !strings.Contains(string(m.Data), want) {
				t.Errorf("the stream brings %.80s, want the %s message", m.Data, want)
			}
		}
		again.leave()
		w.end()
	})
}
