// Package uritemplate matches URIs with templates by RFC 6570. (https://www.rfc-editor.org/rfc/rfc6570)
//
// A template becomes one regular expression of package regexp, whose time is linear in the length of a URI.
package uritemplate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	rfc6570 "github.com/yosida95/uritemplate/v3"
)

// MaxURI is how many bytes a URI has at most: longer ones match no template.
const MaxURI = 4 << 10

// maxVariables is how many variables an expression has at most. Each variable of {?a,b,c} may be the first in a URI, so
// the regular expression grows with the square of their number.
const maxVariables = 16

// maxPrefix is how many characters a prefix has at most.
const maxPrefix = 64

// Template is a template that is ready to be matched. Any number of goroutines may use it.
type Template struct {
	prefix  string // of all URIs that match
	pattern *regexp.Regexp
	groups  []group // of the pattern, in order
}

// group describes the text that a group of the pattern matches: the value of a variable, or a part of it.
type group struct {
	name   string
	prefix bool   // a part of the value, as in {id:3}
	listed string // the separator of ?id=1&id=2, "" if the group contains no names
	named  bool   // the group begins with "=", unless the value is empty
}

// Parse reads a template. No variable may be in it twice, but for prefixes of it such as {id:3}, and no expression may
// have more than 16 variables, no prefix more than 64 characters.
func Parse(text string) (*Template, error) {
	if _, err := rfc6570.New(text); err != nil {
		return nil, err
	}
	var t Template
	var pattern strings.Builder
	pattern.WriteByte('^')
	seen := map[string]bool{}
	for first := true; ; first = false {
		literal, rest, found := strings.Cut(text, "{")
		literal, ok := runes(literal)
		if !ok {
			return nil, fmt.Errorf("the template has characters from %U to %U, which are not supported", firstMark, lastMark)
		}
		if first {
			t.prefix = literal
		}
		pattern.WriteString(regexp.QuoteMeta(literal))
		if !found {
			break
		}
		var list string
		list, text, _ = strings.Cut(rest, "}")
		e := readExpression(list)
		if len(e.variables) > maxVariables {
			return nil, fmt.Errorf("the expression {%s} has %d variables, of which %d are supported", list,
				len(e.variables), maxVariables)
		}
		for _, v := range e.variables {
			if seen[v.spec] {
				return nil, fmt.Errorf("the variable %s is there twice", v.spec)
			}
			if v.length > maxPrefix {
				return nil, fmt.Errorf("the prefix %s is longer than %d characters, which is not supported", v.spec, maxPrefix)
			}
			seen[v.spec] = true
		}
		e.write(&pattern, &t)
	}
	pattern.WriteByte('$')
	var err error
	t.pattern, err = regexp.Compile(pattern.String())
	return &t, err
}

// Match returns the values of the variables in a URI, false if the template cannot be expanded to it. Values of a list
// keep the separator of the URI, with a comma instead of &id= or ;id=. A variable without a value is
// left out, unless its value may be empty too. Characters beyond ASCII match as such and percent-encoded.
func (t *Template) Match(uri string) (map[string]string, bool) {
	if len(uri) > MaxURI {
		return nil, false
	}
	uri, ok := runes(uri)
	if !ok || !strings.HasPrefix(uri, t.prefix) {
		return nil, false
	}
	at := t.pattern.FindStringSubmatchIndex(uri)
	if at == nil {
		return nil, false
	}
	values := make(map[string]string, len(t.groups))
	for i, g := range t.groups {
		begin, end := at[2*i+2], at[2*i+3]
		if begin < 0 {
			continue
		}
		if _, known := values[g.name]; !known || !g.prefix {
			values[g.name] = g.value(uri[begin:end])
		}
	}
	return values, true
}

// Has reports whether the template has a variable of that name.
func (t *Template) Has(name string) bool {
	return slices.ContainsFunc(t.groups, func(g group) bool { return g.name == name })
}

// value returns the value of a variable from the text that the group matched.
func (g group) value(text string) string {
	if g.listed != "" {
		values := strings.Split(text, g.listed)
		for i, v := range values {
			_, values[i], _ = strings.Cut(v, "=")
		}
		text = strings.Join(values, ",")
	} else if g.named {
		text = strings.TrimPrefix(text, "=")
	}
	return plain(text)
}

// expression is one expression of a template: the part between braces.
type expression struct {
	first, separator string
	named            bool // each value has the name of its variable before it
	mayEnd           bool // a name without "=" is an empty value
	reserved         bool // values may have reserved characters
	variables        []variable
}

type variable struct {
	spec     string // as the template has it, without "*"
	name     string
	length   int // of a prefix, 0 for the whole value
	exploded bool
}

// readExpression reads the part between braces of a valid template. (RFC 6570, section 2.2 and appendix A)
func readExpression(list string) expression {
	e := expression{separator: ","}
	switch list[0] {
	case '+':
		e.reserved = true
	case '#':
		e.first, e.reserved = "#", true
	case '.':
		e.first, e.separator = ".", "."
	case '/':
		e.first, e.separator = "/", "/"
	case ';':
		e.first, e.separator, e.named, e.mayEnd = ";", ";", true, true
	case '?':
		e.first, e.separator, e.named = "?", "&", true
	case '&':
		e.first, e.separator, e.named = "&", "&", true
	}
	if e.first != "" || e.reserved {
		list = list[1:]
	}
	for spec := range strings.SplitSeq(list, ",") {
		spec, exploded := strings.CutSuffix(spec, "*")
		name, prefix, _ := strings.Cut(spec, ":")
		length, _ := strconv.Atoi(prefix) // a template that is valid has a number
		e.variables = append(e.variables, variable{spec, name, length, exploded})
	}
	return e
}

