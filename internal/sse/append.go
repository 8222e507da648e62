package sse

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// AppendEvent appends e to dst, including the empty line that ends it. Data with line breaks become several data lines;
// a carriage return in them reads back as a line feed. AppendEvent writes Retry in milliseconds, rounded up, if it is
// positive. It writes the data if HasData is set or Data is not empty, and the id if HasID is set or ID is not empty.
// It omits an id or a name with a line break or a NUL, which cannot be written.
func AppendEvent(dst []byte, e Event) []byte {
	if (e.HasID || e.ID != "") && writable(e.ID) {
		dst = appendField(dst, "id", e.ID)
	}
	if e.Name != "" && writable(e.Name) {
		dst = appendField(dst, "event", e.Name)
	}
	if e.Retry > 0 {
		dst = append(dst, "retry: "...)
		dst = strconv.AppendInt(dst, int64((e.Retry+time.Millisecond-1)/time.Millisecond), 10)
		dst = append(dst, '\n')
	}
	if e.HasData || len(e.Data) > 0 {
		dst = appendLines(dst, "data: ", e.Data)
	}
	return append(dst, '\n')
}

// AppendComment appends text to dst as a comment, one for each line. Readers ignore comments; a server sends comments
// to keep a quiet stream alive.
func AppendComment(dst []byte, text string) []byte {
	return appendLines(dst, ": ", []byte(text))
}

func writable(value string) bool { return !strings.ContainsAny(value, "\r\n\x00") }

func appendField(dst []byte, name, value string) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, '\n')
}

// appendLines appends each line of text, with the prefix and a newline.
func appendLines(dst []byte, prefix string, text []byte) []byte {
	for {
		dst = append(dst, prefix...)
		i := lineEnd(text)
		if i < 0 {
			dst = append(dst, text...)
			return append(dst, '\n')
		}
		dst = append(dst, text[:i]...)
		dst = append(dst, '\n')
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			i++
		}
		text = text[i+1:]
	}
}

// lineEnd returns the offset of the first line break in text, or -1 if text has none.
func lineEnd(text []byte) int {
	lf := bytes.IndexByte(text, '\n')
	if lf >= 0 {
		text = text[:lf]
	}
	if cr := bytes.IndexByte(text, '\r'); cr >= 0 {
		return cr
	}
	return lf
}
