package mcpproxy

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

func compiled(t testing.TB, p Policy) *rules {
	t.Helper()
	r, err := p.compile()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPolicyPermitsTools(t *testing.T) {
	both := compiled(t, Policy{AllowTools: []string{"read_*", "list"}, DenyTools: []string{"*_secret"}})
	for name, want := range map[string]bool{"read_a": true, "list": true, "read_secret": false, "write": false} {
		if got := both.permit(name); got != want {
			t.Errorf("%s may be called: got %v, want %v", name, got, want)
		}
	}
	deny := compiled(t, Policy{DenyTools: []string{"a"}})
	for _, none := range []*rules{
		compiled(t, Policy{AllowTools: []string{}}), compiled(t, Policy{AllowTools: []string{}, DenyTools: []string{"a"}}),
	} {
		if none.permit("a") || none.permit("b") || !none.restrict() || none.lists([]byte(`{"name":"b"}`)) {
			t.Error("an empty list of allowed tools allows one")
		}
	}
	if both.permit("write", "read_a") != true || both.permit("list", "a_secret") {
		t.Error("a tool is not permitted although a rule allows one of its names and none denies another")
	}
	if !deny.permit("b") || deny.permit("a") || !deny.restrict() || compiled(t, Policy{}).restrict() {
		t.Error("a policy with denied tools alone must permit all other tools")
	}
}

func TestAmbiguousToolNameIsRejected(t *testing.T) {
	for params, want := range map[string]string{
		`{"name":"a","arguments":{"name":"b"}}`:    "a",
		`{"n\u0061me":"\u0061\/b"}`:                "a/b",
		`{"name":"a","x":1,"x":2}`:                 "a",
		`{"name":"a","name":"b"}`:                  "",
		`{"name":"a","Name":"b"}`:                  "",
		`{"name":"a","NAME":"x"}`:                  "",
		`{"name":"a","name\u0000":"x"}`:            "",
		`{"name":"a","Arguments":{}}`:              "",
		`{"name":"a","argument\u017f":{}}`:         "",
		`{"name":"a","arguments":1,"arguments":2}`: "",
		`{"Name":"a"}`:                             "",
		`{"name":"a\u0000b"}`:                      "",
		`{"name":7}`:                               "",
		`{"name":["a"]}`:                           "",
		`{"name":""}`:                              "",
		`{}`:                                       "",
		`[]`:                                       "",
		``:                                         "",
	} {
		read, err := readHostMessage(relay.Message{Method: mcp.MethodCallTool, Params: json.RawMessage(params)})
		if (err == nil) != (want != "") || err == nil && read.tool != want {
			t.Errorf("%s: got %q, %v, want %q", params, read.tool, err, want)
		}
		if err != nil && err.(*mcp.Error).Code != mcp.CodeInvalidParams {
			t.Errorf("%s: got %v, want invalid params", params, err)
		}
	}
}

func TestForbiddenToolsAreRemovedFromLists(t *testing.T) {
	r := compiled(t, Policy{DenyTools: []string{"d*"}})
	for in, want := range map[string]string{
		`{"tools":[]}`: `{"tools":[]}`,
		`{"x": 1, "tools":[ {"name":"a"} , {"name":"d1","x":{"name":"a"}} ,{"name":"b"}],"nextCursor":"d"}`: `{"x": 1, ` +
			`"tools":[ {"name":"a"} ,{"name":"b"}],"nextCursor":"d"}`,
		`{"tools":[ {"name":"d1"},{"name":"d2"}, {"name":"a"}]}`: `{"tools":[ {"name":"a"}]}`,
		`{"tools":[{"name":"a"},{"name":"d1"},{"name":"d2"} ]}`:  `{"tools":[{"name":"a"} ]}`,
		`{"tools":[ {"name":"d1"} ]}`:                            `{"tools":[  ]}`,
		`{"tools":[{"n\u0061me":"\u0064"}]}`:                     `{"tools":[]}`,
		`{"tools":[{"name":"a","name":"d"}]}`:                    `{"tools":[]}`,
		`{"tools":[{"Name":"d","name":"a"}]}`:                    `{"tools":[]}`,
		`{"tools":[{"name":"d"}],"tools":[{"name":"d"}]}`:        `{"tools":[],"tools":[]}`,
		`{"\u0074ools":[{"name":"d"}]}`:                          `{"\u0074ools":[]}`,
		`{"tools":[7,{"title":"d"}],"a":[{"name":"d"}]}`:         `{"tools":[7,{"title":"d"}],"a":[{"name":"d"}]}`,
		`{"tools":{"name":"d"}}`:                                 `{"tools":{"name":"d"}}`,
		`[]`:                                                     `[]`,
	} {
		if got, _ := r.withoutDenied(json.RawMessage(in)); string(got) != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	only := compiled(t, Policy{AllowTools: []string{"a"}})
	got, n := only.withoutDenied(json.RawMessage(`{"tools":[7,{"title":"x"},{"name":"a"},{"name":"b"}]}`))
	if string(got) != `{"tools":[{"name":"a"}]}` || n != 3 {
		t.Errorf("got %s, %d", got, n)
	}
}

func TestFilteredListKeepsOtherMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := (&Policy{DenyTools: []string{"d*"}}).compile()
		if err != nil {
			t.Fatal(err)
		}
		space := rapid.SampledFrom([]string{"", " ", " \t"})
		var all, kept []string
		for range rapid.IntRange(0, 6).Draw(t, "tools") {
			name := rapid.SampledFrom([]string{"a", "b", "d", "d1", `\u0064x`, `\u0061`}).Draw(t, "name")
			tool := `{"x":` + drawJSON(t, 1) + `,"name":` + space.Draw(t, "s") + `"` + name + `"}`
			all = append(all, tool)
			if !strings.HasPrefix(name, "d") && name != `\u0064x` {
				kept = append(kept, tool)
			}
		}
		rest := drawJSON(t, 1)
		in := `{"a":` + rest + `,"tools":[` + strings.Join(all, ",") + `],"nextCursor":"x"}`
		want := `{"a":` + rest + `,"tools":[` + strings.Join(kept, ",") + `],"nextCursor":"x"}`
		got, n := r.withoutDenied(json.RawMessage(in))
		if string(got) != want || n != len(all)-len(kept) {
			t.Errorf("%s: got %s, %d, want %s", in, got, n, want)
		}
		if err := jsonscan.Valid(got); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	})
}

