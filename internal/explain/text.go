package explain

import (
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// ownWords is an error's text without what stands between quotation marks: our messages quote what a peer has said.
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

// afterQuote is what follows a quotation, whose beginning has been read; empty if it does not end.
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

// maxQuote bounds what is shown of one text of a peer, in bytes.
const maxQuote = 300

// shown is a text of a peer as one line that is safe to show, up to n bytes of it.
func shown(text string, n int) string { return visible.Short(text, n) }

// name is a name that a peer may have chosen, within a sentence: between quotation marks unless it is one plain word.
func name(text string) string { return visible.Word(text, maxName) }

// maxName bounds names, in bytes.
const maxName = 80

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
