package waterfall

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

var t0 = time.Date(2026, 7, 28, 9, 0, 0, 0, time.UTC)

const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

// span returns a span of the tests' trace; from and to are in microseconds.
func span(id, parent, service, kind, name string, from, to int, attrs ...any) Span {
	s := Span{
		TraceID: traceID, ID: id, ParentID: parent, Service: service, Kind: kind, Name: name,
		Start: t0.Add(time.Duration(from) * time.Microsecond), End: t0.Add(time.Duration(to) * time.Microsecond),
		Attributes: make(map[string]any),
	}
	for i := 0; i < len(attrs); i += 2 {
		s.Attributes[attrs[i].(string)] = attrs[i+1]
	}
	_, s.Error = s.Attributes["error.type"]
	return s
}

func agentTrace() []Span {
	const agent, weather = "demo-agent", "weather-server"
	second := span("00f067aa0ba902b7", "a1", agent, "CLIENT", "tools/call forecast", 9_100, 17_900,
		"mcp.method.name", "tools/call", "gen_ai.tool.name", "forecast", "jsonrpc.request.id", "8",
		"mcp_client.corr_id", "5be1f00d9c3c4c8e8f1a2b3c4d5e6f70", "network.transport", "pipe",
		"mcp.protocol.version", "2026-07-28", "error.type", "tool_error")
	second.Links = []Link{{traceID, "b1"}, {"0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"}}
	return []Span{
		span("a1", "", agent, "INTERNAL", "agent turn", 0, 18_200),
		span("b1", "a1", agent, "CLIENT", "tools/call lookup", 400, 8_900,
			"mcp.method.name", "tools/call", "gen_ai.tool.name", "lookup", "jsonrpc.request.id", int64(7),
			"mcp_client.corr_id", "3f2a91bc9c3c4c8e8f1a2b3c4d5e6f70", "network.transport", "pipe"),
		span("c1", "b1", weather, "SERVER", "tools/call lookup", 1_200, 8_500,
			"mcp.method.name", "tools/call", "gen_ai.tool.name", "lookup", "network.transport", "pipe"),
		span("d1", "c1", weather, "CLIENT", "GET", 1_300, 3_900, "http.request.method", "GET"),
		span("d2", "c1", weather, "CLIENT", "GET", 4_000, 8_400, "http.request.method", "GET"),
		second,
		span("c2", "00f067aa0ba902b7", weather, "SERVER", "tools/call forecast", 9_600, 17_750,
			"mcp.method.name", "tools/call", "gen_ai.tool.name", "forecast", "error.type", "tool_error",
			"rpc.response.status_code", "-32603"),
	}
}

func oddTrace() []Span {
	return []Span{
		span("1", "feedfacecafebeef", "here", "CLIENT", "ping", 1_000, 9_000),
		span("2", "feedfacecafebeef", "here", "CLIENT", "ping", 2_000, 3_000),
		span("3", "1", "there", "SERVER", "ping, clock ahead", 30_000, 33_000),
		span("4", "1", "there", "SERVER", "ping, clock behind", -20_000, -18_000),
		span("5", "4", "there", "INTERNAL", "work in the past", -19_500, -19_000),
		span("6", "1", "there", "SERVER", "listen", 2_000, 60_000),
		span("7", "1", "here", "INTERNAL", "own child may be late", 8_000, 12_000),
		span("8", "9", "here", "INTERNAL", "loop one", 4_000, 5_000),
		span("9", "8", "here", "INTERNAL", "loop two", 5_000, 6_000),
		span("10", "9", "here", "INTERNAL", "below the loop", 3_500, 5_500),
		span("11", "11", "here", "INTERNAL", "own parent", 6_000, 6_000),
		span("12", "", "", "INTERNAL", "ends before it starts", 7_000, 6_500),
	}
}

func hostileTrace() []Span {
	esc := "\x1b[2J\x1b]0;owned\x07\r\nfake line\u202e\u009b31m"
	s := span("1", "", "svc"+esc, "KIND"+esc, "tools/call "+esc, 0, 1_000, "error.type", esc, "gen_ai.tool.name", esc)
	s.Links = []Link{{esc, esc}, {traceID, "2"}, {}, {}, {}, {}}
	wide := span("2", "1", "天気サーバー", "SERVER", "tools/call 今日の天気を教えてください、できるだけ詳しく 🌦️🌦️🌦️", 100, 900,
		"gen_ai.tool.name", "今日の天気を教えてください、できるだけ詳しく、そして明日の天気も教えてください、それから明後日の天気も")
	zalgo := span("3", "2", "\xff\xfe", "SERVER", "z"+strings.Repeat("\u0301", 10_000)+"algo", 200, 300)
	return []Span{s, wide, zalgo}
}

func deepTrace() []Span {
	var spans []Span
	for i := range 24 {
		parent := ""
		if i > 0 {
			parent = fmt.Sprint(i - 1)
		}
		spans = append(spans, span(fmt.Sprint(i), parent, "deep", "INTERNAL", fmt.Sprintf("level %d", i), i*100,
			10_000-i*100))
	}
	return append(spans, span("side", "7", "deep", "INTERNAL", "beside level 8", 900, 9_000))
}

var traces = map[string][]Span{
	"agent":   agentTrace(),
	"odd":     oddTrace(),
	"hostile": hostileTrace(),
	"deep":    deepTrace(),
	"empty":   nil,
}

func TestRenderMatchesGoldenFiles(t *testing.T) {
	for name, spans := range traces {
		for _, width := range []int{60, 80, 120, 200} {
			compare(t, fmt.Sprintf("%s_%d", name, width), spans, Options{Width: width})
		}
		compare(t, name+"_ascii", spans, Options{ASCII: true})
		compare(t, name+"_color", spans, Options{Width: 100, Color: true})
	}
}

func compare(t *testing.T, name string, spans []Span, opts Options) {
	t.Run(name, func(t *testing.T) {
		got := render(t, spans, opts)
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("the output differs from %s (run with -update if the change is intended)\ngot:\n%s\nwant:\n%s", file, got,
				want)
		}
	})
}

func render(t *testing.T, spans []Span, opts Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, spans, opts); err != nil {
		t.Fatalf("Render: %v", err)
	}
	return b.String()
}
