package hostfile

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wrappings are servers (before), their wrapped form (after), and the result of unwrap without a backup (again). If
// again is empty, the result is before.
var wrappings = map[string]struct{ before, after, again string }{
	"a command": {`{"command":"npx"}`, `{"command":"mcpotel", "args": ["proxy", "--name", "s", "--", "npx"]}`,
		`{"command":"npx", "args": []}`},
	"arguments": {
		`{"command":"npx","args":["-y"]}`, `{"command":"mcpotel","args":["proxy", "--name", "s", "--", "npx", "-y"]}`, "",
	},
	"no arguments": {`{"args":[],"command":"npx"}`, `{"args":["proxy", "--name", "s", "--", ` +
		`"npx"],"command":"mcpotel"}`, ""},
	"null for arguments": {
		`{"command":"npx","args":null}`, `{"command":"mcpotel","args":["proxy", "--name", "s", "--", "npx"]}`,
		`{"command":"npx","args":[]}`,
	},
	"an escape in the command": {
		`{"command":"np\u0078","args":["a"]}`, `{"command":"mcpotel","args":["proxy", "--name", "s", "--", "np\u0078", ` +
			`"a"]}`, "",
	},
	"a variable in the command": {
		`{"command":"${HOME}/x","args":["${input:a}"]}`, `{"command":"mcpotel","args":["proxy", "--name", "s", "--", ` +
			`"${HOME}/x", "${input:a}"]}`, "",
	},
	"lines": {
		"{\n\t\"type\": \"stdio\", // x\n\t\"command\": \"a\", // y\n\t\"env\": {\"K\": \"v\"}\n}",
		"{\n\t\"type\": \"stdio\", // x\n\t\"command\": \"mcpotel\",\n\t\"args\": [\"proxy\", \"--name\", \"s\", " +
			"\"--\", \"a\"], // y\n\t\"env\": {\"K\": \"v\"}\n}",
		"{\n\t\"type\": \"stdio\", // x\n\t\"command\": \"a\",\n\t\"args\": [], // y\n\t\"env\": {\"K\": \"v\"}\n}",
	},
	"lines of arguments": {
		"{\"args\": [ // x\r\n    \"a\",\r\n    \"b\",\r\n  ], \"command\": \"c\"}",
		"{\"args\": [ // x\r\n    \"proxy\",\r\n    \"--name\",\r\n    \"s\",\r\n    \"--\",\r\n    \"c\",\r\n    " +
			"\"a\",\r\n    \"b\",\r\n  ], \"command\": \"mcpotel\"}", "",
	},
	"a comment for arguments": {
		"{\"command\": \"c\", \"args\": [// none\n]}", "{\"command\": \"mcpotel\", \"args\": [\"proxy\", \"--name\", " +
			"\"s\", \"--\", \"c\"// none\n]}",
		"{\"command\": \"c\", \"args\": []}",
	},
	"more members": {
		`{"disabled":false,"command":"c","args":["a",],"future":{"b":[1,2]},}`,
		`{"disabled":false,"command":"mcpotel","args":["proxy", "--name", "s", "--", "c", "a",],"future":{"b":[1,2]},}`, "",
	},
	"a URL": {
		`{"url":"https://x/"}`,
		`{"command": "mcpotel", "args": ["proxy", "--name", "s", "--url-env", "MCPOTEL_URL", "--auth"], "env": ` +
			`{"MCPOTEL_URL": "https://x/"}}`,
		`{"url": "https://x/"}`,
	},
	"headers": {
		"{\n  \"type\": \"http\",\n  \"url\": \"https://x/\",\n  \"headers\": {\n    \"Authorization\": \"B " +
			"${input:t}\", // x\n    \"A\": \"b\"\n  }\n}",
		"{\n  \"type\": \"stdio\",\n  \"command\": \"mcpotel\",\n  \"args\": [\"proxy\", \"--name\", \"s\", " +
			"\"--url-env\", \"MCPOTEL_URL\", " +
			"\"--header-env\", \"Authorization=MCPOTEL_HEADER_1\", \"--header-env\", \"A=MCPOTEL_HEADER_2\"],\n  \"env\": {\n" +
			"    \"MCPOTEL_URL\": \"https://x/\",\n    \"MCPOTEL_HEADER_1\": \"B ${input:t}\", // x\n    " +
			"\"MCPOTEL_HEADER_2\": \"b\"\n  }\n}",
		"{\n  \"type\": \"http\",\n  \"url\": \"https://x/\",\n  \"headers\": {\"Authorization\": \"B ${input:t}\", " +
			"\"A\": \"b\"}\n}",
	},
	"headers before the URL": {
		`{"headers":{"authorization":"x"},"httpUrl":"https://x/"}`,
		`{"env":{"MCPOTEL_HTTP_URL": "https://x/", "MCPOTEL_HEADER_1":"x"},"command": "mcpotel", "args": ["proxy", ` +
			`"--name", "s", "--url-env", "MCPOTEL_HTTP_URL", "--header-env", "authorization=MCPOTEL_HEADER_1"]}`,
		`{"headers": {"authorization": "x"},"httpUrl": "https://x/"}`,
	},
	"no headers, before the URL": {
		`{"headers":{},"serverUrl":"https://x/"}`,
		`{"env":{"MCPOTEL_SERVER_URL": "https://x/"},"command": "mcpotel", "args": ["proxy", "--name", "s", "--url-env", ` +
			`"MCPOTEL_SERVER_URL", "--auth"]}`,
		`{"serverUrl": "https://x/"}`,
	},
	"null for headers": {
		`{"transport":"sse","url":"https://x/","headers":null}`,
		`{"transport":"stdio","command": "mcpotel", "args": ["proxy", "--name", "s", "--url-env", "MCPOTEL_URL", ` +
			`"--auth"],"env":{"MCPOTEL_URL": "https://x/"}}`,
		`{"transport":"http","url": "https://x/"}`,
	},
}

