package page

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// Cut is the first n characters of s, and says how long it is if that is not all.
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

// parts divides a name behind its dots and underscores.
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

// maxParts keeps a name that is nothing but dots from growing.
const maxParts = 20

// shown replaces what cannot be seen in a rendered page: control characters by their pictures, others, such as those
// that change the direction of the text around them, by U+FFFD. The templates have none, so what there is comes from
// data.
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
