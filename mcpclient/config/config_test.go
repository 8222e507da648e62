package config_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/config"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// environment returns the variables A, EMPTY, TOKEN and NESTED.
func environment(name string) (string, bool) {
	value, set := map[string]string{"A": "a", "EMPTY": "", "TOKEN": "hunter2", "NESTED": "${A}"}[name]
	return value, set
}

func options() *config.Options {
	return &config.Options{LookupEnv: environment, Environ: []string{"PATH=/bin"}}
}

// servers parses the servers of mcpServers.
func servers(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse([]byte(`{"mcpServers":`+text+`}`), options())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestServersAreReadInTheirOrder(t *testing.T) {
	c := servers(t, `{
		"z": {"command": "npx", "args": ["-y", "${A}/${MISSING:-b}"], "env": {"TOKEN": "${TOKEN}", "B": "$A"}, "cwd": "/w/${env:A}"},
		"off": {"disabled": true, "command": 7, "env": {"X": "${MISSING}"}},
		"auto": {"url": "https://example.com/${A}", "headers": {"authorization": "Bearer ${TOKEN}"}, "timeout": 1500.5},
		"http": {"url": "http://x", "type": "streamable-http", "timeout": "2m", "disabled": false},
		"sse": {"url": "http://x", "transport": "sse", "args": null, "listen": false}
	}`)
	want := []*config.Server{
		{
			Name: "z", Type: config.TypeStdio, Command: "npx", Args: []string{"-y", "a/b"},
			Env: map[string]string{"TOKEN": "hunter2", "B": "$A"}, Environ: []string{"PATH=/bin"}, Dir: "/w/a",
		},
		{Name: "off", Disabled: true},
		{
			Name: "auto", Type: config.TypeAuto, URL: "https://example.com/a",
			Header:  http.Header{"Authorization": {"Bearer hunter2"}},
			Timeout: 1500*time.Millisecond + 500*time.Microsecond,
		},
		{Name: "http", Type: config.TypeStreamable, URL: "http://x", Timeout: 2 * time.Minute},
		{Name: "sse", Type: config.TypeSSE, URL: "http://x", NoListening: true},
	}
	if diff := cmp.Diff(want, c.Servers); diff != "" || len(c.Warnings) != 0 {
		t.Errorf("servers (-want +got):\n%s\nwarnings: %v", diff, c.Warnings)
	}
}

func TestMembersHaveSettingsFromFile(t *testing.T) {
	c := servers(t, `{
		"run": {"command": "srv", "args": ["x"], "env": {"B": "2", "A": "1"}, "cwd": "/w", "timeout": 5000, "listen": false,
			"start": "lazy", "idle": "5m"},
		"off": {"disabled": true},
		"web": {"url": "http://x/mcp", "headers": {"K": "v"}, "type": "http", "listen": true, "start": "eager",
			"idle": 90000},
		"old": {"url": "http://x/sse", "type": "sse"},
		"any": {"url": "http://x/any"}
	}`)
	shared := &mcpclient.Options{Name: "shared", RequestTimeout: time.Hour, Limits: mcpclient.Limits{Frame: 7}}
	var got []string
	for _, m := range c.Members(shared) {
		line := fmt.Sprintf("%s %s %v %d %t %t %v", m.Name, m.Options.Name, m.Options.RequestTimeout,
			m.Options.Limits.Frame, m.Options.NoListening, m.Lazy, m.Idle)
		switch tr := m.Transport.(type) {
		case transport.Stdio:
			line += fmt.Sprint(" ", tr.Command, tr.Args, tr.Env, tr.Dir)
		case *transport.HTTP:
			line += fmt.Sprint(" ", tr.URL, tr.Header, tr.Mode)
		}
		got = append(got, line)
	}
	want := []string{
		"run run 5s 7 true true 5m0s srv[x] [PATH=/bin A=1 B=2]/w",
		"web web 1h0m0s 7 false false 1m30s http://x/mcpmap[K:[v]] 1",
		"old old 1h0m0s 7 false false 0s http://x/ssemap[] 2",
		"any any 1h0m0s 7 false false 0s http://x/anymap[] 0",
	}
	if diff := cmp.Diff(want, got); diff != "" || shared.Name != "shared" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	if m := c.Members(nil)[0]; m.Options.RequestTimeout != 5*time.Second {
		t.Errorf("without shared options: got %+v", m.Options)
	}
}

func TestProgramGetsOnlyNecessaryEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_THIS_PROCESS", "hunter2")
	t.Setenv("PATH", "/bin")
	t.Setenv("TERM", "() { :; }")
	parse := func(o *config.Options) []string {
		c, err := config.Parse([]byte(`{"mcpServers":{"x":{"command":"x"}}}`), o)
		if err != nil {
			t.Fatal(err)
		}
		return c.Servers[0].Transport().(transport.Stdio).Env
	}
	got := strings.Join(parse(nil), " ")
	if strings.Contains(got, "hunter2") || !strings.Contains(got, "PATH=/bin") || strings.Contains(got, "()") {
		t.Errorf("by default: got %q, want PATH without the secret and the function", got)
	}
	if got := parse(&config.Options{Environ: []string{}}); got == nil || len(got) != 0 {
		t.Errorf("with an empty Environ: got %q, want an empty list and not nil", got)
	}
	if got := strings.Join(parse(&config.Options{Environ: os.Environ()}), " "); !strings.Contains(got, "hunter2") {
		t.Errorf("with os.Environ: got %q", got)
	}
}

