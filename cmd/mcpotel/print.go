package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// describe shows one block of content in text.
func describe(c mcp.Content) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return clean(c.Text)
	case *mcp.ImageContent:
		return fmt.Sprintf("[image %s, %d bytes of base64]", clean(c.MIMEType), len(c.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[audio %s, %d bytes of base64]", clean(c.MIMEType), len(c.Data))
	case *mcp.ResourceLink:
		return fmt.Sprintf("[link %s %s]", clean(c.Name), clean(c.URI))
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return "[" + err.Error() + "]"
	}
	return string(raw)
}

// clean keeps what a server says from controlling the terminal: of the control characters, only line breaks and tabs stay.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, s)
}

// progressLine shows how far a call is, on one line of a terminal that is written over and cleared in the end. Where there
// is no terminal it shows nothing.
type progressLine struct {
	w     io.Writer // nil for none
	shown bool
}

func newProgressLine(w io.Writer) *progressLine {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &progressLine{w: w}
	}
	return &progressLine{}
}

func (l *progressLine) show(p mcpclient.Progress) {
	if l.w == nil {
		return
	}
	text := fmt.Sprintf("%g", p.Progress)
	if p.Total != nil && *p.Total > 0 {
		text = fmt.Sprintf("%3.0f%% (%g of %g)", 100*p.Progress / *p.Total, p.Progress, *p.Total)
	}
	if p.Message != "" {
		text += " " + firstLine(p.Message)
	}
	fmt.Fprintf(l.w, "\r\x1b[K%s", text)
	l.shown = true
}

func (l *progressLine) clear() {
	if l.shown {
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}
