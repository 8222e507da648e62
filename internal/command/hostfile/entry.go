package hostfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// urlVariables lists the members in which hosts store the URL of a server, each with the environment variable that has
// the URL for the wrapped server.
var urlVariables = map[string]string{
	"url": "MCPOTEL_URL", "serverUrl": "MCPOTEL_SERVER_URL", "httpUrl": "MCPOTEL_HTTP_URL",
}

// headerVariable, followed by a number, is the name of the environment variable with the value of a header. Hosts
// expand their own variables, such as ${input:token}, in env as they do in headers. Process lists do not show env.
const headerVariable = "MCPOTEL_HEADER_"

func isURLVariable(name string) bool {
	for _, v := range urlVariables {
		if v == name {
			return true
		}
	}
	return false
}

func isHeaderVariable(name string) bool {
	number, ok := strings.CutPrefix(name, headerVariable)
	_, err := strconv.ParseUint(number, 10, 0)
	return ok && err == nil
}

// proxyOptions are the prefixes of the proxy arguments that [Entry.Wrap] accepts as options.
var proxyOptions = []string{"--policy=", "--allow-tool=", "--deny-tool=", "--timeout="}

// Translate is another proxy argument that [Entry.Wrap] accepts as an option.
const Translate = "--translate"

// isProxyOption reports whether arg is a proxy argument that [Entry.Wrap] accepts as an option.
func isProxyOption(arg string) bool {
	starts := func(with string) bool { return strings.HasPrefix(arg, with) }
	return arg == Translate || slices.ContainsFunc(proxyOptions, starts)
}

// Entry is one server of a host's file, as written in the file.
type Entry struct {
	Name    string
	from    int // offset of text in the file
	text    []byte
	members []member // with offsets in text
	command string
	args    []string
}

// ErrNoObject is the error for a server that is not a JSON object: the file is not a servers file.
var ErrNoObject = errors.New("not an object")

// readEntry reads the server with this name and text.
func readEntry(name string, text []byte) (*Entry, error) {
	s := &Entry{Name: name, text: text}
	if !bytes.HasPrefix(text, []byte("{")) {
		return nil, ErrNoObject
	}
	var err error
	if s.members, err = membersOf(plain(text)); err != nil {
		return nil, err
	}
	if m := s.member("command"); m != nil && (json.Unmarshal(m.value, &s.command) != nil || s.command == "") {
		return nil, errors.New("command: want a string")
	}
	if m := s.member("args"); m != nil && json.Unmarshal(m.value, &s.args) != nil {
		return nil, errors.New("args: want strings")
	}
	return s, nil
}

// member returns the member with this name; nil without one.
func (s *Entry) member(name string) *member {
	i := find(s.members, name)
	if i < 0 {
		return nil
	}
	return &s.members[i]
}

// urls returns the members with a URL.
func (s *Entry) urls() (all []member) {
	for _, m := range s.members {
		if urlVariables[m.name] != "" {
			all = append(all, m)
		}
	}
	return all
}

// Disabled reports whether the host does not use the server.
func (s *Entry) Disabled() bool {
	m := s.member("disabled")
	return m != nil && string(m.value) == "true"
}

