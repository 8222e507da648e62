package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/slogtest"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

func inSpan(ctx context.Context) context.Context {
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{0: 0xaa}, SpanID: trace.SpanID{0: 0xbb},
	}))
}

func TestConsoleLinesEndWithSpanIDs(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(newConsole(&b, slog.LevelInfo, false, false))
	log.InfoContext(inSpan(t.Context()), "in a span", "k", "v")
	log.Info("in none")
	lines := strings.Split(b.String(), "\n")
	want := "INF in a span k=v trace_id=aa000000000000000000000000000000 span_id=bb00000000000000"
	if !strings.HasSuffix(lines[0], want) {
		t.Errorf("line = %q, want it to end with %q", lines[0], want)
	}
	if !strings.HasSuffix(lines[1], "INF in none") {
		t.Errorf("line = %q, want it to end with its message", lines[1])
	}
}

func TestLinesOfATerminalAreShort(t *testing.T) {
	for level, want := range map[slog.Level]string{
		slog.LevelInfo: `WRN mcp_client.request.exception client=weather tool=forecast error="no answer" mine=1 ` +
			`trace_id=aa000000000000000000000000000000`,
		slog.LevelDebug: `mcp_client.name=weather mcp_client.duration=0.1235 gen_ai.tool.name=forecast ` +
			`exception.message="no answer" mine=1 trace_id=aa000000000000000000000000000000 span_id=bb00000000000000`,
	} {
		var b bytes.Buffer
		slog.New(newConsole(&b, level, true, false)).WarnContext(inSpan(t.Context()), "mcp_client.request.exception",
			names.KeyMCPClientName, "weather", "mcp_client.duration", 0.123456, names.KeyGenAIToolName, "forecast",
			names.KeyExceptionMessage, "no answer", "mine", 1)
		if !strings.HasSuffix(b.String(), want+"\n") {
			t.Errorf("%v: line = %q, want it to end with %q", level, b.String(), want)
		}
	}
}

func TestTraceIDsAreOutsideGroups(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(telemetry.NewTraceHandler(slog.NewJSONHandler(&b, nil)))
	log = log.With("a", 1).WithGroup("g").With("b", 2).WithGroup("").WithGroup("h").With("c", 3)
	log.InfoContext(inSpan(t.Context()), "m", "d", 4)
	got := parse(t, b.Bytes())
	delete(got, slog.TimeKey)
	want := map[string]any{
		"level": "INFO", "msg": "m", "a": 1.0,
		"g":        map[string]any{"b": 2.0, "h": map[string]any{"c": 3.0, "d": 4.0}},
		"trace_id": "aa000000000000000000000000000000", "span_id": "bb00000000000000",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestLoggersOfOneParentDoNotShareAttributes(t *testing.T) {
	var b bytes.Buffer
	parent := slog.New(telemetry.NewTraceHandler(slog.NewJSONHandler(&b, nil))).WithGroup("g").With("a", 1)
	one, two := parent.With("b", 2), parent.With("c", 3)
	one.Info("m")
	want := map[string]any{"a": 1.0, "b": 2.0}
	if diff := cmp.Diff(want, parse(t, b.Bytes())["g"]); diff != "" {
		t.Errorf("record of the first (-want +got):\n%s", diff)
	}
	b.Reset()
	two.Info("m")
	want = map[string]any{"a": 1.0, "c": 3.0}
	if diff := cmp.Diff(want, parse(t, b.Bytes())["g"]); diff != "" {
		t.Errorf("record of the second (-want +got):\n%s", diff)
	}
}

func TestLoggerGroupsOfOneParentStaySeparate(t *testing.T) {
	var b bytes.Buffer
	parent := slog.New(telemetry.NewTraceHandler(slog.NewJSONHandler(&b, nil))).WithGroup("1").WithGroup("2").
		WithGroup("3")
	one := parent.WithGroup("one")
	parent.WithGroup("two")
	one.Info("m", "k", "v")
	if !strings.Contains(b.String(), `{"one":{"k":"v"}}`) {
		t.Errorf("record = %s, want its attribute in group one", b.String())
	}
}

func TestTraceHandlerPassesSlogtest(t *testing.T) {
	var b bytes.Buffer
	slogtest.Run(t,
		func(*testing.T) slog.Handler {
			b.Reset()
			return telemetry.NewTraceHandler(slog.NewJSONHandler(&b, nil))
		},
		func(t *testing.T) map[string]any { return parse(t, b.Bytes()) })
}

func parse(t *testing.T, b []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// A stringer hides its text from a handler that checks only strings.
type stringer struct{ text string }

func (s stringer) String() string { return s.text }

type marshaler struct{ text string }

func (m marshaler) MarshalText() ([]byte, error) { return []byte(m.text), nil }

func TestPeerTextsCannotControlTerminal(t *testing.T) {
	hostile := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{
			"\x1b[2J", "\x1b]0;title\x07", `\x1b[2J with a space`, `\\x1b[2J "quoted"`, "\u009b31m", "line\r\nforged", "\x7f",
			`\x1b`,
		}),
		rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{`\`, "x1b", "\x1b", "[", "2J", " ", `"`, "=", "x"})),
			func(s []string) string { return strings.Join(s, "") }),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := hostile.Draw(t, "text")
		for _, colour := range []bool{false, true} {
			want, got := controls(colour, "benign"), controls(colour, text)
			if got != want {
				t.Errorf("colour %v: %q puts %q on the terminal, want only the console's own %q", colour, text, got, want)
			}
		}
	})
}

// controls logs text in every possible place, and returns the control characters in the output.
func controls(colour bool, text string) string {
	var b bytes.Buffer
	slog.New(newConsole(&b, slog.LevelInfo, colour, colour)).With("with", text).WithGroup("g").Warn("message "+text,
		"string", text, "error", errors.New(text), "stringer", stringer{text}, "marshaler", marshaler{text},
		"bytes", []byte(text), "slice", []string{text}, "map", map[string]string{text: text}, "k"+text, 1,
		slog.Group("group", "inner", text), "wrapped", fmt.Errorf("x: %w", errors.New(text)))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return r
		}
		return -1
	}, b.String())
}

func TestOrdinaryValuesStayUnchanged(t *testing.T) {
	var b bytes.Buffer
	slog.New(newConsole(&b, slog.LevelInfo, false, false)).Error("m", "s", "two words", "i", 1,
		"err", errors.New("no route"), "b", []byte("x"))
	if want := `ERR m s="two words" i=1 err="no route" b="x"` + "\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("line = %q, want it to end with %q", b.String(), want)
	}
}

func TestOnlyTerminalsGetColour(t *testing.T) {
	none := func(string) string { return "" }
	if colourful(new(bytes.Buffer), none) {
		t.Error("a buffer gets colour, want none")
	}
	f, err := os.CreateTemp(t.TempDir(), "console")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if colourful(f, none) {
		t.Error("a file gets colour, want none")
	}
}