func TestServersAreWrapped(t *testing.T) {
	for name, tc := range wrappings {
		before := readsServer(t, tc.before)
		after, err := before.wrap(proxyArgs("s"), `"mcpotel"`, nil)
		if err != nil || string(after) != tc.after {
			t.Errorf("%s: got\n%s, %v, want\n%s", name, after, err, tc.after)
			continue
		}
		back, err := readsServer(t, tc.after).Unwrap()
		if want := cmp.Or(tc.again, tc.before); err != nil || string(back) != want {
			t.Errorf("%s, unwrapped: got\n%s, %v, want\n%s", name, back, err, want)
		}
	}
}

func readsServer(t *testing.T, text string) *Entry {
	t.Helper()
	s, err := readEntry("s", []byte(text))
	if err != nil {
		t.Fatal(text, err)
	}
	return s
}

func TestWrappedServersGetVariables(t *testing.T) {
	more := []member{{name: "O", value: json.RawMessage(`"o"`)}, {name: "P", value: json.RawMessage(`"p"`)}}
	for _, tc := range []struct{ before, after string }{
		{`{"command":"c"}`, `{"command":"mcpotel", "args": ["proxy", "--name", "s", "--", "c"], "env": {"O": "o", "P": ` +
			`"p"}}`},
		{`{"command":"c","env":null}`, `{"command":"mcpotel", "args": ["proxy", "--name", "s", "--", "c"],"env":{"O": ` +
			`"o", "P": "p"}}`},
		{`{"args":["a"],"command":"c"}`, `{"args":["proxy", "--name", "s", "--", "c", "a"], "env": {"O": "o", "P": ` +
			`"p"},"command":"mcpotel"}`},
		{
			`{"command":"c","args":["a"],"env":{"P":"own"}}`,
			`{"command":"mcpotel","args":["proxy", "--name", "s", "--", "c", "a"],"env":{"O": "o", "P":"own"}}`,
		},
		{
			`{"url":"http://x/","headers":{"Authorization":"a"}}`,
			`{"command": "mcpotel", "args": ["proxy", "--name", "s", "--url-env", "MCPOTEL_URL", "--header-env", ` +
				`"Authorization=MCPOTEL_HEADER_1"],` +
				`"env":{"MCPOTEL_URL": "http://x/", "O": "o", "P": "p", "MCPOTEL_HEADER_1":"a"}}`,
		},
	} {
		before := readsServer(t, tc.before)
		after, err := before.wrap(proxyArgs("s"), `"mcpotel"`, more)
		if err != nil || string(after) != tc.after {
			t.Errorf("%s: got\n%s, %v, want\n%s", tc.before, after, err, tc.after)
			continue
		}
		again, err := before.wrap(proxyArgs("s"), `"mcpotel"`, readsServer(t, tc.after).added(before))
		if err != nil || string(again) != tc.after {
			t.Errorf("%s, with the added variables: got\n%s, %v, want\n%s", tc.before, again, err, tc.after)
		}
	}
}

