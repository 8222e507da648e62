package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// widestChange is how many columns of a line are shown.
const widestChange = 200

// showChanges prints the members of servers that change, and nothing of them that may be secret: no argument, no value
// of a header or a variable, no query.
func showChanges(w io.Writer, path string, changes []rewrite) error {
	if len(changes) > 0 {
		if err := printLine(w, "--- "+visible.Line(path)); err != nil {
			return err
		}
	}
	for _, c := range changes {
		after, err := readServer(c.after)
		if err != nil {
			return err
		}
		lines := []string{"@@ " + visible.Line(c.name) + " @@"}
		was, is := c.before.shown(), after.shown()
		for _, line := range was {
			if !slices.Contains(is, line) {
				lines = append(lines, "-   "+line)
			}
		}
		for _, line := range is {
			if !slices.Contains(was, line) {
				lines = append(lines, "+   "+line)
			}
		}
		for _, line := range lines {
			if short := cut(line, widestChange); short != line {
				line = short + "…"
			}
			if err := printLine(w, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// shown are the members of the server that say how it is reached, a line for each.
func (s *savedServer) shown() (lines []string) {
	for _, m := range s.members {
		var value string
		switch {
		case m.name == "command", m.name == "type", m.name == "transport":
			value = string(m.value)
		case m.name == "args":
			value = s.shownArgs()
		case urlVariables[m.name] != "":
			value = shownURL(m.value)
		case m.name == "headers", m.name == "env":
			value = shownNames(m.value)
		default:
			continue
		}
		lines = append(lines, visible.Line(quote(m.name)+": "+value))
	}
	return lines
}

// shownArgs shows the arguments that are the work of wrap, with the command of the server, and says how many there are
// besides.
func (s *savedServer) shownArgs() string {
	known := 0
	if s.wrapped() {
		args := s.behindName()
		known = len(s.args) - len(args)
		switch i := slices.IndexFunc(args, func(a string) bool { return a == "--" || !ofWrap(a) }); {
		case i < 0:
			known = len(s.args)
		case args[i] == "--":
			known = min(known+i+2, len(s.args))
		default:
			known += i
		}
	}
	var shown []string
	for _, a := range s.args[:known] {
		shown = append(shown, quote(a))
	}
	if rest := len(s.args) - known; rest > 0 {
		shown = append(shown, fmt.Sprintf("… %d", rest))
	}
	return "[" + strings.Join(shown, ", ") + "]"
}

// ofWrap reports whether an argument is one that wrap gives the proxy behind the name, and no value of a header.
func ofWrap(arg string) bool {
	_, variable, _ := strings.Cut(arg, "=")
	return slices.Contains([]string{"--url-env", "--header-env", "--auth"}, arg) ||
		isURLVariable(arg) || isHeaderVariable(variable) || isOption(arg)
}

func shownURL(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text) // what is no string shows nothing
	u, err := bare(text)
	if err != nil {
		return "…"
	}
	return quote(u)
}

func shownNames(raw json.RawMessage) string {
	members, _ := partsOf(raw, '{') // what is no object shows nothing
	var names []string
	for _, m := range members {
		names = append(names, quote(m.name)+": …")
	}
	return "{" + strings.Join(names, ", ") + "}"
}
