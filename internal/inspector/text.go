package inspector

import (
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// Bounds of an answer, in bytes.
const (
	maxAnswer = 4 << 10 // text of an answer
	maxLine   = 200     // error text or name in the text of an answer
	maxString = 2 << 10 // string in structured content, for example a sentence with names
)

// bounded truncates a text at the end of a line and adds a note.
func bounded(text string) string {
	const more = "\n[truncated: request less, or the next page; the structured content has more]\n"
	if len(text) <= maxAnswer {
		return text
	}
	text = text[:maxAnswer-len(more)]
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		text = text[:i]
	}
	return strings.ToValidUTF8(text, "") + more
}

// line returns a text, which may come from a peer, as one line that is safe to display.
func line(text string) string { return visible.Short(text, maxLine) }

// word returns a text, which may come from a peer, for use in a sentence: in quotation marks unless it is a single
// plain word.
func word(text string) string { return visible.Word(text, maxLine) }

// listed formats a page of lines. Without lines, it returns the text none. If there is another page, the result ends
// with the text more.
func listed[T any](lines []T, text func(*T) string, none, more string, next int) string {
	var b strings.Builder
	if len(lines) == 0 {
		b.WriteString(none + ".\n")
	}
	for i := range lines {
		b.WriteString(text(&lines[i]))
	}
	if next > 0 {
		fmt.Fprintf(&b, "%s: cursor %d.\n", more, next)
	}
	return b.String()
}

// notes formats the missing sources.
func notes(missing []string) string {
	var b strings.Builder
	for _, m := range missing {
		fmt.Fprintf(&b, "Missing: %s.\n", m)
	}
	return b.String()
}
