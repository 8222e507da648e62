package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
)

// The tests of this package share these, because they take seconds to start.
var (
	mcpotel  string // path of the command
	chromium *Browser
	demoURL  string // page of a demo that has played its scenes, three of which fail
)

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (int, error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "mcpotel-browser-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if mcpotel, err = Build(ctx, dir); err != nil {
		return 0, err
	}
	if chromium, err = Start(ctx); err != nil {
		return 0, err
	}
	defer chromium.Close()
	demo, address, err := Demo(mcpotel)
	if err != nil {
		return 0, err
	}
	demoURL = address
	code := m.Run()
	return code, demo.Stop()
}

// open opens a page in its own tab. At the end of the test, it checks that the console is empty and that the tab has
// sent requests only to the page's host.
func open(t *testing.T, l Look, address string) *Tab {
	t.Helper()
	tab, err := chromium.Open(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range tab.Complaints() {
			t.Errorf("want nothing in the console, got %s", c)
		}
		want, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range tab.Hosts() {
			if h != want.Host {
				t.Errorf("want requests to %s only, got one to %s", want.Host, h)
			}
		}
		tab.Close()
	})
	must(t, tab.Go(address))
	return tab
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eval returns the value of a JavaScript expression.
func eval[T any](t *testing.T, tab *Tab, format string, args ...any) T {
	t.Helper()
	v, err := Eval[T](tab, fmt.Sprintf(format, args...))
	must(t, err)
	return v
}

// sceneURL returns the address of a scene's trace, the oldest with this title.
func sceneURL(t *testing.T, title string) string {
	t.Helper()
	answer, err := http.Get(demoURL + "traces.json")
	must(t, err)
	defer answer.Body.Close()
	var list struct {
		Traces []struct {
			ID   string `json:"trace_id"`
			Name string
		}
	}
	must(t, json.NewDecoder(answer.Body).Decode(&list))
	for _, x := range slices.Backward(list.Traces) {
		if strings.Contains(x.Name, title) {
			return demoURL + "trace/" + x.ID
		}
	}
	t.Fatalf("no trace %q in %v", title, list)
	return ""
}

// pages returns one page of each kind in the demo, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"list": demoURL, "nothing found": demoURL + "?q=nosuch&min=x", "failed trace": sceneURL(t, "times out"),
		"crash":     sceneURL(t, "killed"),
		"reconnect": sceneURL(t, "mcp_client.connect"), "metrics": demoURL + "metrics", "logs": demoURL + "logs",
	}
}