// namesOfServers maps names in a file to the names of the wrapped servers in telemetry; "" means the default name.
var namesOfServers = map[string]string{
	"files": "files", "-x": "-x", "--": "--", "--name": "--name", "proxy": "proxy", "--auth=false": "--auth=false",
	"MCPOTEL_URL": "MCPOTEL_URL", "A=MCPOTEL_HEADER_1": "A=MCPOTEL_HEADER_1", "é \"\\\n\x1b[2J": "é \"\\\n\x1b[2J",
	"": "", "a\x00b": "", "${X}": "",
}

func TestServersWithAnyNameAreUnwrappedAndShown(t *testing.T) {
	for name, want := range namesOfServers {
		for text, behind := range map[string]string{
			`{"command":"npx","args":["--name", "--", "s3cret"]}`: `"--", "npx", … 3]`,
			`{"url": "http://x/","headers": {"A": "b"}}`:          "]",
		} {
			after, err := readsServer(t, text).wrap(proxyArgs(name), `"mcpotel"`, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := readsServer(t, string(after))
			if back, err := s.Unwrap(); err != nil || string(back) != text {
				t.Errorf("%s, unwrapped: got %s, %v, want %s", after, back, err, text)
			}
			if got := s.shownArgs(); !strings.Contains(got, quote(want)) && want != "" || strings.Contains(got, "s3cret") ||
				!strings.HasSuffix(got, behind) {
				t.Errorf("%s is shown as %s", after, got)
			}
		}
	}
}

func TestInvalidServersAreNotWrapped(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "not an object", `"npx"`: "not an object", `null`: "not an object",
		`{}`: "neither a command nor a URL", `{"command":"c","url":"http://x/"}`: "both a command and a URL",
		`{"url":"http://x/","httpUrl":"http://x/"}`: "or more than one URL",
		`{"command":["s3cret"]}`:                    "command: want a string", `{"command":""}`: "command: want a string",
		`{"command":"c","args":"s3cret"}`:           "args: want strings",
		`{"command":"c","args":[7]}`:                "args: want strings",
		`{"command":"c","env":["s3cret"]}`:          "env: want an object",
		`{"url":7}`:                                 "url: want a string",
		`{"url":"http://x/","env":{"A":"s3cret"}}`:  "does not use env",
		`{"url":"http://x/","cwd":"x"}`:             "does not use cwd",
		`{"url":"http://x/","headers":["s3cret"]}`:  "headers: want an object",
		`{"url":"http://x/","headers":{"A":7}}`:     "headers: want names",
		`{"url":"http://x/","headers":{"s3 ":"x"}}`: "headers: want names",
		`{"url":"http://x/","headers":{"\n":"x"}}`:  "headers: want names",
	} {
		s, err := readEntry("s", []byte(text))
		if err == nil {
			_, err = s.wrap(proxyArgs("s"), `"mcpotel"`, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestManuallyWrappedServersAreUnwrapped(t *testing.T) {
	for text, want := range map[string]string{
		`{"command":"/usr/bin/mcpotel","args":["proxy","--web","--","npx","-y"],"env":{"A":"b"}}`: `{"command":"npx",` +
			`"args":["-y"],"env":{"A":"b"}}`,
		`{"command":"C:\\bin\\mcpotel.exe","args":["proxy", /* */ "--","npx"]}`: `{"command":"npx",` +
			`"args":[]}`,
		// An empty text means that unwrap is impossible.
		`{"command":"mcpotel","args":["proxy","--url","http://x/","--header","A=b"]}`:               "",
		`{"command":"mcpotel","args":["proxy","--"]}`:                                               "",
		`{"command":"mcpotel","args":["proxy","--name","--","npx"]}`:                                "",
		`{"command":"mcpotel","args":["proxy","--name"]}`:                                           "",
		`{"command":"mcpotel","args":["proxy"]}`:                                                    "",
		`{"command":"mcpotel","args":["proxy","--url-env","X"],"env":{"X":"http://x/"}}`:            "",
		`{"args":["proxy","--url-env","MCPOTEL_URL"],"command":"mcpotel","env":{"MCPOTEL_URL":""}}`: "",
		`{"command":"mcpotel","args":["proxy","--url-env","MCPOTEL_URL"],"env":[]}`:                 "",
		`{"command":"mcpotel","args":["proxy","--url-env","MCPOTEL_URL"],"env":{},"url":"x"}`:       "",
	} {
		s := readsServer(t, text)
		if !s.Wrapped() {
			t.Errorf("%s: want it recognized as wrapped", text)
		}
		got, err := s.Unwrap()
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %s, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{
		`{"command":"mcpotel","args":["serve-demo"]}`, `{"command":"npx","args":["proxy","--","x"]}`, `{"command":"mcpotel"}`,
	} {
		if readsServer(t, text).Wrapped() {
			t.Errorf("%s: want it not recognized as wrapped", text)
		}
	}
}

// writer generates a servers file in the style of people.
type writer struct {
	strings.Builder
	t *rapid.T
}

func (w *writer) one(of ...string) string { return rapid.SampledFrom(of).Draw(w.t, "text") }

func (w *writer) space() {
	w.WriteString(w.one("", "", " ", "\n  ", "\r\n\t", "\n", " // c \" ] }\n", "/* , \" { */", "//\n    ", "/*\n*/ "))
}

// list writes n items between brackets, with or without a comma after the last item.
func (w *writer) list(brackets string, n int, item func(i int)) {
	w.WriteString(brackets[:1])
	for i := range n {
		w.space()
		item(i)
		w.space()
		if i < n-1 || rapid.Bool().Draw(w.t, "comma") {
			w.WriteString(",")
		}
	}
	w.space()
	w.WriteString(brackets[1:])
}

// object writes members. Each is a name followed by a function that writes the value.
func (w *writer) object(members ...any) {
	w.list("{}", len(members)/2, func(i int) {
		w.WriteString(members[2*i].(string))
		w.space()
		w.WriteString(":")
		w.space()
		members[2*i+1].(func())()
	})
}

func (w *writer) text() {
	w.WriteString(w.one(`"a"`, `""`, `"-y"`, `"--"`, `"${input:x}"`, `"\u0078\n\"//"`, `"é, ]"`, `"/* x */"`))
}

func (w *writer) server() {
	texts := func() { w.list("[]", rapid.IntRange(0, 3).Draw(w.t, "args"), func(int) { w.text() }) }
	names := func(all ...string) func() {
		return func() {
			var members []any
			for _, name := range all[:rapid.IntRange(0, len(all)).Draw(w.t, "names")] {
				members = append(members, name, w.text)
			}
			w.object(members...)
		}
	}
	literal := func(all ...string) func() { return func() { w.WriteString(w.one(all...)) } }
	may := [][]any{
		{`"disabled"`, literal("true", "false", "false")},
		{`"future"`, literal("null", "[1,2]", `{"command":"x","args":[]}`)},
	}
	var members []any
	if rapid.Bool().Draw(w.t, "program") {
		members = []any{`"command"`, literal(`"npx"`, `"${HOME}/x"`, `"\u0078"`)}
		may = append(may, []any{w.one(`"args"`, `"\u0061rgs"`), texts}, []any{`"args"`, literal("null")},
			[]any{`"env"`, names(`"A"`, `"B"`)}, []any{`"type"`, literal(`"stdio"`)})
	} else {
		members = []any{w.one(`"url"`, `"serverUrl"`, `"httpUrl"`), literal(`"https://x/?k=${K}"`)}
		may = append(may, []any{`"headers"`, names(`"Authorization"`, `"X-A"`)}, []any{`"headers"`, literal("null")},
			[]any{`"type"`, literal(`"http"`, `"sse"`)})
	}
	has := map[string]bool{}
	for _, m := range rapid.Permutation(may).Draw(w.t, "order") {
		var name string
		_ = json.Unmarshal([]byte(m[0].(string)), &name)
		if has[name] || rapid.Bool().Draw(w.t, "left out") {
			continue
		}
		has[name] = true
		if rapid.Bool().Draw(w.t, "before") {
			members = append(m[:2:2], members...)
		} else {
			members = append(members, m...)
		}
	}
	w.object(members...)
}

func (w *writer) file() {
	var servers []any
	names := rapid.Permutation(slices.Sorted(maps.Keys(namesOfServers))).Draw(w.t, "names of servers")
	for _, name := range names[:rapid.IntRange(1, 4).Draw(w.t, "servers")] {
		servers = append(servers, quote(name), w.server)
	}
	w.WriteString(w.one("", "", "\uFEFF"))
	w.space()
	w.object(`"inputs"`, func() { w.WriteString("[]") }, `"`+w.one("mcpServers",
		"servers")+`"`, func() { w.object(servers...) },
		`"more"`, func() { w.WriteString(`{"x":{"command":"c"}}`) })
	w.space()
}

// parsed returns the servers of a file.
func parsed(t *rapid.T, text []byte) map[string]map[string]any {
	var top map[string]json.RawMessage
	servers := map[string]map[string]any{}
	err := json.Unmarshal(plain(text), &top)
	if err == nil {
		err = json.Unmarshal([]byte(cmp.Or(string(top["mcpServers"]), string(top["servers"]))), &servers)
	}
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return servers
}

// wrapAll wraps the servers that are neither wrapped nor disabled.
func wrapAll(t *rapid.T, f *File) (changes []Change) {
	t.Helper()
	for i := range f.Names() {
		e, err := f.Entry(i)
		if err != nil {
			t.Fatal(err)
		}
		if e.Wrapped() || e.Disabled() {
			continue
		}
		after, err := e.Wrap("/bin/mcpotel", nil, map[string]string{"O": "o"})
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, Change{e, after})
	}
	return changes
}

// unwrapAll restores the wrapped servers.
func unwrapAll(t *rapid.T, f *File) (changes []Change) {
	t.Helper()
	var wrapped []*Entry
	for i := range f.Names() {
		e, err := f.Entry(i)
		if err != nil {
			t.Fatal(err)
		}
		if e.Wrapped() {
			wrapped = append(wrapped, e)
		}
	}
	originals := f.Originals(wrapped)
	for _, e := range wrapped {
		after := originals[e.Name]
		if after == nil {
			var err error
			if after, err = e.Unwrap(); err != nil {
				t.Fatal(err)
			}
		}
		changes = append(changes, Change{e, after})
	}
	return changes
}

// TestAnyFileIsWrappedAndUnwrapped wraps random files twice, edits them, and unwraps them. With the backup, unwrap
// restores the text; without it, unwrap restores servers with the same meaning.
func TestAnyFileIsWrappedAndUnwrapped(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		sub, err := os.MkdirTemp(dir, "")
		if err != nil {
			rt.Fatal(err)
		}
		path := filepath.Join(sub, "mcp.json")
		does := func(change func(*rapid.T, *File) []Change) []byte {
			f, err := Open(path)
			if err != nil {
				rt.Fatal(err)
			}
			if changes := change(rt, f); len(changes) > 0 {
				_, err := f.Replace(changes)
				for err != nil && strings.HasSuffix(err.Error(), "exists: try again") { // a backup of the same millisecond
					_, err = f.Replace(changes)
				}
				if err != nil {
					rt.Fatal(err)
				}
			}
			text, err := os.ReadFile(path)
			if err != nil {
				rt.Fatal(err)
			}
			return text
		}
		w := &writer{t: rt}
		w.file()
		before := w.String()
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			rt.Fatal(err)
		}
		wrapped := does(wrapAll)
		was, is := parsed(rt, []byte(before)), parsed(rt, wrapped)
		for name := range was {
			if on := was[name]["disabled"] != true; on != readsServer(t, textOf(rt, wrapped, name)).Wrapped() {
				rt.Errorf("%s: wrapped: want %v, in\n%s", name, on, wrapped)
			}
			for _, m := range []string{"command", "args", "env", "type", "headers", "url", "serverUrl", "httpUrl"} {
				if was[name]["command"] != nil && m == "type" {
					continue
				}
				delete(is[name], m)
				delete(was[name], m)
			}
		}
		if !reflect.DeepEqual(is, was) {
			rt.Errorf("other members: got %v, want %v", is, was)
		}
		if again := does(wrapAll); string(again) != string(wrapped) {
			rt.Errorf("wrapped again: got\n%s\nwant\n%s", again, wrapped)
		}
		// The user edits the file before unwrap.
		edit := strings.NewReplacer(`"inputs"`, `"edited"`, `{"x":{"command":"c"}}`, "// new\n 7")
		if err := os.WriteFile(path, []byte(edit.Replace(string(wrapped))), 0o600); err != nil {
			rt.Fatal(err)
		}
		if back := does(unwrapAll); string(back) != edit.Replace(before) {
			rt.Errorf("unwrapped: got\n%s\nwant\n%s", back, edit.Replace(before))
		}
		forget(rt, sub)
		if err := os.WriteFile(path, wrapped, 0o600); err != nil {
			rt.Fatal(err)
		}
		meant, means := parsed(rt, []byte(before)), parsed(rt, does(unwrapAll))
		for _, servers := range []map[string]map[string]any{meant, means} {
			for _, s := range servers {
				usually(s)
			}
		}
		if !reflect.DeepEqual(means, meant) {
			rt.Errorf("unwrapped without a backup: got %v, want %v", means, meant)
		}
	})
}

// usually removes members without meaning, and members that unwrap cannot restore without a backup.
func usually(s map[string]any) {
	for _, name := range []string{"args", "env", "headers"} {
		if v := reflect.ValueOf(s[name]); s[name] == nil || v.Len() == 0 {
			delete(s, name)
		}
	}
	if env, ok := s["env"].(map[string]any); ok && env["O"] == "o" {
		if delete(env, "O"); len(env) == 0 {
			delete(s, "env")
		}
	}
	if s["type"] == "sse" {
		s["type"] = "http"
	}
}

func textOf(t *rapid.T, file []byte, name string) string {
	servers, err := serversIn(file)
	if err != nil {
		t.Fatal(err)
	}
	m := servers[find(servers, name)]
	return string(file[m.from:m.end()])
}

// forget removes the backups in a directory.
func forget(t *rapid.T, dir string) {
	backups, err := filepath.Glob(filepath.Join(dir, "*"+backupSuffix))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range backups {
		if err := os.Remove(b); err != nil {
			t.Fatal(err)
		}
	}
}
