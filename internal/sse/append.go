package sse

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// AppendEvent appends e to dst, the empty line that ends it included. Data with line breaks become several data lines;
// a carriage return among them reads back as a line feed. Retry is written in milliseconds, rounded up, if it is
// positive; data are written if there are any or HasData says so, an id likewise. An id or a name with a line break or
// a NUL cannot be written and is left out.
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

// AppendComment appends text to dst as a comment, each line of it as one of its own. A comment means nothing to the
// reader and keeps a quiet stream alive.
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

// appendLines appends prefix and each line of text.
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

// lineEnd returns where the first line break of text begins, -1 if there is none.
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
