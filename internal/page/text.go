package page

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// Cut returns the first n characters of s, followed by the length of s if s is longer.
func Cut(n int, s string) string {
	if len(s) <= n {
		return s
	}
	seen := 0
	for i := range s {
		if seen++; seen > n {
			return s[:i] + fmt.Sprintf("… (%d bytes in all)", len(s))
		}
	}
	return s
}

// parts splits a name after each dot, underscore and slash.
func parts(name string) []string {
	var all []string
	for name != "" {
		i := strings.IndexAny(name, "._/") + 1
		if i == 0 || len(all) == maxParts {
			i = len(name)
		}
		all = append(all, name[:i])
		name = name[i:]
	}
	return all
}

// maxParts bounds the parts of a name, in case it consists of dots.
const maxParts = 20

// shown replaces invisible characters in a rendered page: control characters by their pictures, and others, such as
// those that change the direction of text, by U+FFFD. Templates have no such characters, so these characters always
// come from data.
func shown(text []byte) []byte {
	return visible.Map(text, func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r < ' ':
			return '\u2400' + r // ␀ and so on
		case r == 0x7f:
			return '\u2421' // ␡
		}
		return utf8.RuneError
	})
}