func TestVariablesAreExpanded(t *testing.T) {
	for text, want := range map[string]string{
		"${A}":              "a",
		"x${A}y${env:A}z":   "xayaz",
		"${EMPTY:-b}":       "", // the variable is set
		"${MISSING:-b}":     "b",
		"${MISSING:-}":      "",
		"${MISSING:-x:-y}":  "x:-y",
		"${NESTED}":         "${A}",
		"$A {A}":            "$A {A}",
		"a$":                "a$",
		"${A":               "${A",
		"${MISSING:-${A}}":  "${A}",
		"100% $${A} \u00e9": "100% $a \u00e9",
	} {
		c, err := config.Parse(fmt.Appendf(nil, `{"mcpServers":{"x":{"command":"c","args":[%q]}}}`, text), options())
		if err != nil || c.Servers[0].Args[0] != want {
			t.Errorf("%s: got %v, %v, want %s", text, c, err, want)
		}
	}
}

func TestErrorsNameThePositionWithoutSecrets(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"empty":               {` `, "config: the file is empty"},
		"not JSON":            {"{\n  \"mcpServers\": {\n    \"a\": {,}}}", "config: mcpServers.a: line 3, column 11: "},
		"cut off":             {`{"mcpServers":`, "config: mcpServers: line 1, column 15: "},
		"more than one value": {`{"mcpServers":{}} {}`, "config: line 1, column 20: the file has more than one JSON value"},
		"garbage at the end":  {`{"mcpServers":{}} x`, "config: line 1, column 19: "},
		"a member twice": {`{"mcpServers":{"a":{"command":"x","command":"y"}}}`,
			"config: mcpServers.a.command: line 1, column 35: duplicate"},
		"not an object":         {`[]`, "config: got an array, want an object"},
		"no servers":            {`{"mcpservers":{}}`, "config: the file has no member mcpServers"},
		"servers not an object": {`{"mcpServers":[]}`, "config: mcpServers: got an array, want an object"},
		"server not an object":  {`{"mcpServers":{"a":"npx"}}`, "config: mcpServers.a: got a string, want an object"},
		"no name":               {`{"mcpServers":{"":{"command":"x"}}}`, `config: mcpServers[""]: the server has no name`},
		"nothing": {`{"mcpServers":{"a b":{}}}`,
			`config: mcpServers["a b"]: the server needs a command or a url`},
		"both": {`{"mcpServers":{"a":{"command":"x","url":"http://x"}}}`,
			"config: mcpServers.a: the server has both a command and a url; remove one, or add a type"},
		"no command": {`{"mcpServers":{"a":{"type":"stdio"}}}`,
			"config: mcpServers.a: a server of type stdio needs a command"},
		"no url": {`{"mcpServers":{"a":{"type":"sse","command":"x"}}}`,
			"config: mcpServers.a: a server of type sse needs a url"},
		"an empty command": {`{"mcpServers":{"a":{"command":""}}}`, "config: mcpServers.a.command: the command is empty"},
		"another type": {`{"mcpServers":{"a":{"type":"ws","url":"x"}}}`,
			"config: mcpServers.a.type: unknown type; use stdio, http, streamable-http or sse\n" +
				"mcpServers.a.url: the URL must begin with http:// or https://"},
		"two types": {`{"mcpServers":{"a":{"type":"sse","transport":"http","url":"http://x"}}}`,
			"config: mcpServers.a.transport: type and transport must be equal; remove one of them"},
		"a number": {`{"mcpServers":{"a":{"command":"x","env":{"PORT":8080}}}}`,
			"config: mcpServers.a.env.PORT: got a number, want a string"},
		"in an array": {`{"mcpServers":{"a":{"command":"x","args":["hunter2",["hunter2"]]}}}`,
			"config: mcpServers.a.args[1]: got an array, want a string"},
		"disabled": {`{"mcpServers":{"a":{"command":"x","disabled":"no"}}}`,
			"config: mcpServers.a.disabled: got a string, want true or false"},
		"listen": {`{"mcpServers":{"a":{"command":"x","listen":"no"}}}`,
			"config: mcpServers.a.listen: got a string, want true or false"},
		"start": {`{"mcpServers":{"a":{"command":"x","start":"later"}}}`,
			`config: mcpServers.a.start: unknown start; use "lazy", or "eager" for the default`},
		"idle": {`{"mcpServers":{"a":{"command":"x","idle":"soon"}}}`,
			`config: mcpServers.a.idle: invalid idle time; use a number of milliseconds, or a string such as "5m"`},
		"a negative idle time": {`{"mcpServers":{"a":{"command":"x","idle":"-5m"}}}`,
			"config: mcpServers.a.idle: the idle time must be more than zero"},
		"not set": {`{"mcpServers":{"a":{"command":"x","env":{"K":"hunter2 ${MISSING} ${GONE}"}}}}`,
			"config: mcpServers.a.env.K: the environment variable MISSING is not set\nthe environment variable GONE is not set"},
		"a command not set": {`{"mcpServers":{"a":{"command":"${MISSING}"}}}`,
			"config: mcpServers.a.command: the environment variable MISSING is not set"},
		"invalid variable": {`{"mcpServers":{"a":{"command":"x","env":{"P":"x${hunter-2}y"}}}}`,
			"config: mcpServers.a.env.P: the text between ${ and } is not the name of an environment variable"},
		"another kind of variable": {`{"mcpServers":{"a":{"command":"x","args":["${input:hunter2}"]}}}`,
			"config: mcpServers.a.args[0]: ${input:...} does not name an environment variable; use ${VAR} or ${env:VAR}"},
		"a url": {`{"mcpServers":{"a":{"url":"ftp://user:hunter2@x"}}}`,
			"config: mcpServers.a.url: the URL must begin with http:// or https://"},
		"a url with a variable": {`{"mcpServers":{"a":{"url":"http://[${TOKEN}"}}}`,
			"config: mcpServers.a.url: the URL must begin with http:// or https://"},
		"a header name": {`{"mcpServers":{"a":{"url":"http://x","headers":{"a b":"hunter2"}}}}`,
			`config: mcpServers.a.headers["a b"]: invalid header field name`},
		"a header value": {`{"mcpServers":{"a":{"url":"http://x","headers":{"a":"hunter2\r\nb: c"}}}}`,
			"config: mcpServers.a.headers.a: the value contains control characters"},
		"a variable name": {`{"mcpServers":{"a":{"command":"x","env":{"A=B":"c"}}}}`,
			`config: mcpServers.a.env["A=B"]: invalid variable name`},
		"a NUL": {`{"mcpServers":{"a":{"command":"x\u0000y"}}}`, "config: mcpServers.a.command: the value contains a NUL"},
		"timeout zero": {`{"mcpServers":{"a":{"command":"x","timeout":0}}}`,
			"config: mcpServers.a.timeout: the timeout must be more than zero"},
		"a negative timeout": {`{"mcpServers":{"a":{"command":"x","timeout":"-1s"}}}`,
			"config: mcpServers.a.timeout: the timeout must be more than zero"},
		"a timeout of words": {`{"mcpServers":{"a":{"command":"x","timeout":"soon"}}}`,
			`config: mcpServers.a.timeout: invalid timeout; use a number of milliseconds, or a string such as "30s"`},
		"a boolean timeout": {`{"mcpServers":{"a":{"command":"x","timeout":true}}}`,
			"config: mcpServers.a.timeout: got true, want a number of milliseconds"},
		"several": {`{"mcpServers":{"a":{},"b":{"url":7}}}`,
			"config: mcpServers.a: the server needs a command or a url\nmcpServers.b.url: got a number, want a string"},
	} {
		_, err := config.Parse([]byte(test.text), options())
		if err == nil {
			t.Errorf("%s: got no error, want %q", name, test.want)
			continue
		}
		got := err.Error()
		if prefix := strings.HasSuffix(test.want, ": ") ||
			strings.HasSuffix(test.want, "duplicate"); got != test.want && !(prefix && strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if strings.Contains(got, "hunter2") {
			t.Errorf("%s: the secret is in %q", name, got)
		}
		if _, ok := errors.AsType[config.Problem](err); !ok {
			t.Errorf("%s: got %T, want a Problem", name, err)
		}
	}
}

