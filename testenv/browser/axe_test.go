package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axe returns the source of axe-core, which testenv/servers/install installs.
var axe = sync.OnceValues(func() (string, error) {
	raw, err := os.ReadFile(os.Getenv("MCPOTEL_SERVERS") + "/axe/node_modules/axe-core/axe.min.js")
	if err != nil {
		err = fmt.Errorf("run testenv/servers/install, and set MCPOTEL_SERVERS to the printed directory: %w", err)
	}
	return string(raw), err
})

// audit runs all rules of axe-core that are not experimental. Rule target-size is off by default, and duplicate-id too.
const audit = `axe.run(document, {rules: {"target-size": {enabled: true}, "duplicate-id": {enabled: true}}, resultTypes: ["violations"]}).then(r => ({
	Passes: r.passes.length,
	Violations: r.violations.flatMap(v => v.nodes.map(n => [v.impact, v.id, n.target.join(" "), n.html.slice(0, 200), n.failureSummary].join(" | ")))}))`

// checkAccess checks the page of a tab with axe-core, in the light and in the dark colour scheme and on a phone, with all
// parts open. The developer tools run axe-core, so the content security policy of the page does not apply to it.
func checkAccess(t *testing.T, tab *Tab, name string) {
	t.Helper()
	source, err := axe()
	must(t, err)
	eval[any](t, tab, "window.fetch = () => new Promise(() => {}); 0") // the page no longer updates
	eval[any](t, tab, "%s; %s; 0", source, openAll)
	for _, look := range []string{"light", "dark", "phone"} {
		must(t, tab.prefer(look))
		type result struct {
			Passes     int
			Violations []string
		}
		r := eval[result](t, tab, "%s", audit)
		if r.Passes < 10 {
			t.Errorf("%s, %s: want rules that apply to the page, got %d", name, look, r.Passes)
		}
		for _, v := range r.Violations {
			t.Errorf("%s, %s: %s", name, look, strings.ReplaceAll(v, "\n", " "))
		}
		back := eval[string](t, tab, `getComputedStyle(document.documentElement).backgroundColor`)
		if dark := back != "rgb(245, 246, 249)"; dark != (look == "dark") {
			t.Errorf("%s, %s: want the scheme that the person prefers, got a background of %s", name, look, back)
		}
	}
	must(t, tab.prefer("light"))
}

// prefer changes the look of a tab that was opened as [Desktop]: light, dark, or light on a phone.
func (t *Tab) prefer(look string) error {
	scheme := "light"
	if look == "dark" {
		scheme = look
	}
	viewport := chromedp.EmulateViewport(Desktop.Width, Desktop.Height)
	if look == "phone" {
		viewport = chromedp.EmulateViewport(390, 800, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	if err := t.do(viewport); err != nil {
		return err
	}
	_, err := chromedp.Call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	return err
}

func TestInspectPagesAreAccessible(t *testing.T) {
	tab, site := inspecting(t, mcpotel, "serve-demo")
	check := func(name string) {
		t.Helper()
		checkAccess(t, tab, name)
		if wide := eval[int](t, tab, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
			t.Errorf("%s: want no sideways scroll, got %d pixels", name, wide)
		}
	}
	use(t, tab, site, "forecast", "/city", "Oslo")
	waterfall(t, tab, "SERVER tools/call forecast")
	check("finished call")
	trace := eval[string](t, tab, `document.querySelector(".facts a[href^='/trace/']").getAttribute("href")`)
	use(t, tab, site, "divide", "/a", "1", "/b", "0")
	shows(t, tab, "Why")
	waterfall(t, tab, "SERVER tools/call divide")
	check("failed call")
	use(t, tab, site, "show")
	must(t, tab.Await(`document.images.length`))
	check("call with an image")
	must(t, tab.Go(site+"/tool?name=forecast"))
	fill(t, tab, "run", "/city", "Oslo", "/days", "many")
	must(t, tab.Await(`document.querySelector("[aria-invalid]")`))
	if text := eval[string](t, tab, `document.getElementById(document.querySelector("[aria-invalid]").getAttribute("aria-describedby")).innerText`); !strings.Contains(text, "many") {
		t.Errorf("want the field described by its error, got %q", text)
	}
	check("form with errors")
	use(t, tab, site, "wait", "/seconds", "60")
	shows(t, tab, "Cancel the call")
	check("running call")
	for _, path := range []string{"/", "/tools", "/tool?name=forecast", "/resources", "/template?uri=demo://forecast/{city}",
		"/prompts", "/prompt?name=pack", "/calls", "/calls?q=nosuch", "/frames", trace, "/traces", "/metrics", "/logs", "/debug/mcp/"} {
		must(t, tab.Go(site+path))
		check(path)
	}
	must(t, tab.Click(`a[href*="/debug/mcp/client"], table.clients a`))
	must(t, tab.Await(`location.search.includes("client=") && document.querySelector("h1")`))
	check("the debug page of the client")
}

// The real servers have longer texts, and fields of more kinds.
func TestInspectPagesOfRealServersAreAccessible(t *testing.T) {
	t.Setenv("MEMORY_FILE_PATH", filepath.Join(t.TempDir(), "memory.jsonl"))
	tab, site := inspecting(t, npm(t, "memory")...)
	must(t, tab.Go(site+"/tool?name=create_entities"))
	checkAccess(t, tab, "nested form")

	tab, site = inspecting(t, npm(t, "sequential-thinking")...)
	must(t, tab.Go(site+"/tool?name=sequentialthinking"))
	checkAccess(t, tab, "long description")

	tab, site = inspecting(t, npm(t, "everything")...)
	checkAccess(t, tab, "connection with instructions")
	use(t, tab, site, "trigger-elicitation-request")
	shows(t, tab, "Please provide inputs")
	checkAccess(t, tab, "call with a question")
	must(t, tab.Go(site+"/tools"))
	checkAccess(t, tab, "tools, and a question")
	must(t, tab.Click(`a[href^="/questions/"]`))
	must(t, tab.Await(`document.getElementsByName("/integer").length`))
	checkAccess(t, tab, "question")
	fill(t, tab, "accept", "/name", "Ada", "/integer", "1000")
	must(t, tab.Await(`document.querySelector("[role=alert]")`))
	checkAccess(t, tab, "question with errors")
	for _, path := range []string{"/resources", "/prompts", "/prompt?name=completable-prompt"} {
		must(t, tab.Go(site+path))
		checkAccess(t, tab, path)
	}
}
