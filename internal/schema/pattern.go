package schema

import (
	"regexp"
	"regexp/syntax"
)

const (
	maxPattern = 16 << 10 // bytes of one regular expression
	maxProgram = 1 << 17  // instructions of all regular expressions of a schema
)

// newExpression compiles a regular expression unless it has too many instructions: nested counts such as
// ((a{100}){100}){100} are small as text and huge when compiled.
func newExpression(pattern string) (*expression, error) {
	if len(pattern) > maxPattern {
		return &expression{program: maxProgram + 1}, nil
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	e := &expression{program: instructions(parsed)}
	if e.program <= maxProgram {
		e.regexp, err = regexp.Compile(pattern)
	}
	return e, err
}

// instructions counts the instructions of re, and stops counting a little above [maxProgram].
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
