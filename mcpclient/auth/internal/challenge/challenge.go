// Package challenge reads what servers put into WWW-Authenticate (RFC 9110 §11.6.1): start at [Parse].
//
// It is forgiving, because a challenge that is not understood is an authorization that does not happen: URLs without
// quotes, parameters without commas between them and empty elements are taken as they are meant, and what makes no
// sense is left out up to the next comma. It never fails.
package challenge

import (
	"net/http"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// Limits on what one response can make Parse keep; more of either is left out.
const (
	maxChallenges = 32
	maxParams     = 64 // of one challenge
)

// Challenge is one of the ways to authenticate that a server offers.
type Challenge struct {
	Scheme  string            // in lower case, such as bearer, dpop or basic
	Token68 string            // what some schemes have instead of parameters
	Params  map[string]string // never nil; names in lower case, values unquoted; of a name that comes twice the first
}

// Parse returns the challenges of every WWW-Authenticate field of h, in their order.
func Parse(h http.Header) []Challenge {
	var all []Challenge
	for _, field := range h.Values("WWW-Authenticate") {
		p := parser{rest: field, all: all}
		p.field()
		all = p.all
	}
	return all
}

// Find returns the first challenge of a scheme, whose name is given in lower case.
func Find(all []Challenge, scheme string) (Challenge, bool) {
	for _, c := range all {
		if c.Scheme == scheme {
			return c, true
		}
	}
	return Challenge{}, false
}

// parser goes through one field from left to right, once.
type parser struct {
	rest string
	all  []Challenge
	open bool // the last of all takes parameters: it began in this field
}

// field reads elements until there are no more. An element is a parameter if = comes after its name, and else begins a
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

// begin starts a challenge, which may have a token68 at once.
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

// token68 takes what stands before the next comma, if it can be nothing but a token68.
func (p *parser) token68() string {
	element, _, _ := strings.Cut(p.rest, ",")
	text := strings.Trim(element, " \t")
	if !hostname.Token68(text) {
		return ""
	}
	p.rest = p.rest[len(element):]
	return text
}

// assigned takes = and the blanks around it.
func (p *parser) assigned() bool {
	after, ok := strings.CutPrefix(strings.TrimLeft(p.rest, " \t"), "=")
	if ok {
		p.rest = strings.TrimLeft(after, " \t")
	}
	return ok
}

// param takes the value of a parameter, and keeps it if there is a challenge it belongs to.
func (p *parser) param(name string) {
	value, ok := p.value()
	p.junk()
	if !ok || !p.open {
		return
	}
	params := p.all[len(p.all)-1].Params
	name = strings.ToLower(name)
	if _, twice := params[name]; !twice && len(params) < maxParams {
		params[name] = value
	}
}

// value reads a quoted string, or else everything before a comma or a blank. It is not ok if the quote does not end.
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

// junk drops what follows a value before the next comma, unless it is a parameter for which the comma was forgotten.
func (p *parser) junk() {
	p.rest = strings.TrimLeft(p.rest, " \t")
	if p.rest == "" || p.rest[0] == ',' {
		return
	}
	after := parser{rest: p.rest}
	if after.token() == "" || !after.assigned() {
		p.skip()
	}
}

// skip drops everything before the next comma that is in no quotes.
func (p *parser) skip() {
	for p.rest != "" && p.rest[0] != ',' {
		if p.rest[0] == '"' {
			p.quoted()
			continue
		}
		p.rest = p.rest[1:]
	}
}

// token takes a token (RFC 9110 §5.6.2), which may be empty.
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
