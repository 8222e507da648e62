package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// Parse parses the content of a file. If the file has problems, the error joins all of them, each as a [Problem], and
// the config is nil.
func Parse(data []byte, o *Options) (*Config, error) {
	if o == nil {
		o = &Options{}
	}
	p := parser{lookup: o.LookupEnv, environ: o.Environ}
	if p.lookup == nil {
		p.lookup = os.LookupEnv
	}
	if p.environ == nil {
		p.environ = DefaultEnviron()
	}
	p.file(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if len(p.problems) > 0 {
		return nil, fmt.Errorf("config: %w", errors.Join(p.problems...))
	}
	return &p.config, nil
}

// parser collects the servers and the problems of a file.
type parser struct {
	lookup   func(string) (string, bool)
	environ  []string
	config   Config
	problems []error
}

func (p *parser) fail(path, format string, args ...any) {
	p.problems = append(p.problems, Problem{path, fmt.Sprintf(format, args...)})
}

func (p *parser) warn(path, format string, args ...any) {
	p.config.Warnings = append(p.config.Warnings, Problem{path, fmt.Sprintf(format, args...)})
}

// within returns the path of a member or an element of the value at path.
func within(path, member string) string {
	if _, err := strconv.ParseUint(member, 10, 0); err == nil {
		return path + "[" + member + "]"
	}
	if !isVariable(strings.ReplaceAll(member, "-", "_")) {
		return path + "[" + strconv.Quote(member) + "]"
	}
	if path == "" {
		return member
	}
	return path + "." + member
}

func (p *parser) file(data []byte) {
	if len(bytes.TrimSpace(data)) == 0 {
		p.fail("", "the file is empty")
		return
	}
	d := jsontext.NewDecoder(bytes.NewReader(data))
	whole, err := d.ReadValue()
	if err == nil {
		whole = whole.Clone()
		if _, err = d.ReadToken(); err == nil {
			err = errors.New("the file has more than one JSON value")
		}
	}
	if err != io.EOF {
		p.syntax(data, err, d.InputOffset())
		return
	}
	top, ok := p.object("", whole)
	if !ok {
		return
	}
	for _, name := range []string{"mcpServers", "servers"} {
		for _, m := range top {
			if m.name != name {
				continue
			}
			servers, _ := p.object(name, m.value)
			for _, s := range servers {
				p.server(s.name, within(name, s.name), s.value)
			}
			return
		}
	}
	p.fail("", "the file has no member mcpServers")
}

// syntax reports the position where the file is not valid JSON.
func (p *parser) syntax(data []byte, err error, offset int64) {
	path := ""
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset, err = e.ByteOffset, e.Err
		for token := range e.JSONPointer.Tokens() {
			path = within(path, token)
		}
	}
	before := data[:min(max(offset, 0), int64(len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	p.fail(path, "line %d, column %d: %v", line, column, err)
}

type field struct {
	name  string
	value jsontext.Value
}

// object returns the members of an object in their order. It omits members with the value null.
func (p *parser) object(path string, v jsontext.Value) (all []field, ok bool) {
	if !p.kind(path, v, '{', "an object") {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	_, _ = d.ReadToken() // cannot fail: v is valid JSON
	for d.PeekKind() == '"' {
		name, _ := d.ReadToken()
		f := field{name: name.String()}
		value, _ := d.ReadValue()
		if f.value = value.Clone(); value.Kind() != 'n' {
			all = append(all, f)
		}
	}
	return all, true
}

// kind reports whether v has the kind want. If not, it adds a problem.
func (p *parser) kind(path string, v jsontext.Value, want jsontext.Kind, words string) bool {
	if v.Kind() == want {
		return true
	}
	got := map[jsontext.Kind]string{'{': "an object", '[': "an array", '"': "a string", '0': "a number", 't': "true",
		'f': "false", 'n': "null"}[v.Kind()]
	p.fail(path, "got %s, want %s", got, words)
	return false
}

// truth returns the value of a boolean. It adds a problem for any other value.
func (p *parser) truth(path string, v jsontext.Value) bool {
	return v.Kind() != 'f' && p.kind(path, v, 't', "true or false")
}

// text returns a string with its variables expanded.
func (p *parser) text(path string, v jsontext.Value) string {
	if !p.kind(path, v, '"', "a string") {
		return ""
	}
	raw, _ := jsontext.AppendUnquote(nil, v)
	s, err := expand(string(raw), p.lookup)
	if err != nil {
		p.fail(path, "%v", err)
	}
	if strings.ContainsRune(s, 0) {
		p.fail(path, "the value contains a NUL")
	}
	return s
}

// texts returns the strings of an array.
func (p *parser) texts(path string, v jsontext.Value) (all []string) {
	if !p.kind(path, v, '[', "an array") {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	_, _ = d.ReadToken()
	for d.PeekKind() != ']' {
		element, _ := d.ReadValue()
		all = append(all, p.text(fmt.Sprintf("%s[%d]", path, len(all)), element))
	}
	return all
}

func (p *parser) env(path string, v jsontext.Value) map[string]string {
	members, _ := p.object(path, v)
	env := make(map[string]string, len(members))
	for _, m := range members {
		at := within(path, m.name)
		if m.name == "" || strings.ContainsAny(m.name, "=\x00") {
			p.fail(at, "invalid variable name")
		}
		env[m.name] = p.text(at, m.value)
	}
	return env
}

func (p *parser) headers(path string, v jsontext.Value) http.Header {
	members, _ := p.object(path, v)
	header := make(http.Header, len(members))
	for _, m := range members {
		at := within(path, m.name)
		value := p.text(at, m.value)
		if !hostname.Token(m.name) {
			p.fail(at, "invalid header field name")
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			p.fail(at, "the value contains control characters")
		}
		header.Add(m.name, value)
	}
	return header
}

func (p *parser) url(path string, v jsontext.Value) string {
	problems := len(p.problems)
	s := p.text(path, v)
	if u, err := url.Parse(s); len(p.problems) == problems &&
		(err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		p.fail(path, "the URL must begin with http:// or https://")
	}
	return s
}

func (p *parser) kindOf(path string, v jsontext.Value) Type {
	switch s := p.text(path, v); strings.ToLower(s) {
	case "stdio":
		return TypeStdio
	case "http", "streamable-http", "streamablehttp", "streamable_http":
		return TypeStreamable
	case "sse":
		return TypeSSE
	}
	p.fail(path, "unknown type; use stdio, http, streamable-http or sse")
	return ""
}

// lazy reports whether the server starts at its first use.
func (p *parser) lazy(path string, v jsontext.Value) bool {
	switch s := p.text(path, v); s {
	case "lazy":
		return true
	case "eager", "":
	default:
		p.fail(path, `unknown start; use "lazy", or "eager" for the default`)
	}
	return false
}

// timeout returns the limit for each request.
func (p *parser) timeout(path string, v jsontext.Value) time.Duration {
	return p.duration(path, v, "timeout", "30s")
}

// idle returns the time without use after which the server stops.
func (p *parser) idle(path string, v jsontext.Value) time.Duration {
	return p.duration(path, v, "idle time", "5m")
}

// duration returns a duration, given as a number of milliseconds or as a string with a unit.
func (p *parser) duration(path string, v jsontext.Value, what, example string) time.Duration {
	var d time.Duration
	if v.Kind() == '"' {
		var err error
		if d, err = time.ParseDuration(p.text(path, v)); err != nil {
			p.fail(path, `invalid %s; use a number of milliseconds, or a string such as "%s"`, what, example)
			return 0
		}
	} else {
		if !p.kind(path, v, '0', "a number of milliseconds") {
			return 0
		}
		ms, err := strconv.ParseFloat(string(v), 64)
		if err != nil || ms*float64(time.Millisecond) >= math.MaxInt64 {
			ms = float64(math.MaxInt64/time.Millisecond - 1)
		}
		if d = time.Duration(ms * float64(time.Millisecond)); ms > 0 && ms < 1000 {
			p.warn(path, "the number is in milliseconds, so the %s is less than a second", what)
		}
	}
	if d <= 0 {
		p.fail(path, "the %s must be more than zero", what)
	}
	return d
}
