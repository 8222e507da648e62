package schema

import (
	"regexp"
	"regexp/syntax"
)

const (
	maxPattern = 16 << 10 // bytes of one regular expression
	maxProgram = 1 << 17  // instructions of all regular expressions of a schema
)

// program compiles a regular expression and returns about how many
// instructions it has: nested counts such as ((a{100}){100}){100} are small
// as text and huge when compiled.
func program(pattern string) (re *regexp.Regexp, size int, err error) {
	if len(pattern) > maxPattern {
		return nil, maxProgram + 1, nil
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	if size = instructions(parsed); size > maxProgram {
		return nil, size, nil
	}
	re, err = regexp.Compile(pattern)
	return re, size, err
}

// instructions counts up to a little over [maxProgram].
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+instructions(sub), maxProgram+1)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, maxProgram+1)
}