func TestLongestPatternSetsTimeout(t *testing.T) {
	r := compiled(t, Policy{Timeout: 3, Timeouts: map[string]time.Duration{
		"s*": 1, "slow_*": 2, "xb?": 4, "x?c": 5, "y": 0,
	}})
	for name, want := range map[string]time.Duration{"sun": 1, "slow_a": 2, "xbc": 5, "z": 3, "y": 0} {
		if got := r.timeoutOf(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestInvalidPolicyIsReported(t *testing.T) {
	for want, p := range map[string]Policy{
		`policy: allowed tools: "[" is not a valid pattern`:  {AllowTools: []string{"["}},
		"policy: denied tools: the pattern is empty":         {DenyTools: []string{""}},
		"policy: the timeout is negative":                    {Timeout: -1},
		`policy: the timeout of "a" is negative`:             {Timeouts: map[string]time.Duration{"a": -1}},
		`policy: timeouts: "["`:                              {Timeouts: map[string]time.Duration{"[": 1}},
		"policy: the number of concurrent calls is negative": {MaxConcurrent: -1},
		"policy: the calls and the time of a rate":           {Rate: Rate{Calls: 1}},
	} {
		if _, err := p.compile(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestLongNamesAreShortenedInMessages(t *testing.T) {
	long := strings.Repeat("é", 40)
	got := shown("a" + long)
	if len(got) > 70 || !utf8.ValidString(got) || !strings.HasSuffix(got, "é…") || shown("a") != "a" {
		t.Errorf("got %q", got)
	}
}
