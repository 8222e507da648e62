// Package uritemplate matches URIs against RFC 6570 templates. (https://www.rfc-editor.org/rfc/rfc6570)
//
// A template becomes one regular expression of package regexp, which matches in time linear in the length of the URI.
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

// MaxURI is the maximum length of a URI in bytes: longer URIs match no template.
const MaxURI = 4 << 10

// maxVariables is the maximum number of variables in an expression. Each variable of {?a,b,c} may be the first in a
// URI, so the regular expression grows with the square of their number.
const maxVariables = 16

// maxPrefix is the maximum length of a prefix in characters.
const maxPrefix = 64

// Template is a parsed template. It is safe for concurrent use.
type Template struct {
	prefix  string // prefix of all matching URIs
	pattern *regexp.Regexp
	groups  []group // groups of the pattern, in order
}

// group describes the text that a group of the pattern matches: the value of a variable, or a part of it.
type group struct {
	name   string
	prefix bool   // the group matches a part of the value, as in {id:3}
	listed string // separator of ?id=1&id=2; "" if the group contains no names
	named  bool   // the group begins with "=", unless the value is empty
}

// Parse parses a template. A variable must not occur twice, except for prefixes of it such as {id:3}. An expression
// must not have more than 16 variables, and a prefix not more than 64 characters.
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
			return nil, fmt.Errorf("characters from %U to %U are not supported in a template", firstMark, lastMark)
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
			return nil, fmt.Errorf("the expression {%s} has %d variables, more than the limit of %d", list,
				len(e.variables), maxVariables)
		}
		for _, v := range e.variables {
			if seen[v.spec] {
				return nil, fmt.Errorf("the variable %s occurs twice", v.spec)
			}
			if v.length > maxPrefix {
				return nil, fmt.Errorf("the prefix %s is longer than the limit of %d characters", v.spec, maxPrefix)
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

// Match returns the values of the variables in a URI. It reports false if no expansion of the template gives the URI. A
// list keeps the separator of the URI, except that a comma replaces &id= or ;id=. A variable without a value is
// omitted, unless its value may also be empty. Characters beyond ASCII match both literally and percent-encoded.
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

// Has reports whether the template has a variable with this name.
func (t *Template) Has(name string) bool {
	return slices.ContainsFunc(t.groups, func(g group) bool { return g.name == name })
}

// value returns the value of a variable from the text of its group.
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
	named            bool // the name of the variable precedes each value
	mayEnd           bool // a name without "=" means an empty value
	reserved         bool // values may contain reserved characters
	variables        []variable
}

type variable struct {
	spec     string // text in the template, without "*"
	name     string
	length   int // length of a prefix; 0 for the whole value
	exploded bool
}

// readExpression parses the part between the braces of a valid template. (RFC 6570, section 2.2 and appendix A)
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
		length, _ := strconv.Atoi(prefix) // cannot fail in a valid template
		e.variables = append(e.variables, variable{spec, name, length, exploded})
	}
	return e
}

// write appends the pattern of the expression, in which every variable may lack a value, and adds its groups to t.
func (e *expression) write(pattern *strings.Builder, t *Template) {
	separator := regexp.QuoteMeta(e.separator)
	pattern.WriteString("(?:" + regexp.QuoteMeta(e.first))
	if e.named {
		// The URI contains the names of the variables, so any of them may be the first with a value.
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
				pattern.WriteByte('?') // in "1,2,3", the first variable gets 1, and the last one gets the rest
			}
			pattern.WriteByte(')')
			t.groups = append(t.groups, group{name: v.name, prefix: v.length > 0})
		}
		pattern.WriteString(strings.Repeat(")?", len(e.variables)-1))
	}
	pattern.WriteString(")?")
}

// pair returns the pattern of a name with its value, or of all names and values of an exploded variable.
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

// values returns the pattern of the values of a variable: a string or a list of strings.
func (e *expression) values(v variable) string {
	class := `A-Za-z0-9._~,\x{80}-\x{10FFFF}`
	switch {
	case e.reserved:
		class += `:/?#\[\]@!$&'()*+;=`
	case v.exploded && !e.named: // also matches name=value
		class += "=" + e.separator
	}
	class = "[" + class + "-]"
	if v.length > 0 {
		return fmt.Sprintf("%s{0,%d}", class, v.length)
	}
	return class + "*"
}

// These private-use runes stand for percent-encoded bytes that are not part of a character beyond ASCII; firstMark
// stands for the byte 0. A URI that contains such a rune itself matches nothing.
const (
	firstMark = 0x10F800
	lastMark  = firstMark + 0xFF
)

// runes returns a URI or a literal with one rune for each character, percent-encoded or not. It reports false if the
// text contains a rune reserved for percent-encoded bytes. (RFC 3987, section 3.1; RFC 6570, section 3.1)
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
			b.WriteByte('%') // matches nothing
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

// octet returns the byte at the beginning of a text, percent-encoded or not, and the length of its encoding.
func octet(text string) (byte, int) {
	if !encoded(text) {
		return text[0], 1
	}
	n, _ := strconv.ParseUint(text[1:3], 16, 8) // cannot fail: two digits
	return byte(n), 3
}

// plain is the inverse of runes: it replaces each rune for a percent-encoded byte by that byte.
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
