package browser

import (
	"slices"
	"strings"
	"testing"
)

func TestListShowsCallsAndMarksFailures(t *testing.T) {
	tab := open(t, Desktop, demoURL)
	type row struct {
		Name, Errors, Services string
		Failed, Marked         bool
	}
	rows := eval[[]row](t, tab, `[...document.querySelectorAll("#traces tbody tr")].map(r => ({
		Name: r.cells[0].innerText, Services: r.cells[1].innerText, Errors: r.cells[2].innerText, Failed: r.classList.contains("failed"),
		Marked: getComputedStyle(r.cells[0]).boxShadow !== "none"}))`)
	for title, want := range map[string]string{
		"demo: a call that succeeds": "", "demo: a tool that reports an error": "tool_error",
		"demo: a call that times out":                 "timeout",
		"demo: a server that is killed during a call": "connection_lost",
	} {
		i := slices.IndexFunc(rows, func(r row) bool { return r.Name == title })
		if i < 0 {
			t.Errorf("want %q in the list, got %+v", title, rows)
			continue
		}
		r := rows[i]
		if !strings.Contains(r.Errors, want) || r.Failed != (want != "") || r.Marked != r.Failed {
			t.Errorf("%s: want the error %q and the mark of one, got %+v", title, want, r)
		}
		if !strings.Contains(r.Services, "mcpotel-demo-server") {
			t.Errorf("%s: want client and server among the services, got %q", title, r.Services)
		}
	}
	if !slices.IsSortedFunc(eval[[]string](t, tab, `[...document.querySelectorAll("#traces time")].map(x => x.dateTime)`),
		func(a, b string) int { return strings.Compare(b, a) }) {
		t.Error("want the newest first")
	}
}

func TestTheListCanBeFiltered(t *testing.T) {
	tab := open(t, Desktop, demoURL)
	must(t, tab.Click(`input[name=errors]`))
	must(t, tab.Click(`#filter button`))
	must(t, tab.Await(`location.search.includes("errors=1") && document.querySelector("#traces")`))
	if n := eval[int](t, tab, `document.querySelectorAll("#traces tbody tr").length`); n != 3 {
		t.Errorf("errors only: want 3 traces, got %d", n)
	}
	for query, want := range map[string]int{
		"?q=gen_ai.tool.name=divide": 1, "?q=tools/call+wait": 1, "?min=250ms": 2,
		"?service=mcpotel-demo-server&errors=1&min=250": 2, "?q=nosuchthing": 0,
	} {
		must(t, tab.Go(demoURL+query))
		if n := eval[int](t, tab, `document.querySelectorAll("#traces tbody tr").length`); n != want {
			t.Errorf("%s: want %d traces, got %d", query, want, n)
		}
	}
}

// line is one span on the page of a trace.
type line struct {
	Kind, Title, Error, Service, Took string
	Top, Left, BarLeft, BarRight      float64
	ChartLeft, ChartRight             float64
	BarFill                           string
}

const lines = `[...document.querySelectorAll("details.span")].map(d => {
	const q = s => d.querySelector(s), box = q("summary .title").getBoundingClientRect(), bar = q("rect.time").getBoundingClientRect();
	const chart = q("rect.time").ownerSVGElement.getBoundingClientRect();
	return {Kind: q(".kind").innerText, Title: q(".title").innerText, Error: q(".badge.bad")?.innerText ?? "", Service: q(".from").innerText,
		Took: q(".took").innerText, Top: box.top, Left: box.left, BarLeft: bar.left, BarRight: bar.right,
		ChartLeft: chart.left, ChartRight: chart.right, BarFill: getComputedStyle(q("rect.time")).fill};
})`

func TestAClickOnATraceShowsItsWaterfall(t *testing.T) {
	tab := open(t, Desktop, demoURL)
	must(t, tab.Click(`#traces tr:has(.badge.bad) a`)) // the newest failed trace: the crash
	must(t, tab.Await(`document.querySelector("#spans")`))
	must(t, tab.Go(sceneURL(t, "times out")))
	all := eval[[]line](t, tab, lines)
	at := func(kind, title string) line {
		i := slices.IndexFunc(all, func(l line) bool { return l.Kind == kind && l.Title == title })
		if i < 0 {
			t.Fatalf("want a line %s %s, got %+v", kind, title, all)
		}
		return all[i]
	}
	caller, client, server := at("INTERNAL", "demo: a call that times out"), at("CLIENT", "tools/call wait"),
		at("SERVER", "tools/call wait")
	if caller.Top >= client.Top || client.Top >= server.Top || caller.Left >= client.Left || client.Left >= server.Left {
		t.Errorf("want caller above client above server, each further in, got %+v", all)
	}
	if client.Error != "timeout" || server.Error != "cancelled" || caller.Error != "" {
		t.Errorf("want error.type of client and server on their lines, got %+v", all)
	}
	if client.BarFill != server.BarFill || client.BarFill == caller.BarFill {
		t.Errorf("want the bars of what failed in the colour of failure, got %+v", all)
	}
	// The caller's bar does not bound the others at the right: it ends at the deadline, and the server is notified later.
	for _, l := range all {
		if l.BarRight-l.BarLeft < 1 || l.BarLeft < max(l.ChartLeft, caller.BarLeft)-1 || l.BarRight > l.ChartRight+1 {
			t.Errorf("want a bar that can be seen and lies within the trace, got %+v", l)
		}
	}
	if server.Service != "mcpotel-demo-server" || client.Service != "mcpotel-demo" {
		t.Errorf("want each span's service, got %+v", all)
	}
}

