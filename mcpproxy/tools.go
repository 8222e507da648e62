package mcpproxy

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// toolsOf yields the names in a definition of a tool. These are the values of all members that a reader may treat as
// the name, in any letter case, because encoding/json ignores case. For a value that is not a string, toolsOf yields
// "", which is not a tool's name.
func toolsOf(object []byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		o := jsonscan.ObjectAt(object, 0)
		for o.Next() {
			if _, is := known(o.Key(), []string{"name"}); !is {
				continue
			}
			var name string
			if _, err := mcp.Decode(o.Raw(), &name); err != nil {
				name = ""
			}
			if !yield(name) {
				return
			}
		}
	}
}

// lists reports whether a list may contain this definition of a tool.
func (r *rules) lists(tool []byte) bool {
	named := false
	for name := range toolsOf(tool) {
		if named = true; !r.permit(name) {
			return false
		}
	}
	return named || !r.only
}

// withoutDenied removes forbidden tools from a result of tools/list, and returns their number. The rest is unchanged.
func (r *rules) withoutDenied(result json.RawMessage) (allowed json.RawMessage, denied int) {
	w := rewriter{from: result}
	o := jsonscan.ObjectAt(result, 0)
	for o.Next() {
		if string(o.Key()) == "tools" && o.First() == '[' {
			var end, n int
			n, end = r.cutDenied(&w, o.At())
			denied += n
			o.Take(end, nil)
		}
	}
	return w.result(), denied
}

// cutDenied removes the forbidden tools from the array at w.from[i], each with one comma. It returns the number of
// removed tools, and the offset after the array.
func (r *rules) cutDenied(w *rewriter, i int) (denied, end int) {
	a := jsonscan.ArrayAt(w.from, i)
	first, last := -1, -1 // start of a row of removed tools before this tool, and end of the previous tool
	kept := false
	for a.Next() {
		tool, start := a.Raw(), a.At()
		if a.Err() != nil {
			break
		}
		if first < 0 {
			first = start
		}
		switch listed := r.lists(tool); {
		case !listed && kept:
			denied++
			w.replace(last, start+len(tool), nil)
		case !listed:
			denied++
		case !kept:
			kept = true
			if first < start {
				w.replace(first, start, nil)
			}
		}
		last = start + len(tool)
	}
	if !kept && first >= 0 {
		w.replace(first, last, nil)
	}
	return denied, a.End()
}

// shown returns the name of a tool for a message. It shortens a long name.
func shown(name string) string { return cut(name, 64) }

// cut returns text. If text has more bytes than most, cut shortens it to that size and appends an ellipsis.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
