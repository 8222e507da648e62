package explain

import (
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// ownWords returns an error's text without its quotations. Error texts of this module quote peers between quotation
// marks.
func ownWords(text string) string {
	var own strings.Builder
	for text != "" {
		before, rest, quoted := strings.Cut(text, `"`)
		own.WriteString(before)
		if !quoted {
			break
		}
		text = afterQuote(rest)
	}
	return own.String()
}

// afterQuote returns the text after a quotation. The opening quotation mark has been read. The result is empty if the
// quotation has no end.
func afterQuote(text string) string {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[i+1:]
		}
	}
	return ""
}

// maxQuote bounds each text in Explanation.Quotes, in bytes.
const maxQuote = 300

// shown returns at most n bytes of a peer's text as one line that is safe to display.
func shown(text string, n int) string { return visible.Short(text, n) }

// name formats a name that a peer may have chosen for use in a sentence: in quotation marks unless it is a single plain
// word.
func name(text string) string { return visible.Word(text, maxName) }

// maxName bounds names in sentences, in bytes.
const maxName = 80

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
