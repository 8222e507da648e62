package recordingdiff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcp"
)

// line is the short form of a request and its answer in a recording.
type line struct {
	method, name, params string
	kind                 recording.Kind // kind of the answer; empty for no answer
	content              string
	took                 int64
	code                 int64
	toolError            bool
}

// made returns the recording of one session.
func made(content bool, lines ...line) *recording.File {
	f := &recording.File{Header: recording.Header{Version: 1, Content: content, Redacted: "[redacted]"}}
	add := func(e recording.Entry, text string) {
		e.Session, e.Seq, e.Bytes = 1, len(f.Entries)+1, len(text)
		if content && text != "" {
			e.Content = []byte(text)
		}
		f.Entries = append(f.Entries, &e)
	}
	for i, l := range lines {
		if l.kind == recording.Notification {
			add(recording.Entry{From: recording.ServerSide, Kind: l.kind, Method: l.method}, l.params)
			continue
		}
		add(recording.Entry{
			From: recording.HostSide, Kind: recording.Request, Method: l.method, Name: l.name, Request: i + 1},
			l.params)
		if l.kind != "" {
			add(recording.Entry{From: recording.ServerSide, Kind: l.kind, Method: l.method, Name: l.name, Request: i + 1,
				TookUS: l.took, Code: l.code, ToolError: l.toolError}, l.content)
		}
	}
	return f
}

// call returns a tool call with a result.
func call(name, result string) line {
	return line{
		method: mcp.MethodCallTool, name: name, params: `{"a":1}`, kind: recording.Result, content: result, took: 5000,
	}
}

// poll returns a tasks/get request.
func poll(result string) line {
	return line{method: mcp.MethodGetTask, params: `{"taskId":"1"}`, kind: recording.Result, content: result}
}

// of returns a call with a number in its params and result.
func of(n int) line {
	l := call("t", fmt.Sprintf(`{"is":%d}`, n))
	l.params = fmt.Sprintf(`{"a":%d}`, n)
	return l
}

// timed is like of, with a time in the params.
func timed(n, at int) line {
	l := of(n)
	l.params = fmt.Sprintf(`{"a":[{"at":%d,"n":%d}]}`, at, n)
	return l
}

// asks returns a call that the server answers with input requests.
func asks(questions string) line { return call("t", `{"inputRequests":{`+questions+`}}`) }

