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

// faint finds text with a contrast to its background below the minimum of WCAG 2.2, level AA (1.4.3): 4.5, or 3 for
// large text.
const faint = `(() => {
	const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return {rgb: m.slice(0, 3), a: m[3] ?? 1}; };
	const over = (top, under) => top.rgb.map((v, i) => v * top.a + under[i] * (1 - top.a));
	const light = rgb => { const [r, g, b] = rgb.map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
	const behind = e => {
		const layers = [];
		for (; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
		return layers.reverse().reduce((under, l) => over(l, under), matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255]);
	};
	const found = [], seen = new Set();
	let checked = 0;
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = walk.nextNode();) {
		const e = n.parentElement;
		if (!n.data.trim() || seen.has(e) || !e.checkVisibility({visibilityProperty: true}) || e.closest("script, style, .skip")) continue;
		seen.add(e);
		checked++;
		const s = getComputedStyle(e), back = behind(e), a = light(over(parse(s.color), back)), b = light(back);
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05), size = parseFloat(s.fontSize);
		const want = size >= 24 || size >= 18.66 && Number(s.fontWeight) >= 700 ? 3 : 4.5;
		if (ratio < want) found.push(n.data.trim().slice(0, 30) + " in ." + e.className + ": " + ratio.toFixed(2));
	}
	return {Checked: checked, Faint: found};
})()`

func TestTextHasContrastInBothSchemes(t *testing.T) {
	for name, address := range pages(t) {
		for scheme, look := range map[string]Look{"light": Desktop, "dark": Night} {
			tab := open(t, look, address)
			eval[any](t, tab, openAll)
			type result struct {
				Checked int
				Faint   []string
			}
			got := eval[result](t, tab, faint)
			if got.Checked < 10 {
				t.Errorf("%s, %s: want some text to look at, got %d", name, scheme, got.Checked)
			}
			for _, f := range got.Faint {
				t.Errorf("%s, %s: too faint: %s", name, scheme, f)
			}
			back := eval[string](t, tab, `getComputedStyle(document.documentElement).backgroundColor`)
			if dark := back != "rgb(245, 246, 249)"; dark != look.Dark {
				t.Errorf("%s, %s: want the scheme that the person prefers, got a background of %s", name, scheme, back)
			}
		}
	}
}

// TestPagesAreAccessible checks the names, roles and keyboard access that people with screen readers need.
func TestPagesAreAccessible(t *testing.T) {
	for name, address := range pages(t) {
		checkAccess(t, open(t, Desktop, address), name)
	}
}

func checkAccess(t *testing.T, tab *Tab, name string) {
	t.Helper()
	type faults struct {
		Lang                     string
		H1, Unlabelled, Nameless int
		Doubles                  []string
	}
	f := eval[faults](t, tab, `(() => {
		const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
		return {Lang: document.documentElement.lang, H1: document.querySelectorAll("h1").length,
			Unlabelled: [...document.querySelectorAll("input:not([type=hidden], [type=submit]), select, textarea")].filter(e => !e.labels.length).length,
			Nameless: [...document.querySelectorAll("a, button, summary")].filter(e => !e.textContent.trim()).length,
			Doubles: ids.filter((id, i) => ids.indexOf(id) !== i)};
	})()`)
	if f.Lang != "en" || f.H1 != 1 || f.Unlabelled+f.Nameless+len(f.Doubles) > 0 {
		t.Errorf("%s: want a language, one heading of the first level, labels, names, and ids that differ, got %+v", name, f)
	}
}
