package browser

import (
	"encoding/json"
	"testing"
)

func quoted(s string) string {
	raw, _ := json.Marshal(s) // never fails for a string
	return string(raw)
}

const openAll = `document.querySelectorAll("details").forEach(d => d.open = true)`

func TestNoPageScrollsSidewaysOnAPhone(t *testing.T) {
	for name, address := range pages(t) {
		tab := open(t, Phone, address)
		eval[any](t, tab, openAll)
		type width struct {
			Page, Screen float64
			Widest       string
		}
		w := eval[width](t, tab, `({Page: document.documentElement.scrollWidth, Screen: screen.width,
			Widest: [...document.querySelectorAll("header *, main *")].filter(e => e.getBoundingClientRect().right > screen.width + 1).map(e => e.outerHTML.slice(0, 80))[0] ?? ""})`)
		// Text in a column of one or two letters is not readable.
		squeezed := eval[[]string](t, tab, `[...document.querySelectorAll("main *")].filter(e => {
			const text = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join(" "), box = e.getBoundingClientRect();
			return e.checkVisibility() && text.length > 12 && box.width < 60 && box.height > 60;
		}).map(e => e.outerHTML.slice(0, 80))`)
		if len(squeezed) > 0 {
			t.Errorf("%s: want no text squeezed into a narrow column, got %q", name, squeezed)
		}
		if w.Page > w.Screen || w.Widest != "" {
			t.Errorf("%s: want a page no wider than the screen, got %+v", name, w)
		}
	}
}

// TestPagesAreAccessible checks the names, roles, contrast and keyboard access that people need.
func TestPagesAreAccessible(t *testing.T) {
	for name, address := range pages(t) {
		checkAccess(t, open(t, Desktop, address), name)
	}
}