func TestCompareDescribesEachDifference(t *testing.T) {
	a := call("t", `{"x":[1,{"y":"sunny"}]}`)
	with := func(change func(l *line)) line {
		l := a
		change(&l)
		return l
	}
	lists := func(tools string) line {
		return line{method: mcp.MethodListTools, kind: recording.Result, content: `{"tools":[` + tools + `]}`}
	}
	tool := func(name, more string) string {
		return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}%s}`, name, more)
	}
	changed := line{kind: recording.Notification, method: mcp.NotificationToolListChanged}
	for name, c := range map[string]struct {
		a, b   []line
		o      Options
		silent bool // the recordings have no content
		want   []string
	}{
		"nothing":  {a: []line{a}, b: []line{a}},
		"_meta":    {a: []line{a}, b: []line{call("t", `{"_meta":{"q":1},"x":[1.0,{"y":"sunny"}]}`)}},
		"cursors":  {a: []line{call("t", `{"nextCursor":"1"}`)}, b: []line{call("t", `{"nextCursor":"2"}`)}},
		"redacted": {a: []line{call("t", `{"x":"[redacted]"}`)}, b: []line{call("t", `{"x":5}`)}},
		"ignored":  {a: []line{a}, b: []line{call("t", `{"x":[1,{"y":"dry"}]}`)}, o: Options{Ignore: []string{".x[*].y"}}},
		"exactly":  {a: []line{a}, b: []line{call("t", `{"x":[1,{"y":"dry"}]}`)}, o: Options{Ignore: []string{".x"}}},
		"a result": {a: []line{a}, b: []line{call("t", `{"x":[1,{"y":"dry"}]}`)},
			want: []string{`content: has another result: .x[1].y: "dry", not "sunny"`}},
		"no member": {a: []line{a}, b: []line{call("t", `{}`)},
			want: []string{`content: has another result: .x: nothing, not [1,{"y":"sunny"}]`}},
		"params": {a: []line{a}, b: []line{with(func(l *line) { l.params = `{"a":2}` })},
			want: []string{"params: the params differ: .a: 2, not 1"}},
		"missing": {a: []line{a, call("u", `{}`)}, b: []line{a},
			want: []string{"missing: only the first recording has this request"}},
		"added": {a: []line{a}, b: []line{a, a}, want: []string{"added: only the second recording has this request"}},
		"an added request at the front": {a: []line{of(1), of(2), of(3)}, b: []line{of(7), of(1), of(2), of(3)},
			want: []string{"added: only the second recording has this request"}},
		"a missing request at the front": {a: []line{of(7), of(1), of(2), of(3)}, b: []line{of(1), of(2), of(3)},
			want: []string{"missing: only the first recording has this request"}},
		"order of equal names": {a: []line{of(1), of(2)}, b: []line{of(2), of(1)},
			want: []string{"order: the order of the requests differs"}},
		"an added request, and changed params": {a: []line{of(1), of(2)}, b: []line{of(7), of(1), of(3)},
			want: []string{"params: the params differ: .a: 3, not 2",
				"content: has another result: .is: 3, not 2", "added: only the second recording has this request"}},
		"ignored params": {a: []line{timed(1, 1), timed(2, 2)}, b: []line{timed(7, 3), timed(1, 4), timed(2, 5)},
			o: Options{Ignore: []string{".a[*].at"}}, want: []string{"added: only the second recording has this request"}},
		"order": {a: []line{a, call("u", `{}`)}, b: []line{call("u", `{}`), a},
			want: []string{"order: the order of the requests differs"}},
		"an error": {a: []line{a}, b: []line{with(func(l *line) { l.kind, l.code = recording.Error, -32602 })},
			want: []string{"outcome: ended with the error -32602, not a result"}},
		"an error of the tool": {a: []line{a}, b: []line{with(func(l *line) { l.toolError = true })},
			want: []string{"outcome: ended with an error of the tool, not a result"}},
		"no answer": {a: []line{a}, b: []line{with(func(l *line) { l.kind = "" })},
			want: []string{"outcome: ended with no answer, not a result"}},
		"tools": {a: []line{lists(tool("t", "") + "," + tool("u", ""))}, b: []line{lists(tool("t", `,"title":"T"`))},
			want: []string{"tools: t changed title, u removed"}},
		"polls": {a: []line{a, poll(`{"status":"working"}`), poll(`{"status":"done"}`)},
			b: []line{a, poll(`{"status":"done"}`), {method: mcp.MethodPing}}},
		"polls around another request": {a: []line{poll(`{"status":"working"}`), a, poll(`{"status":"done"}`)},
			b: []line{poll(`{"status":"working"}`), a, poll(`{"status":"done"}`)}},
		"other keys": {a: []line{asks(`"a":{"method":"x"},"b":{"method":"y"}`)},
			b: []line{asks(`"b":{"method":"x"},"c":{"method":"y"}`)}},
		"exchanged keys": {a: []line{asks(`"a":{"method":"x"},"b":{"method":"y"}`)},
			b: []line{asks(`"b":{"method":"x"},"a":{"method":"y"}`)}},
		"another question": {a: []line{asks(`"a":{"method":"x"}`)}, b: []line{asks(`"a":{"method":"y"}`)},
			want: []string{`content: has another result: .inputRequests.a.method: "y", not "x"`}},
		"a changed question under another key": {a: []line{asks(`"a":{"method":"x"}`)}, b: []line{asks(`"b":{"method":"y"}`)},
			want: []string{`content: has another result: .inputRequests[0].method: "y", not "x"`}},
		"notifications": {a: []line{a}, b: []line{a, changed, changed},
			want: []string{"notifications: only the second recording has this notification, 2 times"}},
		"slower": {a: []line{a}, b: []line{with(func(l *line) { l.took = 20000 })}},
		"too slow": {a: []line{a}, b: []line{with(func(l *line) { l.took = 20000 })}, o: Options{Latency: 2},
			want: []string{"latency: takes 20.0ms, not 5.00ms"}},
		"not slow": {a: []line{a}, b: []line{with(func(l *line) { l.took = 5900 })}, o: Options{Latency: 1}},
		"a size": {silent: true, a: []line{a}, b: []line{call("t", strings.Repeat("x", 2048))},
			want: []string{"size: has 2.00 KiB, not 23 B"}},
		"a similar size": {silent: true, a: []line{a}, b: []line{call("t", strings.Repeat("x", 200))}},
	} {
		r := Compare(made(!c.silent, c.a...), made(!c.silent, c.b...), &c.o)
		var got []string
		for _, change := range r.Changes {
			var text strings.Builder
			text.WriteString(change.Kind + ": " + change.Text)
			for _, w := range change.Where {
				text.WriteString(": " + w.String())
			}
			got = append(got, text.String())
		}
		if !slices.Equal(got, c.want) || r.Same != (c.want == nil) || c.silent != (len(r.Notes) > 0) {
			t.Errorf("%s: got %q, same %t, notes %q; want %q", name, got, r.Same, r.Notes, c.want)
		}
	}
}

func TestCompareCountsDifferencesBeyondItsLimit(t *testing.T) {
	var many []line
	for range maxChanges + 7 {
		many = append(many, call("t", `{}`))
	}
	for _, content := range []bool{true, false} {
		none, all := made(content), made(content, many...)
		r, back := Compare(none, all, nil), Compare(all, none, nil)
		if len(r.Changes) != maxChanges || r.More != 7 || r.Added != maxChanges+7 || r.Missing != 0 {
			t.Errorf("got %d changes and %d more, %d added, %d missing", len(r.Changes), r.More, r.Added, r.Missing)
		}
		if back.Added != 0 || back.Missing != maxChanges+7 {
			t.Errorf("in reverse: got %d added, %d missing", back.Added, back.Missing)
		}
	}
	f := made(true)
	f.Cut = true
	if r := Compare(f, f, nil); !r.Same || len(r.Notes) != 2 {
		t.Errorf("got %+v", r)
	}
}

// TestCompareReportsOneInsertedCall inserts a call at each position of a recording with few tools, params and
// answers.
func TestCompareReportsOneInsertedCall(t *testing.T) {
	calls := rapid.Custom(func(t *rapid.T) line {
		l := of(rapid.IntRange(1, 3).Draw(t, "params"))
		l.name = rapid.SampledFrom([]string{"t", "u"}).Draw(t, "tool")
		l.content = fmt.Sprintf(`{"is":%d}`, rapid.IntRange(1, 2).Draw(t, "result"))
		return l
	})
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.Bool().Draw(t, "content")
		lines := rapid.SliceOfN(calls, 0, 12).Draw(t, "calls")
		at := rapid.IntRange(0, len(lines)).Draw(t, "at")
		more := slices.Insert(slices.Clone(lines), at, calls.Draw(t, "one more"))
		less, added := made(content, lines...), made(content, more...)
		for kind, r := range map[string]*Report{Added: Compare(less, added, nil), Missing: Compare(added, less, nil)} {
			if len(r.Changes) != 1 || r.Changes[0].Kind != kind || r.Changes[0].Name != more[at].name ||
				r.Compared != len(lines) {
				t.Errorf("%+v with an added call: got %+v", lines, r)
			}
		}
	})
}
