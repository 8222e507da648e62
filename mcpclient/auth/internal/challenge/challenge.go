// Package challenge parses the header WWW-Authenticate (RFC 9110 §11.6.1). Start at [Parse].
//
// The parser is lenient, because a client cannot authorize if it does not understand the challenge. It accepts URLs
// without quotes, parameters without commas between them and empty elements, and skips invalid text up to the next
// comma. It never fails.
package challenge

import (
	"net/http"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// Limits for the challenges of one response. Parse drops everything above them.
const (
	maxChallenges = 32
	maxParams     = 64 // parameters of one challenge
)

// Challenge is one way to authenticate that a server offers.
type Challenge struct {
	Scheme  string // lower case, such as bearer, dpop or basic
	Token68 string // used by some schemes instead of parameters
	// Params holds the parameters by name in lower case, with unquoted values. If a name is repeated, the first value
	// counts. Params is never nil.
	Params map[string]string
}

// Parse returns the challenges of all WWW-Authenticate fields of h, in their order.
func Parse(h http.Header) []Challenge {
	var all []Challenge
	for _, field := range h.Values("WWW-Authenticate") {
		p := parser{rest: field, all: all}
		p.field()
		all = p.all
	}
	return all
}

// Find returns the first challenge with this scheme, which must be in lower case.
func Find(all []Challenge, scheme string) (Challenge, bool) {
	for _, c := range all {
		if c.Scheme == scheme {
			return c, true
		}
	}
	return Challenge{}, false
}

// parser parses one field in a single pass.
type parser struct {
	rest string
	all  []Challenge
	open bool // the last challenge in all began in this field and accepts parameters
}

// field parses all elements of the field. An element is a parameter if = follows its name; otherwise it begins a
// challenge.
func (p *parser) field() {
	for {
		p.rest = strings.TrimLeft(p.rest, ", \t")
		if p.rest == "" {
			return
		}
		name := p.token()
		switch {
		case name == "":
			p.skip()
		case p.assigned():
			p.param(name)
		default:
			p.begin(name)
		}
	}
}

// begin starts a challenge and parses its token68, if present.
func (p *parser) begin(scheme string) {
	delimited := p.rest == "" || isSpace(p.rest[0]) || p.rest[0] == ','
	p.open = delimited && len(p.all) < maxChallenges
	if !p.open {
		p.skip()
		return
	}
	p.all = append(p.all, Challenge{Scheme: strings.ToLower(scheme), Params: map[string]string{}})
	p.all[len(p.all)-1].Token68 = p.token68()
}

// token68 returns the text before the next comma if it is a token68, else the empty string.
func (p *parser) token68() string {
	element, _, _ := strings.Cut(p.rest, ",")
	text := strings.Trim(element, " \t")
	if !hostname.Token68(text) {
		return ""
	}
	p.rest = p.rest[len(element):]
	return text
}

// assigned skips = and the space around it. It reports whether there was a =.
func (p *parser) assigned() bool {
	after, ok := strings.CutPrefix(strings.TrimLeft(p.rest, " \t"), "=")
	if ok {
		p.rest = strings.TrimLeft(after, " \t")
	}
	return ok
}

// param parses the value of a parameter, and stores it if there is an open challenge.
func (p *parser) param(name string) {
	value, ok := p.value()
	p.skipJunk()
	if !ok || !p.open {
		return
	}
	params := p.all[len(p.all)-1].Params
	name = strings.ToLower(name)
	if _, twice := params[name]; !twice && len(params) < maxParams {
		params[name] = value
	}
}

// value parses a quoted string, or the text before a comma or space. It returns false if the quoted string does not
// end.
func (p *parser) value() (string, bool) {
	if !strings.HasPrefix(p.rest, `"`) {
		n := strings.IndexAny(p.rest, ", \t")
		if n < 0 {
			n = len(p.rest)
		}
		value := p.rest[:n]
		p.rest = p.rest[n:]
		return value, true
	}
	return p.quoted()
}

func (p *parser) quoted() (string, bool) {
	var value strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			p.rest = p.rest[i+1:]
			return value.String(), true
		case c == '\\' && i+1 < len(p.rest):
			i++
			value.WriteByte(p.rest[i])
		default:
			value.WriteByte(c)
		}
	}
	p.rest = ""
	return "", false
}

// skipJunk skips the text between a value and the next comma, unless it is a parameter after a missing comma.
func (p *parser) skipJunk() {
	p.rest = strings.TrimLeft(p.rest, " \t")
	if p.rest == "" || p.rest[0] == ',' {
		return
	}
	after := parser{rest: p.rest}
	if after.token() == "" || !after.assigned() {
		p.skip()
	}
}

// skip skips to the next comma outside quotes.
func (p *parser) skip() {
	for p.rest != "" && p.rest[0] != ',' {
		if p.rest[0] == '"' {
			p.quoted()
			continue
		}
		p.rest = p.rest[1:]
	}
}

// token parses a token (RFC 9110 §5.6.2), which may be empty.
func (p *parser) token() string {
	n := 0
	for n < len(p.rest) && hostname.TokenByte(p.rest[n]) {
		n++
	}
	token := p.rest[:n]
	p.rest = p.rest[n:]
	return token
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }
