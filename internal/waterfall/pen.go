package waterfall

import (
	"io"
	"strings"
)

// A style is an SGR sequence; empty for plain text.
type style string

const (
	plain style = ""
	faint style = "\x1b[2m"
	bold  style = "\x1b[1m"
	red   style = "\x1b[31m"
	reset       = "\x1b[0m"
)

// serviceStyles are assigned to services in the order of their appearance. Red is reserved for errors.
var serviceStyles = []style{"\x1b[36m", "\x1b[33m", "\x1b[35m", "\x1b[32m", "\x1b[34m"}

// A pen writes lines and remembers the first error.
type pen struct {
	w     io.Writer
	color bool
	ascii bool
	line  strings.Builder
	err   error
}

// put appends clean text to the line.
func (p *pen) put(st style, s string) {
	if !p.color || st == plain || strings.TrimSpace(s) == "" {
		p.line.WriteString(s)
		return
	}
	p.line.WriteString(string(st) + s + reset)
}

// end writes the line without trailing spaces.
func (p *pen) end() {
	text := strings.TrimRight(p.line.String(), " ") + "\n"
	p.line.Reset()
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}
}

// fit returns s as clean text, cut to n columns.
func (p *pen) fit(s string, n int) string { return truncate(clean(s, p.ascii), n, p.ascii) }
