package inspector

import (
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// Bounds of an answer, in bytes.
const (
	maxAnswer = 4 << 10 // of its text
	maxLine   = 200     // of a text of an error or a name in it
	maxString = 2 << 10 // of each text in structured content, such as a sentence with names in it
)

// bounded cuts a text at the end of a line, and says so.
func bounded(text string) string {
	const more = "\n[cut: ask for less, or for the next page; the structured content has more]\n"
	if len(text) <= maxAnswer {
		return text
	}
	text = text[:maxAnswer-len(more)]
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		text = text[:i]
	}
	return strings.ToValidUTF8(text, "") + more
}

// line is a text that may be of a peer as one line that is safe to show.
func line(text string) string { return visible.Short(text, maxLine) }

// word is such a text within a sentence: between quotation marks unless it is one plain word.
func word(text string) string { return visible.Word(text, maxLine) }

// listed is a page of lines: what is said if there are none, and what if there are more.
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

// notes are the lines about what is missing.
func notes(missing []string) string {
	var b strings.Builder
	for _, m := range missing {
		fmt.Fprintf(&b, "Missing: %s.\n", m)
	}
	return b.String()
}
