package browser

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// builtSite builds the documentation's site, once, and returns its directory.
var builtSite = sync.OnceValues(func() (string, error) {
	build := exec.Command("../../site/build")
	build.Stderr = os.Stderr
	out, err := build.Output()
	return strings.TrimSpace(string(out)), err
})

// documentation serves the site and returns its address.
func documentation(t *testing.T) string {
	t.Helper()
	dir, err := builtSite()
	must(t, err)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return server.URL
}

// sitePages contains a page of each kind.
var sitePages = []string{"/", "/docs/", "/docs/guides/getting-started.html", "/docs/telemetry/client-events.html",
	"/docs/telemetry/attributes.html", "/docs/state-machine.html", "/collector/"}

// hydrated is true once the page's script runs.
const hydrated = `document.querySelector("#app")?.__vue_app__ && document.querySelector("main h1")`

func TestTheSiteHasThePagesOfTheRepository(t *testing.T) {
	address := documentation(t)
	tab := open(t, Desktop, address+"/")
	must(t, tab.Await(hydrated))
	for _, step := range []struct{ link, title string }{
		{`main .vp-doc a[href*="getting-started"]`, "Getting started"},
		{`main .vp-doc a[href*="troubleshooting"]`, "Troubleshooting"},
		{`main .vp-doc a[href$="telemetry.html"]`, "Telemetry reference"},
		{`main .vp-doc a[href*="client-events.html#mcp_client.request.stop"]`, "Events of a client"},
	} {
		must(t, tab.Click(step.link))
		must(t, tab.Await(`document.querySelector("main h1")?.innerText.startsWith("`+step.title+`")`))
	}
	must(t, tab.Await(`Math.abs(document.getElementById("mcp_client.request.stop").getBoundingClientRect().top) < 300`))
	if n := eval[int](t, tab, `document.querySelectorAll("main div.language-json").length`); n < 30 {
		t.Errorf("want a sample of each event, got %d", n)
	}
}

func TestSiteSearchFindsPages(t *testing.T) {
	address := documentation(t)
	tab := open(t, Desktop, address+"/")
	must(t, tab.Await(hydrated))
	must(t, tab.Click("#local-search button"))
	must(t, tab.Await(`document.querySelector("#localsearch-input")`))
	eval[any](t, tab, `(() => {
		const box = document.querySelector("#localsearch-input");
		box.value = "WaitForReady";
		box.dispatchEvent(new Event("input", {bubbles: true}));
	})()`)
	must(t, tab.Await(`document.querySelector(".VPLocalSearchBox a.result")`))
	picture(t, tab, "search")
	must(t, tab.Click(".VPLocalSearchBox a.result"))
	must(t, tab.Await(`!document.querySelector(".VPLocalSearchBox") && location.pathname.length > 1 &&
		document.querySelector("main").innerText.includes("WaitForReady")`))
}

func TestSiteIsReadableOnAPhoneAndInDarkMode(t *testing.T) {
	address := documentation(t)
	for _, page := range sitePages {
		for name, look := range map[string]Look{"phone": Phone, "desktop": Desktop, "night": Night} {
			tab := open(t, look, address+page)
			must(t, tab.Await(hydrated))
			picture(t, tab, name+page)
			if dark := eval[bool](t, tab, `document.documentElement.classList.contains("dark")`); dark != look.Dark {
				t.Errorf("%s, %s: want the scheme that the person prefers, got dark %v", page, name, dark)
			}
			wide := eval[[]string](t, tab, `document.documentElement.scrollWidth <= innerWidth ? [] :
				[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
					.map(e => e.outerHTML.slice(0, 80)).slice(0, 3)`)
			if len(wide) > 0 {
				t.Errorf("%s, %s: want a page no wider than the screen, got %q", page, name, wide)
			}
		}
	}
}

// picture writes a picture of a tab to the directory in MCPOTEL_PICTURES, for a person to look at.
func picture(t *testing.T, tab *Tab, name string) {
	t.Helper()
	dir := os.Getenv("MCPOTEL_PICTURES")
	if dir == "" {
		return
	}
	png, err := tab.Picture(1400)
	must(t, err)
	file := strings.NewReplacer("/", "-", ".html", "").Replace(strings.Trim(name, "/")) + ".png"
	must(t, os.WriteFile(filepath.Join(dir, file), png, 0o644))
}
