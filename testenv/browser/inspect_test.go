package browser

import (
	"fmt"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// inspecting starts "mcpotel inspect" and opens the address that it prints.
func inspecting(t *testing.T, server ...string) (*Tab, string) {
	t.Helper()
	p, address, err := Inspect(mcpotel, server...)
	must(t, err)
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("want the command to end well, got %v", err)
		}
	})
	tab := open(t, Desktop, address)
	u, err := url.Parse(address)
	must(t, err)
	must(t, tab.Await(`document.querySelector(".state .good")`))
	return tab, "http://" + u.Host
}

// fill sets the values of fields by their names, and clicks on a button.
func fill(t *testing.T, tab *Tab, button string, fields ...string) {
	t.Helper()
	for i := 0; i < len(fields); i += 2 {
		eval[any](t, tab, `document.getElementsByName(%q)[0].value = %q`, fields[i], fields[i+1])
	}
	must(t, tab.Click(fmt.Sprintf("button[value=%q]", button)))
}

// shows waits until the page has a text.
func shows(t *testing.T, tab *Tab, text string) {
	t.Helper()
	if err := tab.Await(fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, text)); err != nil {
		t.Fatalf("%v; the page has %s", err, eval[string](t, tab, `document.querySelector("main").innerText`))
	}
}

// waterfall waits until the page has a span of each kind.
func waterfall(t *testing.T, tab *Tab, spans ...string) {
	t.Helper()
	for _, s := range spans {
		kind, title, _ := strings.Cut(s, " ")
		must(t, tab.Await(fmt.Sprintf(`[...document.querySelectorAll("#spans details.span")].some(d =>
			d.querySelector(".kind").innerText === %q && d.querySelector(".title").innerText === %q)`, kind, title)))
	}
}

func TestServerIsUsedOnThePage(t *testing.T) {
	tab, site := inspecting(t, mcpotel, "serve-demo")
	must(t, tab.Go(site+"/tools"))
	must(t, tab.Click(`a[href="/tool?name=forecast"]`))
	must(t, tab.Await(`document.getElementsByName("/city").length`))
	fill(t, tab, "run", "/city", "Oslo", "/days", "2")
	shows(t, tab, "matches the output schema")
	waterfall(t, tab, "CLIENT tools/call forecast", "SERVER tools/call forecast")
	must(t, tab.Await(`["sent", "received"].every(w => [...document.querySelectorAll("details.fold .badge")].some(b => b.innerText === w))`))

	must(t, tab.Go(site+"/tool?name=show"))
	fill(t, tab, "run")
	must(t, tab.Await(`[...document.images].some(i => i.complete && i.naturalWidth > 0)`))

	must(t, tab.Go(site+"/tool?name=order"))
	fill(t, tab, "run")
	shows(t, tab, "The server asks")
	fill(t, tab, "accept", "/name", "Ada")
	shows(t, tab, "for Ada")

	must(t, tab.Go(site+"/tool?name=wait"))
	fill(t, tab, "run", "/seconds", "60")
	shows(t, tab, "Cancel the call")
	must(t, tab.Click(`form[action$="/cancel"] button`))
	shows(t, tab, "cancelled on the page")

	must(t, tab.Go(site+"/tool?name=divide"))
	fill(t, tab, "run", "/a", "1", "/b", "0")
	shows(t, tab, "tool error")
	shows(t, tab, "Why")

	must(t, tab.Go(site+"/resources?uri=demo://pixel"))
	fill(t, tab, "read")
	must(t, tab.Await(`[...document.images].some(i => i.complete && i.naturalWidth > 0)`))
	must(t, tab.Go(site+"/resources"))
	must(t, tab.Click(`a[href^="/template"]`))
	must(t, tab.Await(`document.getElementsByName("/city").length`))
	fill(t, tab, "run", "/city", "Oslo")
	shows(t, tab, "demo://forecast/Oslo")
	must(t, tab.Go(site+"/prompt?name=pack"))
	fill(t, tab, "complete /city", "/city", "O")
	shows(t, tab, "The server suggests")
	fill(t, tab, "run", "/city", "Oslo")
	shows(t, tab, "Oslo")
}

// serverPID returns the process id of the server from the page of the connection, on which tab is.
func serverPID(t *testing.T, tab *Tab) int {
	t.Helper()
	pid := eval[int](t, tab, `Number([...document.querySelectorAll("dt")].find(d => d.innerText === "process")?.nextSibling.innerText ?? 0)`)
	if pid <= 1 {
		t.Fatalf("want the process id of the server, got %d", pid)
	}
	return pid
}

func TestConnectionComesBackAfterKill(t *testing.T) {
	tab, site := inspecting(t, mcpotel, "serve-demo")
	must(t, tab.Go(site+"/"))
	first := serverPID(t, tab)
	must(t, syscall.Kill(first, syscall.SIGKILL))
	must(t, tab.Await(fmt.Sprintf(`document.querySelector(".state .good") && document.body.innerText.includes("backoff") &&
		!document.querySelector("dl").innerText.includes(%q)`, fmt.Sprint(first))))
	must(t, tab.Go(site+"/tool?name=forecast"))
	fill(t, tab, "run", "/city", "Oslo")
	shows(t, tab, "matches the output schema")
}

// A click takes longer than an update of the page may take.
func TestClickSurvivesUpdatesOfThePage(t *testing.T) {
	tab, site := inspecting(t, mcpotel, "serve-demo")
	use(t, tab, site, "wait", "/seconds", "60")
	shows(t, tab, "Cancel the call")
	at := eval[[2]float64](t, tab, `(() => {
		const box = document.querySelector("form[action$='/cancel'] button").getBoundingClientRect();
		return [box.left + box.width / 2, box.top + box.height / 2];
	})()`)
	mouse := func(kind input.DispatchMouseEventType) {
		t.Helper()
		_, err := chromedp.Call(tab.ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{
			Type: kind, X: at[0], Y: at[1], Button: input.MouseButtonLeft, ClickCount: 1,
		})
		must(t, err)
	}
	mouse("mousePressed")
	fetched := `performance.getEntriesByType("resource").filter(e => e.initiatorType === "fetch").length`
	must(t, tab.Await(fmt.Sprintf("%s > %d", fetched, eval[int](t, tab, "%s", fetched)+2)))
	mouse("mouseReleased")
	shows(t, tab, "cancelled on the page")
}
