package browser

import (
	"encoding/json"
	"strings"
	"testing"
)

// troubled runs a process with clients in every state and returns the URL of its debug page.
func troubled(t *testing.T) string {
	t.Helper()
	p, url, err := Trouble(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("the process in trouble: %v", err)
		}
	})
	return url
}

// rowOf returns a row of a table of clients or servers, by the name in it: its text and its marks.
const rowOf = `(name => {
	const row = [...document.querySelectorAll("table.list tr")].find(r => r.querySelector("td.name a")?.textContent === name);
	return row && {Text: row.innerText.replace(/\s+/g, " ").trim(), Red: getComputedStyle(row.cells[0]).boxShadow !== "none", Href: row.querySelector("a").href};
})`

type row struct {
	Text, Href string
	Red        bool
}

// A reader opens the page because something is wrong. The page must show which clients are in trouble and why, which
// calls are in flight and for how long, which tool fails, what happened last, and where the trace is.
func TestTheDebugPageSaysWhatIsWrong(t *testing.T) {
	url := troubled(t)
	tab := open(t, Desktop, url)
	for name, want := range map[string]struct {
		parts []string
		red   bool
	}{
		"mail":     {[]string{"gave up", "EOF"}, true},
		"calendar": {[]string{"backoff", "EOF", "50.0 %"}, true},
		"search":   {[]string{"initializing", "1 waiting"}, true},
		"weather":  {[]string{"ready", "weather 2.4.1 2026-07-28", " 5 "}, false},
		"archive":  {[]string{"ready", "2025-11-25", " 41 0 %"}, false},
	} {
		got := eval[row](t, tab, rowOf+"(%q)", name)
		for _, part := range want.parts {
			if !strings.Contains(got.Text, part) {
				t.Errorf("%s: want %q in its row, got %q", name, part, got.Text)
			}
		}
		if got.Red != want.red {
			t.Errorf("%s: want its row marked red: %v, got %v", name, want.red, got.Red)
		}
	}
	weather := eval[row](t, tab, rowOf+`("weather")`)
	must(t, tab.Go(weather.Href))
	text := eval[string](t, tab, `document.querySelector("main").innerText.replace(/\s+/g, " ")`)
	for _, part := range []string{"Ready for", "tools/call radar", "tool_error ×", "timeout × 2", "in flight", "climate"} {
		if !strings.Contains(text, part) {
			t.Errorf("want %q on the page of the client, got %q", part, text)
		}
	}
	if trace := eval[string](t, tab, `document.querySelector("table.calls a").href`); !strings.HasPrefix(trace,
		"http://localhost:16686/trace/") || len(trace) != 61 {
		t.Errorf("want a link to the trace of a call, got %q", trace)
	}
	if n := eval[int](t, tab, `document.querySelectorAll("main script, main img").length`); n != 0 ||
		!strings.Contains(text, "<script>alert(1)</script>") {
		t.Errorf("want the name of the hostile tool as text, got %d elements of it and %q", n, text)
	}
	raw := eval[string](t, tab, `fetch(document.querySelector("#lead a").href).then(r => r.text())`)
	var one struct{ Name, State string }
	if err := json.Unmarshal([]byte(raw), &one); err != nil || one.Name != "weather" || one.State != "ready" {
		t.Errorf("want the same as JSON, got %v and %.200s", err, raw)
	}
}

// The page updates itself, and keeps open elements open.
func TestTheDebugPageRefreshesItself(t *testing.T) {
	tab := open(t, Desktop, eval[row](t, open(t, Desktop, troubled(t)), rowOf+`("weather")`).Href)
	eval[any](t, tab, `window.untouched = true; document.querySelector("#older").open = true; window.first = `+
		`document.querySelector("#lead").innerText`)
	must(t, tab.Await(`document.querySelector("#lead").innerText !== window.first`))
	if !eval[bool](t, tab, `window.untouched && document.querySelector("#older").open`) {
		t.Error("want the page to be the same one, and what was open to be open still")
	}
}

func TestDebugPageIsReadableOnAPhoneAndAccessible(t *testing.T) {
	url := troubled(t)
	tab := open(t, Desktop, url)
	server := eval[row](t, tab, rowOf+`("weather")`)
	addresses := map[string]string{"overview": url, "client": server.Href}
	addresses["server"] = eval[string](t, tab, `document.querySelector("table.servers a").href`)
	for name, address := range addresses {
		phone := open(t, Phone, address)
		eval[any](t, phone, openAll)
		if w := eval[[2]int](t, phone, `[document.documentElement.scrollWidth, screen.width]`); w[0] > w[1] {
			t.Errorf("%s: want a page no wider than the screen of %d pixels, got %d", name, w[1], w[0])
		}
		checkAccess(t, open(t, Desktop, address), name)
	}
}
