package hostfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// Change is a new text for one server in a file.
type Change struct {
	Entry *Entry
	After []byte
}

// Lines returns the changed lines of the members that determine the connection to the server. It omits possible
// secrets: arguments, values of headers and variables, and queries.
func (c *Change) Lines() ([]string, error) {
	after, err := readEntry(c.Entry.Name, c.After)
	if err != nil {
		return nil, err
	}
	lines := []string{"@@ " + visible.Line(c.Entry.Name) + " @@"}
	was, is := c.Entry.shown(), after.shown()
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
	return lines, nil
}

// shown returns a line for each member that determines the connection to the server.
func (s *Entry) shown() (lines []string) {
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

// shownArgs returns the arguments that wrap has written, the server's command, and the number of other arguments.
func (s *Entry) shownArgs() string {
	known := 0
	if s.Wrapped() {
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

// ofWrap reports whether arg is an argument that wrap adds after the name, and does not contain the value of a header.
func ofWrap(arg string) bool {
	_, variable, _ := strings.Cut(arg, "=")
	return slices.Contains([]string{"--url-env", "--header-env", "--auth"}, arg) ||
		isURLVariable(arg) || isHeaderVariable(variable) || isProxyOption(arg)
}

func shownURL(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text) // a value that is not a string is shown as an empty one
	u, err := bare(text)
	if err != nil {
		return "…"
	}
	return quote(u)
}

func shownNames(raw json.RawMessage) string {
	members, _ := partsOf(raw, '{') // a value that is not an object is shown as an empty one
	var names []string
	for _, m := range members {
		names = append(names, quote(m.name)+": …")
	}
	return "{" + strings.Join(names, ", ") + "}"
}
