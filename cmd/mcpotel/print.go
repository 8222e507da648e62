package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/mcpotel/mcpotel/mcp"
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
	case *mcp.EmbeddedResource:
		if c.Resource.Blob != nil {
			return fmt.Sprintf("[resource %s %s, %d bytes of base64]", clean(c.Resource.URI), clean(c.Resource.MIMEType), len(*c.Resource.Blob))
		}
		return fmt.Sprintf("[resource %s %s]\n%s", clean(c.Resource.URI), clean(c.Resource.MIMEType), clean(c.Resource.Text))
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