func TestASpanOpensToItsAttributes(t *testing.T) {
	tab := open(t, Desktop, sceneURL(t, "times out"))
	const attributes = `document.querySelector("details.span.failed dl.kv")`
	if eval[bool](t, tab, attributes+`.checkVisibility()`) {
		t.Error("want a span closed at first")
	}
	must(t, tab.Click("details.span.failed > summary"))
	must(t, tab.Await(attributes+`.checkVisibility()`))
	text := eval[string](t, tab, `document.querySelector("details.span.failed .inside").innerText`)
	for _, want := range []string{"mcp.method.name\ntools/call", "gen_ai.tool.name\nwait", "error.type\ntimeout",
		"network.transport\npipe", "status\nERROR"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q among what is known of the span, got:\n%s", want, text)
		}
	}
	must(t, tab.Click("details.span.failed details.more > summary"))
	must(t, tab.Await(`document.querySelector("details.span.failed details.more").innerText.includes("service.name")`))
}

func TestSpanLinkOpensTheLinkedTrace(t *testing.T) {
	from := sceneURL(t, "mcp_client.connect") // the reconnect, with a link to the lost connection
	tab := open(t, Desktop, from)
	must(t, tab.Click("details.span > summary"))
	must(t, tab.Await(`document.querySelector("ul.links a")?.checkVisibility()`))
	must(t, tab.Click("ul.links a"))
	must(t, tab.Await(`location.href.split("#")[0] !== `+quoted(from)+` && document.querySelector("details.span:target")`))
	must(t, tab.Await(`document.querySelector("details.span:target").open`))
	if title := eval[string](t, tab,
		`document.querySelector("details.span:target .title").innerText`); title != "mcp_client.connect" {
		t.Errorf("want the first attempt to connect, got %q", title)
	}
	if back := eval[string](t, tab,
		`document.querySelector("details.span:target ul.links").innerText`); !strings.Contains(back,
		"from mcp_client.connect") {
		t.Errorf("want the link back, got %q", back)
	}
}

func TestLogsOfATraceAreListedBelowItInOrder(t *testing.T) {
	tab := open(t, Desktop, sceneURL(t, "killed"))
	type record struct {
		Level, Text, Span, Time string
		Top                     float64
	}
	all := eval[[]record](t, tab, `[...document.querySelectorAll("#logs .log")].map(d => ({
		Level: d.querySelector(".badge").innerText, Text: d.querySelector(".text").innerText, Span: d.querySelector("a.of")?.innerText ?? "",
		Time: d.querySelector("time").dateTime, Top: d.getBoundingClientRect().top}))`)
	spans := eval[float64](t, tab, `document.querySelector("#spans").getBoundingClientRect().bottom`)
	i := slices.IndexFunc(all, func(r record) bool { return strings.HasPrefix(r.Text, "mcp_client.request.exception") })
	if i < 0 {
		t.Fatalf("want the record of the failed call, got %+v", all)
	}
	if r := all[i]; r.Level != "WARN" || r.Span != "tools/call crash" || r.Top < spans {
		t.Errorf("want a warning that leads to its span, below the spans (%v), got %+v", spans, r)
	}
	if !slices.IsSortedFunc(all, func(a, b record) int { return strings.Compare(a.Time, b.Time) }) {
		t.Errorf("want them by time, got %+v", all)
	}
	must(t, tab.Click("#logs a.of"))
	must(t, tab.Await(`document.querySelector("details.span:target")?.open`))
}

func TestAnExemplarLeadsToItsTrace(t *testing.T) {
	tab := open(t, Desktop, demoURL+"metrics?q=error.type%3Dtimeout")
	must(t, tab.Await(`document.querySelector("tr.failed td a")`))
	text := eval[string](t, tab, `document.querySelector("tr.failed").innerText`)
	for _, want := range []string{"timeout", "wait"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in the row, got %q", want, text)
		}
	}
	must(t, tab.Click("tr.failed td a"))
	must(t, tab.Await(`document.querySelector("details.span:target.failed")?.open`))
}
