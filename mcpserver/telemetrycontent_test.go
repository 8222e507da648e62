package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const secret = "hunter2"

// confidential returns a server whose arguments, results and errors contain a secret.
func confidential(t *testing.T, tel *telemetry.Telemetry) *mcpserver.Server {
	t.Helper()
	s := mcpserver.New(mcp.Implementation{Name: "vault", Version: "1"}, &mcpserver.Options{Telemetry: tel})
	must(t, s.AddTool(&mcp.Tool{Name: "open"},
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return toldBy("the word is %s", secret)
		}))
	must(t, s.AddTool(&mcp.Tool{Name: "break"},
		func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, &mcp.Error{Code: -5, Message: "not with " + secret}
		}))
	must(t, s.AddPrompt(&mcp.Prompt{Name: "greet"},
		func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: secret}, nil
		}))
	return s
}

// useAll makes a client call everything that a server of confidential offers. When useAll returns, client and server
// have ended.
func useAll(t *testing.T, tel *telemetry.Telemetry, w way) {
	t.Helper()
	t.Run("use", func(t *testing.T) {
		c := connect(t, confidential(t, tel), w, mcpclient.Options{Telemetry: tel})
		if _, err := c.CallTool(t.Context(), "open", map[string]string{"password": secret}); err != nil {
			t.Error(err)
		}
		if _, err := c.CallTool(t.Context(), "break", nil); err == nil {
			t.Error("the tool fails, got no error")
		}
		if _, err := c.GetPrompt(t.Context(), "greet", map[string]string{"word": secret}); err != nil {
			t.Error(err)
		}
	})
}

// bothSpans waits for the spans of client and server with each of these names, and returns all spans. It must wait
// because a server ends its span after the client has got the answer.
func bothSpans(t *testing.T, rec *telemetrytest.Recording, names ...string) []sdktrace.ReadOnlySpan {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		spans, n := rec.Spans(), 0
		for _, s := range spans {
			if slices.Contains(names, s.Name()) {
				n++
			}
		}
		if n == 2*len(names) {
			return spans
		}
		if time.Now().After(deadline) {
			t.Fatalf("spans of client and server for each of %q: got %d", names, n)
		}
	}
}

func attributesOf(s sdktrace.ReadOnlySpan) map[string]string {
	m := map[string]string{}
	for _, a := range s.Attributes() {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

// told returns all telemetry of a recording as text, except the attributes of spans.
func told(rec *telemetrytest.Recording) string {
	var b strings.Builder
	for _, m := range rec.Metrics() {
		fmt.Fprintln(&b, m)
	}
	for _, r := range rec.Logs("") {
		fmt.Fprintln(&b, r.Message, r.Attrs)
	}
	for _, s := range rec.Spans() {
		fmt.Fprintln(&b, s.Name(), s.Status().Description)
	}
	return b.String()
}

func TestTelemetryHasNoContentByDefault(t *testing.T) {
	for _, w := range everyWay(mcp.Version20241105) {
		t.Run(w.String(), func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			useAll(t, rec.Telemetry(), w)
			for _, s := range rec.Spans() {
				for key, v := range attributesOf(s) {
					if strings.Contains(v, secret) {
						t.Errorf("span %s has %s = %q", s.Name(), key, v)
					}
				}
			}
		})
	}
}

// (specification 2026-07-28, client/sampling and client/elicitation, "Security Considerations")
func TestTelemetryHasNoContentOfServerRequests(t *testing.T) {
	for _, w := range everyWay(mcp.Version20250618) {
		t.Run(w.String(), func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			t.Run("use", func(t *testing.T) {
				ask := func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					user, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
						&mcp.ElicitParams{Message: "Is it " + secret + "?", RequestedSchema: nameForm})
					if err != nil {
						return nil, err
					}
					model, err := mcpserver.RequestFrom(ctx).CreateMessage(ctx, prompt(secret))
					if err != nil {
						return nil, err
					}
					return toldBy("%s %s", user.Content["name"], said(model))
				}
				s := withTool(t, mcpserver.Options{Telemetry: rec.Telemetry()}, "ask", ask)
				o := able(answers(secret)...)
				o.Telemetry = rec.Telemetry()
				if got, want := callText(t, connect(t, s, w, o), "ask"), secret+" re: "+secret; got != want {
					t.Errorf("the tool answered %q, want %q", got, want)
				}
			})
			if all := told(rec); strings.Contains(all, secret) {
				t.Errorf("the telemetry says %s", all)
			}
			for _, s := range rec.Spans() {
				for key, v := range attributesOf(s) {
					if strings.Contains(v, secret) {
						t.Errorf("span %s has %s = %q", s.Name(), key, v)
					}
				}
			}
		})
	}
}

