// Package glob implements the patterns by which users select tools and methods: shell patterns for whole names.
package glob

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Compile compiles a pattern of [path.Match] to a regular expression. A slash has no special meaning.
func Compile(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, errors.New("the pattern is empty")
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%q is not a valid pattern; want one such as read_*: %w", pattern, err)
	}
	var b strings.Builder
	b.WriteString("^(?s:")
	for rest := []rune(pattern); len(rest) > 0; {
		c := rest[0]
		rest = rest[1:]
		switch c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			rest = writeClass(&b, rest)
		case '\\':
			c, rest = rest[0], rest[1:]
			fallthrough
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteString(")$")
	return regexp.Compile(b.String())
}

// writeClass writes the character class that follows an opening bracket in rest, and returns the text behind the class.
// A reversed range has no characters.
func writeClass(b *strings.Builder, rest []rune) []rune {
	negated := rest[0] == '^'
	if negated {
		rest = rest[1:]
	}
	next := func() rune {
		c := rest[0]
		if rest = rest[1:]; c == '\\' {
			c, rest = rest[0], rest[1:]
		}
		return c
	}
	var class strings.Builder
	for first := true; first || rest[0] != ']'; first = false {
		lo := next()
		hi := lo
		if rest[0] == '-' {
			rest = rest[1:]
			hi = next()
		}
		if lo <= hi {
			fmt.Fprintf(&class, `\x{%x}-\x{%x}`, lo, hi)
		}
	}
	switch {
	case class.Len() > 0 && negated:
		fmt.Fprintf(b, "[^%s]", &class)
	case class.Len() > 0:
		fmt.Fprintf(b, "[%s]", &class)
	case negated:
		b.WriteByte('.')
	default:
		b.WriteString(`[^\x{0}-\x{10ffff}]`)
	}
	return rest[1:]
}