// write writes the pattern of the expression, all of whose variables may be without a value, and adds its groups to t.
func (e *expression) write(pattern *strings.Builder, t *Template) {
	separator := regexp.QuoteMeta(e.separator)
	pattern.WriteString("(?:" + regexp.QuoteMeta(e.first))
	if e.named {
		// The variables have names in the URI, so any of them may be the first that has a value.
		pattern.WriteString("(?:")
		for i := range e.variables {
			if i > 0 {
				pattern.WriteByte('|')
			}
			pattern.WriteString(e.pair(e.variables[i], t))
			for _, v := range e.variables[i+1:] {
				pattern.WriteString("(?:" + separator + e.pair(v, t) + ")?")
			}
		}
		pattern.WriteString(")")
	} else {
		for i, v := range e.variables {
			if i > 0 {
				pattern.WriteString("(?:" + separator)
			}
			pattern.WriteString("(" + e.values(v))
			if i < len(e.variables)-1 {
				pattern.WriteByte('?') // of "1,2,3" the first variable has 1, and the last one the rest
			}
			pattern.WriteByte(')')
			t.groups = append(t.groups, group{name: v.name, prefix: v.length > 0})
		}
		pattern.WriteString(strings.Repeat(")?", len(e.variables)-1))
	}
	pattern.WriteString(")?")
}

// pair returns the pattern of a name with its value, or of an exploded variable with all of them.
func (e *expression) pair(v variable, t *Template) string {
	g := group{name: v.name, prefix: v.length > 0, named: true}
	value := "=" + e.values(v)
	if e.mayEnd {
		value = "(?:" + value + ")?"
	}
	name := regexp.QuoteMeta(v.name)
	if !v.exploded {
		t.groups = append(t.groups, g)
		return name + "(" + value + ")"
	}
	g.listed = e.separator
	t.groups = append(t.groups, g)
	one := name + value
	return "(" + one + "(?:" + regexp.QuoteMeta(e.separator) + one + ")*)"
}

// values returns the pattern of the values of a variable: a string or a list of them.
func (e *expression) values(v variable) string {
	class := `A-Za-z0-9._~,\x{80}-\x{10FFFF}`
	switch {
	case e.reserved:
		class += `:/?#\[\]@!$&'()*+;=`
	case v.exploded && !e.named: // name=value, too
		class += "=" + e.separator
	}
	class = "[" + class + "-]"
	if v.length > 0 {
		return fmt.Sprintf("%s{0,%d}", class, v.length)
	}
	return class + "*"
}

// A byte that is percent-encoded, and is none of a character beyond ASCII, is one of these runes: the first of them is
// that of the byte 0. They are for private use, and a URI that has them itself matches nothing.
const (
	firstMark = 0x10F800
	lastMark  = firstMark + 0xFF
)

// runes returns a URI or a literal with one rune for each character, percent-encoded or not, false if that cannot be.
// (RFC 3987, section 3.1; RFC 6570, section 3.1)
func runes(text string) (string, bool) {
	var b strings.Builder
	b.Grow(len(text))
	for text != "" {
		if text[0] < utf8.RuneSelf && text[0] != '%' {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		var character [utf8.UTFMax]byte
		n, rest := 0, text
		for n < len(character) && rest != "" && !utf8.FullRune(character[:n]) {
			var size int
			character[n], size = octet(rest)
			n, rest = n+1, rest[size:]
		}
		r, size := utf8.DecodeRune(character[:n])
		switch {
		case r >= firstMark && r <= lastMark:
			return "", false
		case size == 1 && text[0] == '%' && !encoded(text):
			b.WriteByte('%') // which matches nothing
			text = text[1:]
			continue
		case size == 1:
			b.WriteRune(firstMark + rune(character[0]))
		default:
			b.WriteRune(r)
		}
		for range size {
			_, n := octet(text)
			text = text[n:]
		}
	}
	return b.String(), true
}

// encoded reports whether a text begins with a percent-encoded byte.
func encoded(text string) bool {
	const digits = "0123456789ABCDEFabcdef"
	return len(text) > 2 && text[0] == '%' && strings.IndexByte(digits, text[1]) >= 0 &&
		strings.IndexByte(digits, text[2]) >= 0
}

// octet returns the byte with which a text begins, percent-encoded or not, and how long it is there.
func octet(text string) (byte, int) {
	if !encoded(text) {
		return text[0], 1
	}
	n, _ := strconv.ParseUint(text[1:3], 16, 8) // two digits
	return byte(n), 3
}

// plain undoes runes: it returns the bytes that percent-encoded ones stand for.
func plain(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if r >= firstMark && r <= lastMark {
			b.WriteByte(byte(r - firstMark))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