// TestCapturedContentIsOnlyOnSpans captures all contents except the texts of errors.
func TestCapturedContentIsOnlyOnSpans(t *testing.T) {
	for _, w := range everyWay(mcp.Version20241105) {
		t.Run(w.String(), func(t *testing.T) {
			var mu sync.Mutex
			var offered []telemetry.Content
			rec := telemetrytest.Recorder(t,
				telemetry.WithContentCapture(func(_ context.Context, c telemetry.Content) (string, bool) {
					mu.Lock()
					defer mu.Unlock()
					kept := string(c.Data)
					c.Data = bytes.Clone(c.Data)
					offered = append(offered, c)
					return kept, c.Kind != telemetry.ContentErrorMessage
				}))
			useAll(t, rec.Telemetry(), w)
			captured := 0
			for _, s := range bothSpans(t, rec, "tools/call open", "tools/call break", "prompts/get greet") {
				attrs := attributesOf(s)
				switch s.Name() {
				case "tools/call open":
					captured++
					if got := attrs["gen_ai.tool.call.arguments"]; got != `{"password":"hunter2"}` {
						t.Errorf("%v span: arguments %q", s.SpanKind(), got)
					}
					if got := attrs["gen_ai.tool.call.result"]; !strings.Contains(got, secret) || !json.Valid([]byte(got)) {
						t.Errorf("%v span: result %q", s.SpanKind(), got)
					}
				case "prompts/get greet":
					captured++
					if got := attrs["gen_ai.prompt.variable.word"]; got != secret {
						t.Errorf("%v span: variable %q, want %q", s.SpanKind(), got, secret)
					}
				}
			}
			if captured != 4 {
				t.Errorf("spans of the client and of the server: got %d, want 4", captured)
			}
			if text := told(rec); strings.Contains(text, secret) {
				t.Errorf("what is not kept is nowhere, got it in %s", text)
			}
			mu.Lock()
			defer mu.Unlock()
			kinds := map[string]int{}
			for _, c := range offered {
				kinds[fmt.Sprintf("%d of side %d, direction %v: %s %s %s", c.Kind, c.Side, c.Direction, c.Method, c.Target,
					c.Name)]++
			}
			for _, want := range []string{
				"0 of side 0, direction sent: tools/call open ", "0 of side 1, direction received: tools/call open ",
				"1 of side 0, direction sent: tools/call open ", "1 of side 1, direction received: tools/call open ",
				"2 of side 0, direction sent: prompts/get greet word", "2 of side 1, direction received: prompts/get greet word",
				"3 of side 0, direction sent: tools/call break ", "3 of side 1, direction received: tools/call break ",
			} {
				if kinds[want] == 0 {
					t.Errorf("the redactor is asked about %s, got %v", want, kinds)
				}
			}
		})
	}
}

func TestRedactorOutputIsRecordedAndTruncated(t *testing.T) {
	long := strings.Repeat("é", 8<<10)
	rec := telemetrytest.Recorder(t,
		telemetry.WithContentCapture(func(_ context.Context, c telemetry.Content) (string, bool) {
			switch c.Kind {
			case telemetry.ContentToolResult:
				panic("a redactor that breaks")
			case telemetry.ContentErrorMessage:
				return "x" + long, true
			}
			return "x" + long, true
		}))
	useAll(t, rec.Telemetry(), way{mcp.Version20260728, false})
	for _, s := range rec.Spans() {
		attrs := attributesOf(s)
		if v, ok := attrs["gen_ai.tool.call.result"]; ok {
			t.Errorf("a redactor that panics keeps nothing, got %q", v)
		}
		if v, ok := attrs["gen_ai.tool.call.arguments"]; ok && (len(v) != 8<<10-1 || !strings.HasSuffix(v, "é")) {
			t.Errorf("arguments are cut at 8 KiB, before a character: got %d bytes", len(v))
		}
		if d := s.Status().Description; s.Name() == "tools/call break" && (len(d) != 255 || !strings.HasSuffix(d, "é")) {
			t.Errorf("the description of the status is cut at 256 bytes, before a character: got %d", len(d))
		}
	}
	if n := rec.Value("mcp_client.handler.panics", "mcp.method.name", "redactor"); n != 1 {
		t.Errorf("panics of the redactor on the client's side: got %d, want 1", n)
	}
	for _, r := range rec.Logs("mcp_client.request.exception") {
		if r.Level == slog.LevelWarn && len(r.Text("exception.message")) > 256 {
			t.Errorf("the error of the record is cut at 256 bytes, got %d", len(r.Text("exception.message")))
		}
	}
}
