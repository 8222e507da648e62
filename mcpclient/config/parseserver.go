package config

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// server parses one server.
func (p *parser) server(name, path string, v jsontext.Value) {
	members, ok := p.object(path, v)
	if !ok {
		return
	}
	if name == "" {
		p.fail(path, "the server has no name")
	}
	s := &Server{Name: name}
	p.config.Servers = append(p.config.Servers, s)
	if i := slices.IndexFunc(members, func(m field) bool { return m.name == "disabled" }); i >= 0 {
		if s.Disabled = p.truth(within(path, "disabled"), members[i].value); s.Disabled {
			return
		}
	}
	given := map[string]bool{}
	for _, m := range members {
		given[m.name] = true
		p.member(s, m.name, within(path, m.name), m.value)
	}
	p.settle(s, path, given)
}

// member parses one member of a server.
func (p *parser) member(s *Server, name, path string, v jsontext.Value) {
	switch name {
	case "command":
		problems := len(p.problems)
		if s.Command = p.text(path, v); s.Command == "" && len(p.problems) == problems {
			p.fail(path, "the command is empty")
		}
	case "args":
		s.Args = p.texts(path, v)
	case "env":
		s.Env = p.env(path, v)
	case "cwd":
		s.Dir = p.text(path, v)
	case "url":
		s.URL = p.url(path, v)
	case "headers":
		s.Header = p.headers(path, v)
	case "type", "transport":
		t := p.kindOf(path, v)
		if s.Type != "" && t != "" && s.Type != t {
			p.fail(path, "type and transport must be equal; remove one of them")
		}
		s.Type = t
	case "timeout":
		s.Timeout = p.timeout(path, v)
	case "listen":
		s.NoListening = !p.truth(path, v)
	case "start":
		s.Lazy = p.lazy(path, v)
	case "idle":
		s.Idle = p.idle(path, v)
	case "disabled":
	default:
		p.warn(path, "the member is unknown and is ignored")
	}
}

// settle checks that the members of a server fit together.
func (p *parser) settle(s *Server, path string, given map[string]bool) {
	program := given["command"]
	switch {
	case s.Type == "" && (given["type"] || given["transport"]): // already reported as a problem
	case s.Type == TypeStdio && !program:
		p.fail(path, "a server of type stdio needs a command")
	case s.Type == "" && program && given["url"]:
		p.fail(path, "the server has both a command and a url; remove one, or add a type")
	case s.Type != TypeStdio && s.Type != "" && !given["url"]:
		p.fail(path, "a server of type %s needs a url", s.Type)
	case !program && !given["url"]:
		p.fail(path, "the server needs a command or a url")
	case s.Type == "" && program:
		s.Type = TypeStdio
	case s.Type == "":
		s.Type = TypeAuto
	}
	idle := []string{"command", "args", "env", "cwd"}
	if s.Type == TypeStdio {
		idle = []string{"url", "headers"}
		s.Environ = p.environ
	}
	for _, name := range idle {
		if given[name] {
			p.warn(within(path, name), "a server of type %s does not use this member", s.Type)
		}
	}
}
