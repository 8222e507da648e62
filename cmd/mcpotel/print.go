package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

// All output of the command goes through the functions of this file or through a console: they escape control
// characters from peers. A test checks that no other code writes output.

// printLine prints text as one line. It replaces control characters and line breaks.
func printLine(w io.Writer, text string) error {
	_, err := fmt.Fprintf(w, "%s\n", visible.Map([]byte(text), func(rune) rune { return utf8.RuneError }))
	return err
}

// lines writes each message of a logger as one line.
type lines struct{ w io.Writer }

func (l lines) Write(message []byte) (int, error) {
	return len(message), printLine(l.w, string(bytes.TrimSpace(message)))
}

// printText prints text of one or more lines and a line break.
func printText(w io.Writer, text string) error {
	_, err := fmt.Fprintln(w, visible.Text(text))
	return err
}

// printJSON prints v as JSON. It escapes everything that could control a terminal; the value stays the same.
func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(visible.JSON(b.Bytes()))
	return err
}

// printBytes prints data unchanged.
func printBytes(w io.Writer, data []byte) error {
	_, err := w.Write(data)
	return err
}

// describe returns the text for one block of content.
func describe(c mcp.Content) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return visible.Text(c.Text)
	case *mcp.ImageContent:
		return fmt.Sprintf("[image %s, %d bytes of base64]", visible.Line(c.MIMEType), len(c.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[audio %s, %d bytes of base64]", visible.Line(c.MIMEType), len(c.Data))
	case *mcp.ResourceLink:
		return fmt.Sprintf("[link %s %s]", visible.Line(c.Name), visible.Line(c.URI))
	case *mcp.EmbeddedResource:
		if c.Resource.Blob != nil {
			return fmt.Sprintf("[resource %s %s, %d bytes of base64]", visible.Line(c.Resource.URI),
				visible.Line(c.Resource.MIMEType), len(*c.Resource.Blob))
		}
		return fmt.Sprintf("[resource %s %s]\n%s", visible.Line(c.Resource.URI), visible.Line(c.Resource.MIMEType),
			visible.Text(c.Resource.Text))
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return "[" + err.Error() + "]"
	}
	return string(visible.JSON(raw))
}