// Wrapped reports whether the server runs behind the proxy, wrapped by this command or by hand.
func (s *Entry) Wrapped() bool {
	name := filepath.Base(strings.ReplaceAll(s.command, `\`, "/"))
	return strings.HasPrefix(name, "mcpotel") && len(s.args) > 0 && s.args[0] == "proxy"
}

// proxyArgs returns the arguments that pass the server's name to the proxy, as JSON strings. It omits a name that would
// prevent the start of the server: arguments cannot contain NUL, and hosts expand variables after "$".
func proxyArgs(name string) []string {
	if name == "" || strings.ContainsAny(name, "\x00$") {
		return []string{`"proxy"`}
	}
	return []string{`"proxy"`, `"--name"`, quote(name)}
}

// behindName returns the arguments of a wrapped server that follow the arguments of proxyArgs.
func (s *Entry) behindName() []string {
	if len(s.args) > 2 && s.args[1] == "--name" {
		return s.args[3:]
	}
	return s.args[1:]
}

// options returns the arguments of a wrapped server that configure the proxy, as wrap has written them.
func (s *Entry) options() (args []string) {
	for _, a := range s.behindName() {
		if !isProxyOption(a) {
			break
		}
		args = append(args, quote(a))
	}
	return args
}

// variables returns the members of env.
func (s *Entry) variables() ([]member, error) {
	m := s.member("env")
	if m == nil || string(m.value) == "null" {
		return nil, nil
	}
	all, err := partsOf(m.value, '{')
	if err != nil {
		return nil, errors.New("env: want an object")
	}
	return all, nil
}

// Wrap returns the text of the server behind the proxy. program is the path of this program, options are arguments of
// the proxy, and env are environment variables for the proxy and the server. A variable that the server already has
// stays unchanged.
func (s *Entry) Wrap(program string, options []string, env map[string]string) ([]byte, error) {
	args := proxyArgs(s.Name)
	for _, o := range options {
		args = append(args, quote(o))
	}
	var more []member
	for _, name := range slices.Sorted(maps.Keys(env)) {
		more = append(more, member{name: name, value: json.RawMessage(quote(env[name]))})
	}
	return s.wrap(args, quote(program), more)
}

// wrap implements Wrap, with the arguments and the program as JSON strings, and the variables as members of env. For a
// server with a command, only command and args change. For a server with a URL, command and args replace url, headers
// move to env, and the type becomes stdio.
func (s *Entry) wrap(args []string, program string, more []member) ([]byte, error) {
	has, err := s.variables()
	if err != nil {
		return nil, err
	}
	var env []string
	for _, m := range more {
		if find(has, m.name) < 0 {
			env = append(env, m.String())
		}
	}
	command, urls := s.member("command"), s.urls()
	switch {
	case command == nil && len(urls) == 0:
		return nil, errors.New("the server has neither a command nor a URL")
	case command == nil && len(urls) == 1:
		return s.wrapURL(args, program, &urls[0], env)
	case len(urls) == 0:
		return s.wrapCommand(args, program, command, env), nil
	}
	return nil, errors.New("the server has both a command and a URL, or more than one URL")
}

func (s *Entry) wrapCommand(args []string, program string, command *member, env []string) []byte {
	args = append(args, `"--"`, string(command.value))
	edits := []edit{{command.from, command.end(), program}}
	last := s.member("args")
	if last != nil {
		edits = append(edits, s.prepend(last, "[]", args))
	} else {
		last = command
		edits = append(edits, s.insert(command, `"args": [`+strings.Join(args, ", ")+"]"))
	}
	switch m := s.member("env"); {
	case len(env) == 0:
	case m != nil:
		edits = append(edits, s.prepend(m, "{}", env))
	default:
		edits = append(edits, s.insert(last, `"env": {`+strings.Join(env, ", ")+"}"))
	}
	return s.edited(edits...)
}

func (s *Entry) wrapURL(args []string, program string, url *member, more []string) ([]byte, error) {
	if url.value[0] != '"' {
		return nil, errors.New("url: want a string")
	}
	for _, name := range []string{"args", "env", "cwd"} {
		if s.member(name) != nil {
			return nil, fmt.Errorf("the server has a URL, which does not use %s", name)
		}
	}
	variable := quote(urlVariables[url.name])
	args = append(args, `"--url-env"`, variable)
	env := append([]string{variable + ": " + string(url.value)}, more...)
	var edits []edit
	authorized := false
	headers := s.member("headers")
	if headers != nil && string(headers.value) != "null" {
		all, err := partsOf(headers.value, '{')
		if err != nil {
			return nil, errors.New("headers: want an object")
		}
		for i, h := range all {
			if h.value[0] != '"' || !hostname.Token(h.name) {
				return nil, errors.New("headers: want names of header fields with strings")
			}
			authorized = authorized || strings.EqualFold(h.name, "Authorization")
			variable := fmt.Sprint(headerVariable, i+1)
			args = append(args, `"--header-env"`, quote(h.name+"="+variable))
			edits = append(edits, edit{headers.from + h.at, headers.from + h.nameEnd, quote(variable)})
		}
	}
	if !authorized {
		args = append(args, `"--auth"`) // the proxy authorizes instead of the host
	}
	gap := s.gap(url.at)
	text := `"command": ` + program + "," + gap + `"args": [` + strings.Join(args, ", ") + "]"
	if headers == nil {
		text += "," + gap + `"env": {` + strings.Join(env, ", ") + "}"
	} else {
		edits = append(edits, edit{headers.at, headers.nameEnd, `"env"`}, s.prepend(headers, "{}", env))
	}
	edits = append(edits, edit{url.at, url.end(), text})
	return s.edited(append(edits, s.typed("stdio")...)...), nil
}

// typed returns an edit that sets the type of the server, if it has one.
func (s *Entry) typed(as string) (edits []edit) {
	for _, m := range s.members {
		if m.name == "type" || m.name == "transport" {
			edits = append(edits, edit{m.from, m.end(), quote(as)})
		}
	}
	return edits
}

// errByHand is the error for a server that runs behind the proxy, but was not written by wrap.
var errByHand = errors.New("the server was not wrapped by this command: remove the proxy by hand")

// Unwrap derives the original server from the wrapped server, for servers without a backup.
func (s *Entry) Unwrap() ([]byte, error) {
	args := s.behindName()
	if i := slices.Index(args, "--"); i >= 0 && i+1 < len(args) {
		return s.unwrapCommand(len(s.args) - len(args) + i + 1), nil
	}
	return s.unwrapURL()
}

// unwrapCommand makes args[at] the command and removes it, and everything before it, from args.
func (s *Entry) unwrapCommand(at int) []byte {
	command, args := s.member("command"), s.member("args")
	elements, _ := partsOf(args.value, '[') // args is an array: readEntry has checked it
	cut := edit{args.from, args.end(), "[]"}
	if at+1 < len(elements) {
		cut = edit{args.from + elements[0].from, args.from + elements[at+1].from, ""}
	}
	return s.edited(edit{command.from, command.end(), string(elements[at].value)}, cut)
}

// added returns the variables that wrapping has added to a server, except variables that only the proxy reads.
func (s *Entry) added(before *Entry) (more []member) {
	was, _ := before.variables() // an env that is not an object has no variables
	is, _ := s.variables()
	for _, m := range is {
		if find(was, m.name) < 0 && !isURLVariable(m.name) && !isHeaderVariable(m.name) {
			more = append(more, m)
		}
	}
	return more
}

// unwrapURL restores url and headers from env. The rest of env was for the proxy.
func (s *Entry) unwrapURL() ([]byte, error) {
	command, args, env := find(s.members, "command"), find(s.members, "args"), s.member("env")
	if env == nil || len(s.urls()) > 0 || s.member("headers") != nil || args != command+1 {
		return nil, errByHand
	}
	variables, err := s.variables()
	if err != nil {
		return nil, err
	}
	var url string
	for name, variable := range urlVariables {
		if i := find(variables, variable); i >= 0 && slices.Contains(s.behindName(), variable) {
			url = quote(name) + ": " + string(variables[i].value)
		}
	}
	if url == "" {
		return nil, errByHand
	}
	var headers []string
	for _, a := range s.behindName()[len(s.options()):] {
		name, variable, _ := strings.Cut(a, "=")
		if i := find(variables, variable); i >= 0 && isHeaderVariable(variable) {
			headers = append(headers, (&member{name: name, value: variables[i].value}).String())
		}
	}
	edits := []edit{{s.members[command].at, s.members[args].end(), url}}
	if len(headers) > 0 {
		edits = append(edits, edit{env.at, env.end(), `"headers": {` + strings.Join(headers, ", ") + "}"})
	} else {
		edits = append(edits, s.without("env"))
	}
	return s.edited(append(edits, s.typed("http")...)...), nil
}

// edit replaces the text between two offsets.
type edit struct {
	from, to int
	text     string
}

// edited returns the server with these edits, which must not overlap.
func (s *Entry) edited(edits ...edit) []byte { return apply(s.text, edits) }

func apply(text []byte, edits []edit) (changed []byte) {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	done := 0
	for _, e := range edits {
		changed = append(append(changed, text[done:e.from]...), e.text...)
		done = e.to
	}
	return append(changed, text[done:]...)
}

// insert inserts a member after another.
func (s *Entry) insert(behind *member, text string) edit {
	return edit{behind.end(), behind.end(), "," + s.gap(behind.at) + text}
}

// prepend inserts items at the beginning of the value of m. brackets is "[]" for a list or "{}" for an object. If the
// value is null, prepend replaces it.
func (s *Entry) prepend(m *member, brackets string, items []string) edit {
	has, err := partsOf(m.value, jsontext.Kind(brackets[0]))
	switch {
	case err != nil:
		return edit{m.from, m.end(), brackets[:1] + strings.Join(items, ", ") + brackets[1:]}
	case len(has) == 0:
		return edit{m.from + 1, m.from + 1, strings.Join(items, ", ")}
	}
	first := m.from + has[0].at
	gap := "," + s.gap(first)
	return edit{first, first, strings.Join(items, gap) + gap}
}

// without removes a member and one comma. There must be another member.
func (s *Entry) without(name string) edit {
	i := find(s.members, name)
	if i == 0 {
		return edit{s.members[0].at, s.members[1].at, ""}
	}
	return edit{s.members[i-1].end(), s.members[i].end(), ""}
}

// gap returns the whitespace to insert between two members or elements, copied from the whitespace before the member at
// this offset: a line break and the indentation, or one space.
func (s *Entry) gap(at int) string {
	before := s.text[len(bytes.TrimRight(s.text[:at], " \t\r\n")):at]
	i := bytes.LastIndexByte(before, '\n')
	if i < 0 {
		return " "
	}
	if i > 0 && before[i-1] == '\r' {
		i--
	}
	return string(before[i:])
}
