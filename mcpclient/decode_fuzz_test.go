package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// The outcomes of an answer. For a caller, an answer with a type that was not negotiated is the same error as an
// invalid answer.
const (
	givesResult = "a result"
	givesInput  = "a need for input"
	givesTask   = "a task"
	givesError  = "an error"
)

// answered is the outcome of an answer, with its value.
type answered struct {
	what  string
	value any
}

// someInput is a request for input.
const someInput = `{"method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object"}}}`

// resultFor returns a value of the result type of a method.
func resultFor(method string) any {
	m, _ := mcp.Lookup(method, mcp.Version20260728)
	return reflect.New(m.Result).Interface()
}

// situation is everything that determines how a result is decoded, except the bytes of the result. It includes the
// other parts of the frame.
type situation struct {
	era       conn.Era
	method    string
	augmented bool
	into      func() any
	before    string // text of the frame before the result
	after     string
}

var (
	fuzzedMethods = []string{
		mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource, mcp.MethodListTools, mcp.MethodComplete,
		mcp.MethodGetTask, "x/y",
	}
	fuzzedLayouts = [][2]string{
		{`{"jsonrpc":"2.0","id":7,"result":`, `}`},
		{" \r\n\t" + `{"jsonrpc" : "2.0" ,"id":7,"result": `, " \n} "},
		{`{"result":`, `,"jsonrpc":"2.0","id":7}`},
		{`{"jsonrpc":"2.0","id":7,"result":`, `,"x":{"resultType":"input_required","requestState":"x"}}`},
		{`{"x":{"resultType":"task"},"jsonrpc":"2.0","id":7,"result":`, `}`},
	}
)

// situationOf derives a situation from a number.
func situationOf(n uint16) situation {
	choose := func(of int) int {
		chosen := int(n) % of
		n /= uint16(of)
		return chosen
	}
	s := situation{method: fuzzedMethods[choose(len(fuzzedMethods))]}
	layout := fuzzedLayouts[choose(len(fuzzedLayouts))]
	s.before, s.after = layout[0], layout[1]
	switch choose(3) {
	case 0, 1:
		s.era = conn.ModernEra{}
	case 2:
		s.era, s.augmented = conn.LegacyEra{}, s.method == mcp.MethodCallTool && choose(2) == 1
	}
	switch into := choose(4); {
	case into == 0:
		s.into = func() any { return nil }
	case into == 1:
		s.into = func() any { return new(json.RawMessage) }
	case into == 2 || s.method == "x/y":
		s.into = func() any { return new(map[string]any) }
	default:
		s.into = func() any { return resultFor(s.method) }
	}
	return s
}

// decode returns the client's outcome for a frame.
func (s situation) decode(c *Client, m *jsonrpc.Message) answered {
	cl := c.newCall(s.method, nil)
	defer c.free(cl)
	cl.tasks.asked = s.augmented
	cl.result = s.into()
	result := cl.result
	cl.Session = &conn.Session{Era: s.era}
	err := cl.Decode(m)
	switch {
	case err != nil && (cl.input.required != nil || cl.tasks.made != nil):
		panic("there is an error, and something else too")
	case err != nil:
		return answered{what: givesError}
	case cl.input.required != nil:
		return answered{givesInput, cl.input.required}
	case cl.tasks.made != nil:
		return answered{givesTask, cl.tasks.made}
	}
	return answered{givesResult, result}
}

// expect returns the expected outcome of a result. encoding/json determines the type; a decoded copy determines the
// rest.
func (s situation) expect(result []byte) answered {
	kind := mcp.ResultComplete
	if s.era == conn.Era(conn.ModernEra{}) {
		var ok bool
		if kind, ok = typeByOracle(result); !ok {
			return answered{what: givesError}
		}
	}
	if s.augmented {
		var r mcp.LegacyCreateTaskResult
		if _, err := mcp.Decode(result, &r); err == nil {
			return answered{givesTask, &mcp.CreateTaskResult{Result: r.Result, Task: taskOf(&r.Task)}}
		}
	}
	want := answered{givesResult, s.into()}
	switch {
	case kind == mcp.ResultComplete || kind == "":
	case kind == mcp.ResultInputRequired && slices.Contains(fuzzedMethods[:3], s.method):
		want = answered{givesInput, new(mcp.InputRequiredResult)}
	case kind == mcp.ResultTask && s.method == mcp.MethodCallTool:
		want = answered{givesTask, new(mcp.CreateTaskResult)}
	case kind == mcp.ResultTask && s.method == mcp.MethodGetTask:
	default:
		return answered{what: givesError}
	}
	if _, err := mcp.Decode(result, want.value); err != nil {
		return answered{what: givesError}
	}
	return want
}

