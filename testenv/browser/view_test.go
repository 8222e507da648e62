package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// viewer is a running "mcpotel view".
type viewer struct{ page, otlp string }

func view(t *testing.T, args ...string) viewer {
	t.Helper()
	p, err := Run(mcpotel, append([]string{"view", "--grpc=127.0.0.1:0", "--http=127.0.0.1:0", "--web=127.0.0.1:0"},
		args...)...)
	must(t, err)
	t.Cleanup(func() { must(t, p.Stop()) })
	m, err := p.Await(`(?s)(?:are|is|up) at (http\S+/)\S*\n.*ENDPOINT=(\S+) ` +
		`OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf.*Ctrl-C`)
	must(t, err)
	return viewer{m[1], m[2]}
}

// span is a span in OTLP's JSON.
type span struct {
	TraceID    string `json:"traceId"`
	SpanID     string `json:"spanId"`
	ParentID   string `json:"parentSpanId,omitempty"`
	Name       string `json:"name"`
	Kind       int    `json:"kind"`
	Start      string `json:"startTimeUnixNano"`
	End        string `json:"endTimeUnixNano"`
	Attributes []any  `json:"attributes,omitempty"`
}

func newSpan(id, parent int, name string) span {
	start := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC).Add(time.Duration(id) * time.Millisecond)
	s := span{
		TraceID: strings.Repeat("ab", 16), SpanID: fmt.Sprintf("%016x", id), Name: name, Kind: 1,
		Start: fmt.Sprint(start.UnixNano()), End: fmt.Sprint(start.Add(time.Second).UnixNano()),
	}
	if parent > 0 {
		s.ParentID = fmt.Sprintf("%016x", parent)
	}
	return s
}

// send exports spans of a service, as an SDK does over HTTP.
func (v viewer) send(t *testing.T, service string, spans ...span) {
	t.Helper()
	text := func(s string) map[string]any { return map[string]any{"stringValue": s} }
	raw, err := json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{
		"resource":   map[string]any{"attributes": []any{map[string]any{"key": "service.name", "value": text(service)}}},
		"scopeSpans": []any{map[string]any{"spans": spans}},
	}}})
	must(t, err)
	answer, err := http.Post(v.otlp+"/v1/traces", "application/json", bytes.NewReader(raw))
	must(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(answer.Body)
		t.Fatalf("export: want 200, got %d %s", answer.StatusCode, body)
	}
}

func attribute(key, value string) any {
	return map[string]any{"key": key, "value": map[string]any{"stringValue": value}}
}

func TestPagesShowNewTelemetry(t *testing.T) {
	v := view(t)
	list := open(t, Desktop, v.page)
	if text := eval[string](t, list, `document.querySelector(".empty").innerText`); !strings.Contains(text, v.otlp) {
		t.Errorf("want an empty list to say where to export to, %s, got %q", v.otlp, text)
	}
	v.send(t, "shop", newSpan(2, 1, "child"))
	must(t, list.Await(`document.querySelector("#traces")?.innerText.includes("root missing")`))

	must(t, list.Click("#traces a"))
	must(t, list.Await(`document.querySelector(".gap")?.innerText.includes("missing parent")`))
	must(t, list.Click("details.span > summary"))
	must(t, list.Await(`document.querySelector("details.span").open`))
	v.send(t, "shop", newSpan(1, 0, "root"), newSpan(3, 2, "grandchild"))
	must(t, list.Await(`document.querySelectorAll("details.span").length === 3 && !document.querySelector(".gap")`))
	if open := eval[string](t, list,
		`[...document.querySelectorAll("details.span[open] .title")].map(x => x.innerText).join()`); open != "child" {
		t.Errorf("want the span that was open still open, and no other, got %q", open)
	}
	if title := eval[string](t, list, `document.title`); !strings.HasPrefix(title, "root") {
		t.Errorf("want the title to follow, got %q", title)
	}
}

func TestThePagesNeedNoScript(t *testing.T) {
	tab, err := chromium.Open(Desktop)
	must(t, err)
	defer tab.Close()
	_, err = chromedp.Call(tab.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	must(t, err)
	must(t, tab.Go(sceneURL(t, "killed")))
	must(t, tab.Click("details.span.failed > summary")) // details elements need no script
	text := eval[string](t, tab, `document.querySelector("details.span.failed").innerText`)
	if !strings.Contains(text, "gen_ai.tool.name\ncrash") {
		t.Errorf("want the attributes of the span that was clicked on, got %q", text)
	}
	if eval[bool](t, tab, `document.getElementById("live").checkVisibility()`) {
		t.Error("want no claim to be live")
	}
}

func TestTelemetryCannotInjectScripts(t *testing.T) {
	v := view(t)
	evil := newSpan(1, 0, `<script>document.title="owned"</script>`)
	evil.Attributes = []any{
		attribute(`<img src=x onerror="document.title='owned'">`, `"><svg onload=alert(1)>`),
		attribute("javascript:alert(1)", "</dd></details><script>alert(1)</script>"),
		attribute("control", "a\u0000\u001b[31m\u202egnp.exe\u0007"),
		attribute("style", `</style><style>*{display:none}</style>`),
		attribute("large", strings.Repeat("x", 1<<20)),
	}
	v.send(t, `</option></select><script>alert(1)</script>`, evil)
	for _, path := range []string{"", "trace/" + evil.TraceID, "metrics", "logs", `?q="><script>alert(1)</script>`} {
		tab := open(t, Phone, v.page+path)
		eval[any](t, tab, openAll)
		if n := eval[int](t, tab, `document.querySelectorAll("main script, main img, main style, main `+
			`svg[onload]").length`); n > 0 {
			t.Errorf("%s: want no element from data, got %d", path, n)
		}
		if title := eval[string](t, tab, `document.title`); title == "owned" {
			t.Errorf("%s: a script from data has run", path)
		}
		if size := eval[int](t, tab, `document.documentElement.outerHTML.length`); size > 200_000 {
			t.Errorf("%s: want a page of bounded size, got %d characters", path, size)
		}
		if w := eval[int](t, tab, `document.documentElement.scrollWidth`); w > 360 {
			t.Errorf("%s: want no page made wide by data, got %d", path, w)
		}
	}
	tab := open(t, Desktop, v.page+"trace/"+evil.TraceID)
	if text := eval[string](t, tab, `document.querySelector("main").textContent`); !strings.Contains(text,
		"␛[31m\uFFFDgnp.exe␇") || !strings.Contains(text, "1048576 bytes in all") {
		t.Errorf("want control characters seen, and the length of what is cut")
	}
}

func TestPageOfALargeTraceStaysUsable(t *testing.T) {
	v := view(t)
	spans := []span{newSpan(1, 0, "root")}
	for i := 2; i <= 10_000; i++ {
		spans = append(spans, newSpan(i, max(i/3, 1), fmt.Sprintf("span %d", i)))
	}
	v.send(t, "large", spans...)
	tab := open(t, Desktop, v.page+"trace/"+spans[0].TraceID)
	if n := eval[int](t, tab, `document.querySelectorAll("details.span").length`); n != 1000 {
		t.Errorf("want a thousand spans drawn, got %d", n)
	}
	if text := eval[string](t, tab, `document.querySelector("main").innerText`); !strings.Contains(text,
		"9000 spans of 10000 not shown") {
		t.Error("want it said how many are not")
	}
}