func TestLikelyMistakesCauseWarnings(t *testing.T) {
	c := servers(t, `{
		"a": {"command": "x", "Args": ["y"], "autoApprove": [], "timeout": 30, "headers": {}},
		"b": {"url": "http://x", "cwd": "/", "env": {}}
	}`)
	var got []string
	for _, w := range c.Warnings {
		got = append(got, w.Error())
	}
	want := []string{
		"mcpServers.a.Args: the member is unknown and is ignored",
		"mcpServers.a.autoApprove: the member is unknown and is ignored",
		"mcpServers.a.timeout: the number is in milliseconds, so the timeout is less than a second",
		"mcpServers.a.headers: a server of type stdio does not use this member",
		"mcpServers.b.env: a server of type auto does not use this member",
		"mcpServers.b.cwd: a server of type auto does not use this member",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestParseAcceptsFilesOfOtherPrograms(t *testing.T) {
	for name, text := range map[string]string{
		"other settings":  `{"theme":"dark","mcpServers":{"a":{"command":"x"}},"servers":7}`,
		"servers":         `{"inputs":[],"servers":{"a":{"type":"stdio","command":"x"}}}`,
		"byte order mark": "\uFEFF" + `{"mcpServers":{"a":{"command":"x"}}}`,
		"a long timeout":  `{"mcpServers":{"a":{"command":"x","timeout":1e300}}}`,
	} {
		c, err := config.Parse([]byte(text), nil)
		if err != nil || len(c.Servers) != 1 || c.Servers[0].Command != "x" || c.Servers[0].Timeout < 0 ||
			len(c.Warnings) != 0 {
			t.Errorf("%s: got %+v, %v, want the server a", name, c, err)
		}
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	if _, err := config.Load(path, nil); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want fs.ErrNotExist for %s", err, path)
	}
	if err := os.WriteFile(path, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(path, nil); err == nil || !strings.HasPrefix(err.Error(), path+": config: ") {
		t.Errorf("got %v, want the path at the beginning", err)
	}
	if err := os.WriteFile(path, []byte(`{"mcpServers":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(path, nil); err != nil || len(c.Members(nil)) != 0 {
		t.Errorf("got %+v, %v, want no servers", c, err)
	}
}

func TestPrintedServerContainsNoSecret(t *testing.T) {
	c := servers(t, `{
		"a": {"command": "x", "args": ["hunter2"], "env": {"K": "${TOKEN}"}},
		"b": {"url": "http://user:hunter2@example.com/hunter2?k=hunter2", "headers": {"K": "hunter2"}},
		"c": {"disabled": true}
	}`)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("read", "server", c.Servers[1])
	if got, want := fmt.Sprintf("%v %+v %v", c.Servers[0], c.Servers[1], c.Servers[2]),
		"a (stdio) b (auto, example.com) c (disabled)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if strings.Contains(log.String(), "hunter2") || !strings.Contains(log.String(), "example.com") {
		t.Errorf("logged %s, want the host without the secret", log.String())
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"mcpServers":{"a":{"command":"${A}","args":["${B:-c}"],"env":{"X":"y"},"timeout":5}}}`)
	f.Add(`{"servers":{"a":{"url":"https://x","headers":{"k":"v"},"type":"sse"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := config.Parse([]byte(text), options())
		if err != nil {
			return
		}
		for _, s := range c.Servers {
			if tr := s.Transport(); !s.Disabled && tr.Name() == "" {
				t.Errorf("%s: the transport has no name", s)
			}
		}
	})
}