// typeByOracle returns the type of a result: the first member resultType that encoding/json finds.
func typeByOracle(result []byte) (mcp.ResultType, bool) {
	d := json.NewDecoder(bytes.NewReader(result))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return "", false
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return "", false
		}
		if name != "resultType" || value == nil {
			if name == "resultType" {
				return mcp.ResultComplete, true
			}
			continue
		}
		text, ok := value.(string)
		return mcp.ResultType(text), ok
	}
	_, err := d.Token()
	return mcp.ResultComplete, err == nil
}

// checkOutcome compares the client's outcome for a result with the outcome that follows from the result's top-level
// members.
func checkOutcome(t *testing.T, c *Client, result []byte, n uint16) {
	s := situationOf(n)
	frame := []byte(s.before + string(result) + s.after)
	original := bytes.Clone(frame)
	m, err := jsonrpc.Parse(frame)
	if err != nil || m.Kind != jsonrpc.Result {
		return
	}
	want := answered{what: givesError}
	valid, _ := jsonrpc.Parse(original)
	if err := valid.Check(); err == nil {
		want = s.expect(bytes.Clone(valid.Middle()))
	} else if v, ok := errors.AsType[*jsonscan.SyntaxError](err); ok && v.Reason == jsonscan.TooDeep {
		return // the depth limit depends on where the counting begins
	}
	got := s.decode(c, &m)
	if got.what != want.what {
		t.Fatalf("%T, %s, %s: got %s, want %s", s.era, s.method, original, got.what, want.what)
	}
	if diff := cmp.Diff(want.value, got.value, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Fatalf("%T, %s, %s (-want +got):\n%s", s.era, s.method, original, diff)
	}
}

// offlineClient returns a client whose server sends nothing.
func offlineClient(tb testing.TB, tel *telemetry.Telemetry) *Client {
	mute := transport.InMemory(func(ctx context.Context, _ *transport.Peer) { <-ctx.Done() })
	c, err := New(mute, &Options{Telemetry: tel, Features: []Feature{UseTasks(nil)}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// pieces returns variants of a result's members, one list for each name. Some variants only contain text that looks
// like other members.
func pieces(text string) [][]string {
	quoted, _ := json.Marshal(text)
	content := string(quoted[1 : len(quoted)-1])
	return [][]string{
		{`"resultType":"complete"`, `"resultType":"input_required"`, `"resultType" : "input\u005frequired"`,
			`"resultType":"task"`,
			`"resultType":"other"`, `"resultType":null`, `"resultType":""`, `"resultType":7`, `"other":1`},
		{`"content":[{"type":"text","text":"` + content + `"}]`,
			`"content":[{"type":"resource","resource":{"text":"` + content + `"}}]`,
			`"messages":[{"role":"user","content":{"type":"text","text":"` + content + `"}}]`,
			`"contents":[{"text":"` + content + `"}]`,
			`"tools":[{"name":"` + content + `","inputSchema":{}}]`, `"content":7`},
		{`"inputRequests":{"k":` + someInput + `}`, `"requestState":"` + content + `"`,
			`"task":{"taskId":"t","status":"working","createdAt":"2026-07-28T00:00:00Z",` +
				`"lastUpdatedAt":"2026-07-28T00:00:00Z","ttl":1}`,
			`"taskId":"t","status":"working","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z",` +
				`"ttlMs":1`},
	}
}

// The outcome of an answer depends only on the members of the result itself, and not on the content, position or
// surroundings of strings.
func FuzzOutcome(f *testing.F) {
	const ask = `"resultType":"input_required","inputRequests":{"k":` + someInput + `}`
	for i, breakOut := range []string{`"}],`, `"}}],`, "", `a\n\u00e9`} {
		for padding := range 9 {
			all := pieces(breakOut + ask + `},"x":{"b":[{"a":"` + strings.Repeat("a", 40+padding))
			for j := (5*padding + i) % 16; j < len(all[0])*len(all[1])*len(all[2]); j += 16 {
				p := [3]string{all[0][j%len(all[0])], all[1][j/len(all[0])%len(all[1])], all[2][j/len(all[0])/len(all[1])]}
				order := [...][3]int{{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}, {2, 0, 1}, {0, 2, 1}}[(i+j+padding)%6]
				f.Add(fmt.Appendf(nil, "{%s,%s,%s}", p[order[0]], p[order[1]], p[order[2]]), uint16(j*31+padding*7+i))
			}
		}
	}
	c := offlineClient(f, telemetry.Off())
	f.Fuzz(func(t *testing.T, result []byte, n uint16) { checkOutcome(t, c, result, n) })
}
