package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// manyTypes is a schema with an argument of each type that can be typed.
const manyTypes = `{"type":"object","required":["text"],"additionalProperties":false,
	"$defs":{"size":{"type":"string","enum":["s","l"],"description":"how large"},"way/up":{"type":"integer"}},
	"properties":{
		"text":{"type":"string","description":"what to say"},
		"count":{"type":"integer","default":3,"minimum":1,"maximum":9},
		"share":{"type":"number"},
		"loud":{"type":"boolean"},
		"tags":{"type":"array","items":{"type":"string"}},
		"counts":{"type":"array","items":{"type":"integer"}},
		"where":{"type":"object"},
		"size":{"$ref":"#/$defs/size"},
		"up":{"$ref":"#/$defs/way~1up"},
		"maybe":{"type":["string","null"]},
		"either":{"anyOf":[{"type":"integer"},{"type":"string"}]},
		"level":{"oneOf":[{"const":1,"title":"low"},{"const":2,"title":"high"}]},
		"any":{},
		"several":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]}
	}}`

func TestArgumentsGetTheTypesOfTheSchema(t *testing.T) {
	for typed, want := range map[string]string{
		"text=5":                     `{"text":"5"}`,
		"text=":                      `{"text":""}`,
		"text=a=b":                   `{"text":"a=b"}`,
		`text={"a":1}`:               `{"text":"{\"a\":1}"}`,
		"count=5":                    `{"count":5}`,
		"count=12345678901234567890": `{"count":12345678901234567890}`,
		"count=5.5":                  `count: "5.5" is not an integer`,
		"count=five":                 `count: "five" is not an integer`,
		"count=0x10":                 `count: "0x10" is not an integer`,
		"share=-1.5e3":               `{"share":-1.5e3}`,
		"share=NaN":                  `share: "NaN" is not a number`,
		"loud=true":                  `{"loud":true}`,
		"loud=no":                    `{"loud":false}`,
		"loud=1":                     `loud: "1" is not true or false`,
		"tags=a":                     `{"tags":["a"]}`,
		"tags=a|tags=b":              `{"tags":["a","b"]}`,
		`tags=["a","b"]`:             `{"tags":["a","b"]}`,
		"tags=[]":                    `{"tags":[]}`,
		"tags=[a":                    `{"tags":["[a"]}`,
		"counts=1|counts=2":          `{"counts":[1,2]}`,
		"counts=1|counts=x":          `counts: "x" is not an integer`,
		`where={"city":"Oslo"}`:      `{"where":{"city":"Oslo"}}`,
		"where=Oslo":                 `where: "Oslo" is not an object as JSON`,
		"size=l":                     `{"size":"l"}`,
		"size=xl":                    `size: "xl" is none of "s", "l"`,
		"up=x":                       `up: "x" is not an integer`,
		"maybe=null":                 `{"maybe":null}`,
		"maybe=x":                    `{"maybe":"x"}`,
		"either=5":                   `{"either":5}`,
		"either=five":                `{"either":"five"}`,
		"level=2":                    `{"level":2}`,
		"level=3":                    `level: "3" is none of 1, 2`,
		"any=5":                      `{"any":5}`,
		"any=x":                      `{"any":"x"}`,
		"several=a|several=b":        `{"several":["a","b"]}`,
		"several=a":                  `{"several":["a"]}`,
		"several=null":               `{"several":null}`,
		"text=a|text=b":              "text: given 2 times, want one value",
		"txt=a":                      `unknown argument "txt" (did you mean text?); known: text, any, count, counts, either`,
		"text=a|count=1|share=2":     `{"count":1,"share":2,"text":"a"}`,
	} {
		var fields []field
		for part := range strings.SplitSeq(typed, "|") {
			name, value, _ := strings.Cut(part, "=")
			fields = append(fields, field{name, value})
		}
		raw, err := readParameters(json.RawMessage(manyTypes)).assign(fields)
		got := string(raw)
		if err != nil {
			got = err.Error()
			if codeOf(err) != exitUsage {
				t.Errorf("%s: got exit code %d, want %d", typed, codeOf(err), exitUsage)
			}
		}
		if got != want && !(err != nil && strings.HasPrefix(got, want)) {
			t.Errorf("%s: got %s, want %s", typed, got, want)
		}
	}
}

// A schema says what is not known of arguments that it does not name.
func TestArgumentsThatTheSchemaDoesNotName(t *testing.T) {
	for schema, want := range map[string]string{
		`{}`:                            `unknown argument "x"; there are no arguments`,
		`{"properties":{"a":{}}}`:       `unknown argument "x"; known: a`,
		`{"additionalProperties":true}`: `{"x":1}`,
		`{"additionalProperties":{"type":"string"}}`:                                   `{"x":"1"}`,
		`{"additionalProperties":false}`:                                               `unknown argument "x"; there are no arguments`,
		`{"properties":{"x":true}}`:                                                    `{"x":1}`,
		`{"properties":{"x":{"type":7,"minimum":"no"}}}`:                               `{"x":1}`,
		`{"properties":{"x":{"type":"frob"}}}`:                                         `{"x":1}`,
		`{"$defs":{"l":{"$ref":"#/$defs/l"}},"properties":{"x":{"$ref":"#/$defs/l"}}}`: `{"x":1}`,
		`{"properties":7}`:                                                             `unknown argument "x"; there are no arguments`,
		`{"properties":{"x":{"$ref":"#/nowhere/at/all"}}}`:                             `{"x":1}`,
	} {
		raw, err := readParameters(json.RawMessage(schema)).assign([]field{{"x", "1"}})
		got := string(raw)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", schema, got, want)
		}
	}
}

func TestWhatIsNoJSONObjectIsShown(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":6 "b":3}`: "x: not a JSON object: line 1, column 8: invalid character '\"' after object value " +
			"(expecting ',' or '}')\n{\"a\":6 \"b\":3}\n       ^",
		"{\n\t\"ü\": ä}": "x: not a JSON object: line 2, column 7: invalid character 'ä' at start of value\n" +
			" \"ü\": ä}\n      ^",
		`{"a":1,"a":2}`: "x: not a JSON object: line 1, column 8: duplicate object member name\n{\"a\":1,\"a\":2}\n       ^",
		`{"a":`:         "x: not a JSON object: line 1, column 6: it ends too early\n{\"a\":\n     ^",
		``:              "x: not a JSON object: line 1, column 1: it ends too early\n\n^",
		`{} {}`:         "x: not a JSON object: line 1, column 3: more than one value\n{} {}\n  ^",
		`[6,3]`:         "x: not a JSON object, but an array: [6,3]\n^",
		`{"a":"` + strings.Repeat("y", 100) + `",}` + strings.Repeat(" ", 50): "x: not a JSON object: line 1, column 109: " +
			"invalid character '}' at start of string (expecting '\"')\n…" + strings.Repeat("y", 38) + `",}` +
			strings.Repeat(" ", 39) + "…\n" + strings.Repeat(" ", 41) + "^",
		"{\"a\":\"\x1b[2J\"}": "x: not a JSON object: line 1, column 7: invalid character '\\x1b' in string (expecting " +
			"non-control character)\n{\"a\":\"\ufffd[2J\"}\n      ^",
	} {
		if err := checkObject("x", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q:\ngot  %q\nwant %q", text, err, want)
		}
	}
	for _, text := range []string{`{}`, " {\"a\":1}\n"} {
		if err := checkObject("x", []byte(text)); err != nil {
			t.Errorf("%q: got %v, want no error", text, err)
		}
	}
}

// echoes serves a tool that answers with the arguments it got, and has the schema.
func echoes(t *testing.T, schema string) (url string) {
	t.Helper()
	s := mcpserver.New(mcp.Implementation{Name: "echo", Version: "1.0"}, nil)
	if err := s.AddRawTool(&mcp.Tool{Name: "echo", Description: "Say it.", InputSchema: json.RawMessage(schema)},
		func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(string(r.Arguments))}}, nil
		}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.HTTPHandler(nil))
	t.Cleanup(server.Close)
	return server.URL
}

func TestArgumentsAreGivenInEveryWay(t *testing.T) {
	noCollector(t)
	url := echoes(t, manyTypes)
	demo, _ := serves(t, "0")
	file := filepath.Join(t.TempDir(), "arguments.json")
	if err := os.WriteFile(file, []byte(`{"text":"from the file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		in             string
		args           []string
		code           int
		stdout, stderr string
	}{
		"by name": {"", []string{"call", "--url", url, "echo", "text=a", "count=2", "tags=x", "tags=y"}, exitOK,
			`{"count":2,"tags":["x","y"],"text":"a"}`, ""},
		"as JSON":           {"", []string{"call", "--url", url, "echo", `{"text":"a"}`}, exitOK, `{"text":"a"}`, ""},
		"on standard input": {`{"text":"typed"}`, []string{"call", "--url", url, "echo", "-"}, exitOK, `"typed"`, ""},
		"in a file":         {"", []string{"call", "--url", url, "echo", "@" + file}, exitOK, `"from the file"`, ""},
		"unknown": {"", []string{"call", "--url", url, "echo", "txt=a"}, exitUsage, "",
			`unknown argument "txt" (did you mean text?)`},
		"of another type": {"", []string{"call", "--url", url, "echo", "count=x"}, exitUsage, "", "not an integer"},
		"of no tool": {"", []string{"call", "--url", url, "ecoh", "text=a"}, exitTool, "",
			`no tool "ecoh" (did you mean echo?)`},
		"in no file": {"", []string{"call", "--url", url, "echo", "@/does/not/exist"}, exitUsage, "", "no such file"},
		"no JSON on standard input": {"{\n  'a': 1}", []string{"call", "--url", url, "echo", "-"}, exitUsage, "",
			"standard input: not a JSON object: line 2, column 3: "},
		"no JSON": {"", []string{"call", "--url", url, "echo", `{"text":}`}, exitUsage, "",
			"line 1, column 9: invalid character '}' at start of value\n    {\"text\":}\n            ^\n"},
		"by name and as JSON": {"", []string{"call", "--url", url, "echo", "text=a", `{}`}, exitUsage, "",
			"unexpected argument"},
		"of a prompt":            {"", []string{"prompt", "--url", demo, "pack", "city=Rome"}, exitOK, "I go to Rome", ""},
		"of a prompt, as JSON":   {"", []string{"prompt", "--url", demo, "pack", `{"city":"Rome"}`}, exitOK, "to Rome", ""},
		"of a prompt, on input":  {`{"city":"Rome"}`, []string{"prompt", "--url", demo, "pack", "-"}, exitOK, "to Rome", ""},
		"of a prompt, no string": {"", []string{"prompt", "--url", demo, "pack", `{"city":1}`}, exitUsage, "", "are strings"},
		"of a prompt, unknown": {"", []string{"prompt", "--url", demo, "pack", "town=Rome"}, exitUsage, "",
			`unknown argument "town"; known: city, days`},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var out, stderr buffer
			code := run(ctx, streams{strings.NewReader(tc.in), &out, &stderr, false}, tc.args)
			if code != tc.code || !strings.Contains(out.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
				t.Errorf("got exit code %d, want %d; want %q on standard output and %q on standard error, got:\n%s\n%s", code,
					tc.code, tc.stdout, tc.stderr, out.String(), stderr.String())
			}
		})
	}
}
