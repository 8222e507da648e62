package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

func TestIntegersAcceptFractionsAndInvalidHintsAreAbsent(t *testing.T) {
	for _, tt := range []struct {
		raw  string
		want *int64
	}{
		{"1000", new(int64(1000))}, {"1000.0", new(int64(1000))}, {"1e3", new(int64(1000))}, {"null", nil},
		{"1.5", nil}, {`"soon"`, nil}, {"{}", nil}, {"1e99", nil},
	} {
		var tools ListToolsResult
		var resources ListResourcesResult
		var read ReadResourceResult
		var completion CompleteResult
		var task Task
		for text, of := range map[string]struct {
			v  any
			is func() *int64
		}{
			`{"tools":[{"name":"a","inputSchema":{}}],"ttlMs":%s}`: {&tools, func() *int64 { return tools.TTLMs }},
			`{"resources":[{"uri":"u","name":"n","size":%s}]}`: {&resources,
				func() *int64 { return resources.Resources[0].Size }},
			`{"contents":[],"ttlMs":%s}`:              {&read, func() *int64 { return read.TTLMs }},
			`{"completion":{"values":[],"total":%s}}`: {&completion, func() *int64 { return completion.Completion.Total }},
			`{"taskId":"1","status":"working","createdAt":"","lastUpdatedAt":"","ttlMs":1,"pollIntervalMs":%s}`: {&task,
				func() *int64 { return task.PollIntervalMs }},
		} {
			text = fmt.Sprintf(text, tt.raw)
			if _, err := Decode([]byte(text), of.v); err != nil {
				t.Errorf("%s is refused: %v", text, err)
			} else if diff := cmp.Diff(tt.want, of.is()); diff != "" {
				t.Errorf("%s: %s", text, diff)
			}
		}
	}
	var p CreateMessageParams
	if _, err := Decode([]byte(`{"messages":[],"maxTokens":1e3}`), &p); err != nil || p.MaxTokens != 1000 {
		t.Errorf("maxTokens of 1e3: got %d and %v", p.MaxTokens, err)
	}
	if _, err := Decode([]byte(`{"messages":[],"maxTokens":1.5}`), &p); err == nil ||
		err.Error() != "maxTokens is not an integer" {
		t.Errorf("maxTokens of 1.5: got %v, want that it is not an integer", err)
	}
}

func TestUnreadableToolIsLeftOutOfTheList(t *testing.T) {
	const before = `{"name":"b","description":"a \"text\"","inputSchema":{"title":"\u00e9"}}`
	const after = `{"name":"c","inputSchema":{}}`
	for _, c := range []struct{ tool, name, want string }{
		{`{"inputSchema":{}}`, "", "tools[1].name is missing"},
		{`{"name":"","inputSchema":{}}`, "", "tools[1].name is missing"},
		{`{"name":"a"}`, "a", "tools[1].inputSchema is missing"},
		{`{"name":"a","inputSchema":null}`, "a", "tools[1].inputSchema is missing"},
		{`{"name":"a","inputSchema":[]}`, "a", "tools[1].inputSchema is not an object"},
		{`{"name":"a","name":"b","inputSchema":[]}`, "a", "tools[1].name occurs twice"},
		{`{"name":"a","inputSchema":{},"annotations":{"title":"\"}\"","readOnlyHint":1},"title":"x"}`, "a",
			"tools[1].annotations.readOnlyHint is not a boolean"},
		{`{"name":"a","inputSchema":{},"icons":[{"src":"https:\/\/x\/"},{}],"x":["]"]}`, "a",
			"tools[1].icons[1].src is missing"},
		{`null`, "", "tools[1] is not an object"},
		{`["]"]`, "", "tools[1] is not an object"},
	} {
		var r ListToolsResult
		_, err := Decode([]byte(`{"tools":[`+before+`,`+c.tool+`,`+after+`],"ttlMs":1}`), &r)
		if err != nil || len(r.Tools) != 2 || r.Tools[0].Description != `a "text"` || r.Tools[1].Name != "c" ||
			r.TTLMs == nil {
			t.Errorf("%s: got %v and %d tools, want the two others", c.tool, err, len(r.Tools))
		}
		if len(r.Unreadable) != 1 || r.Unreadable[0].Name != c.name || r.Unreadable[0].Err.Error() != c.want {
			t.Errorf("%s: got %v left out, want %q: %s", c.tool, r.Unreadable, c.name, c.want)
		}
	}
}

func TestErrorsNameTheInvalidPart(t *testing.T) {
	for _, c := range []struct {
		name string // name of the type
		text string
		want string
	}{
		{"ListToolsResult", `{"tools":{}}`, "tools is not an array"},
		{"ListToolsResult", `{"tools":null}`, "tools is missing"},
		{"ListToolsResult", `{"tools":[],"tools":[]}`, "tools occurs twice"},
		{"ListToolsResult", `{"tools":[],"nextCursor":1}`, "nextCursor is not a string"},
		{"ListToolsResult", `[]`, "no object at offset 0"},
		{"CallToolResult", `{}`, "content is missing"},
		{"CallToolResult", `{"content":[{"text":"a"}]}`, "content[0].type is missing"},
		{"CallToolResult", `{"content":[{"type":1}]}`, "content[0].type is not a string"},
		{"CallToolResult", `{"content":[{"type":"text"}]}`, "content[0].text is missing"},
		{"CallToolResult", `{"content":[{"type":"text","text":"a","text":"b"}]}`, "content[0].text occurs twice"},
		{"CallToolResult", `{"content":[{"type":"text","text":"a","type":"text"}]}`, "content[0].type occurs twice"},
		{"CallToolResult", `{"content":[{"type":"text","text":"a","annotations":{"audience":["user",1]}}]}`,
			"content[0].annotations.audience[1] is not a string"},
		{"CallToolResult", `{"content":[{"type":"image","data":""}]}`, "content[0].mimeType is missing"},
		{"CallToolResult", `{"content":[{"type":"resource","resource":{"uri":"u"}}]}`, "content[0].resource.text is missing"},
		{"CallToolResult", `{"content":[],"_meta":[]}`, "_meta is not an object"},
		{"CallToolResult", `{"content":[],"resultType":7}`, "resultType is not a string"},
		{"CallToolResult", `{"content":[],"isError":"true"}`, "isError is not a boolean"},
		{"CallToolResult", `{"content":[x]}`, "invalid character 'x' at offset 12"},
		{"CallToolResult", `{"content":[`, "unexpected end of JSON at offset 12"},
		{"CallToolResult", "{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}", "invalid UTF-8 at offset 35"},
		{"CallToolParams", `{"arguments":{}}`, "name is missing"},
		{"CallToolParams", `{"name":"a","arguments":[]}`, "arguments is not an object"},
		{"CallToolParams", `{"name":"a","task":{"ttl":"x"}}`, "task.ttl is not an integer"},
		{"GetPromptResult", `{"messages":[{"role":"user"}]}`, "messages[0].content is missing"},
		{"ReadResourceResult", `{"contents":[{"text":""}]}`, "contents[0].uri is missing"},
		{"ListResourcesResult", `{"resources":[{"uri":"a","name":"b"},{"uri":"a"}]}`, "resources[1].name is missing"},
		{"Task", `{"taskId":"1","status":"working","createdAt":"","lastUpdatedAt":"","ttlMs":null,"pollIntervalMs":{]}`,
			"invalid character ']' at offset 98"},
		{"ListResourcesResult", `{"resources":[null]}`, "resources[0] is null"},
		{"ListResourcesResult", `{"resources":[],"resources":[]}`, "resources occurs twice"},
		{"ListResourcesResult", `{"resources":[],"x":{"y":1,"y":2}}`, "x.y occurs twice"},
		{"ListPromptsResult", `{"prompts":[{"name":"a","arguments":[{}]}]}`, "prompts[0].arguments[0].name is missing"},
		{"InitializeResult", `{"capabilities":{}}`, "protocolVersion is missing"},
		{"InitializeResult", `{"protocolVersion":"x","capabilities":{"tools":{"listChanged":"yes"}}}`,
			"capabilities.tools.listChanged is not a boolean"},
		{"InitializeResult", `{"protocolVersion":"x","capabilities":{"logging":[]}}`,
			"capabilities.logging must be a JSON object"},
		{"InitializeResult", `{"protocolVersion":"x","serverInfo":{"icons":[{"src":""}]}}`,
			"serverInfo.icons[0].src is missing"},
		{"DiscoverResult", `{"capabilities":{}}`, "supportedVersions is missing"},
		{"CompleteParams", `{"ref":{"type":"ref/prompt"},"argument":{"name":"a","value":""}}`, "ref.name is missing"},
		{"CompleteParams", `{"ref":{"type":"ref/resource"},"argument":{"name":"a","value":""}}`, "ref.uri is missing"},
		{"CompleteParams", `{"ref":{"name":"x"},"argument":{"name":"a","value":""}}`, "ref.type is missing"},
		{"CompleteResult", `{"completion":{"hasMore":true}}`, "completion.values is missing"},
		{"CreateMessageParams", `{"messages":[{"role":"user","content":[{"type":"text"}]}],"maxTokens":1}`,
			"messages[0].content[0].text is missing"},
		{"CreateMessageParams", `{"messages":[{"role":"user","content":{"type":"text"}}],"maxTokens":1}`,
			"messages[0].content.text is missing"},
		{"CreateMessageParams", `{"messages":[]}`, "maxTokens is missing"},
		{"CreateMessageParams", `{"messages":[],"maxTokens":1,"tools":[{"name":"a"}]}`, "tools[0].inputSchema is missing"},
		{"ElicitParams", `{"message":"m"}`, "requestedSchema is missing"},
		{"ElicitParams", `{"message":"m","mode":"url"}`, "url is missing"},
		{"InputRequiredResult", `{"resultType":"input_required"}`, "inputRequests and requestState are both missing"},
		{"InputRequiredResult", `{"inputRequests":{"k":{"params":{}}}}`, "inputRequests.k.method is missing"},
		{"InputRequiredResult", `{"inputRequests":{"k":{"method":"m","params":3}}}`,
			"inputRequests.k.params must be a JSON object"},
		{"LoggingMessageParams", `{"level":"info"}`, "data is missing"},
		{"ProgressParams", `{"progress":1}`, "progressToken is missing"},
		{"ProgressParams", `{"progressToken":"a","progress":"1"}`, "progress is not a number"},
		{"GetTaskResult", `{"status":"working"}`, "taskId is missing"},
		{"URLElicitationRequiredData", `{"elicitations":[{"mode":"url"}]}`, "elicitations[0].url is missing"},
		{"FormSchema", `{"type":"object","properties":{"a":{"type":1}}}`, "properties.a.type is not a string"},
	} {
		v := golden{name: c.name}.new()
		_, err := Decode([]byte(c.text), v)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %s: error %v, want %s", c.name, c.text, err, c.want)
		}
	}
}

func TestInvalidJSONReturnsTheScannersSyntaxError(t *testing.T) {
	for _, v := range []any{new(CallToolResult), new(DiscoverResult), new(json.RawMessage), new(map[string]any), nil} {
		_, err := Decode([]byte(`{"content":[}`), v)
		if _, ok := errors.AsType[*jsonscan.SyntaxError](err); !ok {
			t.Errorf("into %T: error %v of type %T, want a SyntaxError", v, err, err)
		}
	}
}

func TestDecodeReadsOneValue(t *testing.T) {
	for _, v := range []any{new(CallToolResult), new(DiscoverResult), new(json.RawMessage), new(map[string]any), nil} {
		value := ` {"content":[],"supportedVersions":[]}`
		for _, rest := range []string{``, ` `, `,"more":1}`, `}`, `x`, "\x00"} {
			n, err := Decode([]byte(value+rest), v)
			if err != nil || n != len(value) {
				t.Errorf("into %T, followed by %q: took %d bytes, error %v, want %d bytes", v, rest, n, err, len(value))
			}
		}
	}
}

func TestRawJSONIsValidatedAndNotCopied(t *testing.T) {
	data := []byte(` {"a" : "\u0041"} ,`)
	var raw json.RawMessage
	if _, err := DecodeInPlace(data, &raw); err != nil {
		t.Fatal(err)
	}
	if want := `{"a" : "\u0041"}`; string(raw) != want {
		t.Errorf("got %s, want %s", raw, want)
	}
	if &raw[0] != &data[1] || cap(raw) != len(raw) {
		t.Errorf("raw JSON has capacity %d for %d bytes, want the bytes themselves with no room behind", cap(raw), len(raw))
	}
	for _, text := range []string{`{"a":}`, `nul`, ``, `{"a":"` + "\x01" + `"}`} {
		if _, err := Decode([]byte(text), &raw); err == nil {
			t.Errorf("%q is handed over, want an error", text)
		}
		if _, err := Decode([]byte(text), nil); err == nil {
			t.Errorf("%q is valid, want an error", text)
		}
	}
}

func TestDecodedResultsPointIntoTheirInput(t *testing.T) {
	data := []byte(`{"content":[{"type":"text","text":"a\nb"}],"structuredContent":{"x":1},"_meta":{"y":2}}`)
	var r CallToolResult
	if _, err := DecodeInPlace(data, &r); err != nil {
		t.Fatal(err)
	}
	inside := func(p *byte) bool {
		first, last := uintptr(unsafe.Pointer(&data[0])), uintptr(unsafe.Pointer(&data[len(data)-1]))
		return uintptr(unsafe.Pointer(p)) >= first && uintptr(unsafe.Pointer(p)) <= last
	}
	text := r.Content[0].(*TextContent).Text
	if text != "a\nb" || !inside(unsafe.StringData(text)) {
		t.Errorf("the text is %q, inside of the frame: %v, want it there", text, inside(unsafe.StringData(text)))
	}
	for name, raw := range map[string][]byte{"structuredContent": r.StructuredContent, "_meta": r.Meta} {
		if !inside(&raw[0]) || cap(raw) != len(raw) {
			t.Errorf("%s has capacity %d for %d bytes, want bytes of the frame with no room behind", name, cap(raw), len(raw))
		}
	}
}

func TestDecodeDoesNotChangeItsInput(t *testing.T) {
	decode := func(what string, text []byte, v func() any) {
		want, got, input := v(), v(), bytes.Clone(text)
		if _, err := Decode(bytes.Clone(text), want); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if _, err := Decode(input, got); err != nil || !bytes.Equal(input, text) {
			t.Errorf("%s: %v, the input has become %s, want it as it was: %s", what, err, input, text)
		}
		clear(input)
		if diff := cmp.Diff(want, got, cmpID); diff != "" {
			t.Errorf("%s: the value changed with its input (-want +got):\n%s", what, diff)
		}
	}
	for _, g := range goldens(t) {
		decode(fmt.Sprintf("golden.txt:%d", g.line), g.text, g.new)
	}
	escaped := []byte(`{"content":[{"type":"text","text":"a\n\"b\""}],"structuredContent":{"x":"\u0041"}}`)
	decode("a result", escaped, func() any { return new(CallToolResult) })
	decode("raw JSON", escaped, func() any { return new(json.RawMessage) })
	decode("a type of the user's", escaped, func() any {
		return new(struct {
			Content           json.RawMessage `json:"content"`
			StructuredContent Object          `json:"structuredContent"`
		})
	})
}

func TestUnmarshalJSONSharesNoMemoryWithItsInput(t *testing.T) {
	for _, g := range goldens(t) {
		want, got := g.new(), g.new()
		if err := json.Unmarshal(g.text, want); err != nil {
			t.Fatal(err)
		}
		input := bytes.Clone(g.text)
		if err := json.Unmarshal(input, got); err != nil {
			t.Fatal(err)
		}
		clear(input)
		if diff := cmp.Diff(want, got, cmpID); diff != "" {
			t.Errorf("golden.txt:%d: the value changed with its input (-want +got):\n%s", g.line, diff)
		}
	}
}

func TestNullMeansAbsent(t *testing.T) {
	text := `{"_meta":null,"resultType":null,"content":[{"type":"text","text":"a","annotations":null,"_meta":null}],` +
		`"isError":null}`
	var r CallToolResult
	if _, err := Decode([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(CallToolResult{Content: ContentList{Text("a")}}, r); diff != "" {
		t.Errorf("CallToolResult (-want +got):\n%s", diff)
	}
	text = `{"tools":[{"name":"a","inputSchema":{},"outputSchema":null,"title":null,"icons":null,` +
		`"annotations":{"title":null,"readOnlyHint":null},"execution":null}],"ttlMs":null,"cacheScope":null,` +
		`"nextCursor":null}`
	var l ListToolsResult
	if _, err := Decode([]byte(text), &l); err != nil {
		t.Fatal(err)
	}
	tool := &Tool{Name: "a", InputSchema: json.RawMessage("{}"), Annotations: &ToolAnnotations{}}
	if diff := cmp.Diff(ListToolsResult{Tools: []*Tool{tool}}, l); diff != "" {
		t.Errorf("ListToolsResult (-want +got):\n%s", diff)
	}
	text = `{"_meta":null,"messages":[],"modelPreferences":null,"temperature":null,"maxTokens":1,"metadata":null,` +
		`"tools":null,"toolChoice":null}`
	var p CreateMessageParams
	if _, err := Decode([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(CreateMessageParams{Messages: []*SamplingMessage{}, MaxTokens: 1}, p); diff != "" {
		t.Errorf("CreateMessageParams (-want +got):\n%s", diff)
	}
}

func TestNullIsKeptInStructuredContentAndLogData(t *testing.T) {
	var r CallToolResult
	if _, err := Decode([]byte(`{"content":[],"structuredContent":null}`), &r); err != nil {
		t.Fatal(err)
	}
	if string(r.StructuredContent) != "null" {
		t.Errorf("structuredContent is %q, want null", r.StructuredContent)
	}
	var m LoggingMessageParams
	if _, err := Decode([]byte(`{"level":"info","data":null}`), &m); err != nil {
		t.Fatal(err)
	}
	if string(m.Data) != "null" {
		t.Errorf("data is %q, want null", m.Data)
	}
}

func TestLoneSurrogatesAreReplaced(t *testing.T) {
	const text = `a\ud83d b\ude00 c\ud83d\ude00`
	const want = "a\uFFFD b\uFFFD c\U0001F600"
	var r CallToolResult
	if _, err := Decode([]byte(`{"content":[{"type":"text","text":"`+text+`"}]}`), &r); err != nil {
		t.Fatal(err)
	}
	if got := r.Text(); got != want {
		t.Errorf("text of a result is %q, want %q", got, want)
	}
	var d DiscoverResult
	if _, err := Decode([]byte(`{"supportedVersions":[],"instructions":"`+text+`"}`), &d); err != nil {
		t.Fatal(err)
	}
	if d.Instructions != want {
		t.Errorf("instructions are %q, want %q", d.Instructions, want)
	}
}

func TestMemberNamesAreCaseSensitive(t *testing.T) {
	var r CallToolResult
	text := `{"Content":1,"CONTENT":[],"content":[],"isError\u0000":true,"i\u0073Error":true}`
	if _, err := Decode([]byte(text), &r); err != nil || !r.IsError {
		t.Errorf("%s: error %v, isError %v, want names in other case passed over and escaped ones understood", text, err,
			r.IsError)
	}
	var d DiscoverResult
	if _, err := Decode([]byte(`{"SupportedVersions":["a"],"supportedVersions":["b"]}`), &d); err != nil ||
		d.SupportedVersions[0] != "b" {
		t.Errorf("error %v, versions %v, want those under the exact name", err, d.SupportedVersions)
	}
}

func TestNestingIsBounded(t *testing.T) {
	deep := strings.Repeat("[", 1<<20)
	for _, text := range []string{
		deep,
		`{"content":` + deep,
		`{"content":[],"structuredContent":` + deep,
		`{"content":[` + strings.Repeat(`{"type":"tool_result","toolUseId":"a","content":[`, 1<<18),
		`{"content":[{"type":"text","x":` + deep,
	} {
		for _, v := range []any{new(CallToolResult), new(DiscoverResult), nil} {
			if n, err := Decode([]byte(text), v); err == nil {
				t.Errorf("%.60s… into %T is accepted up to byte %d, want an error", text, v, n)
			}
		}
	}
	nested := `{"content":[{"type":"tool_result","toolUseId":"a","content":[{"type":"tool_result","toolUseId":"b",` +
		`"content":[]}]}]}`
	var r CallToolResult
	if _, err := Decode([]byte(nested), &r); err != nil {
		t.Fatal(err)
	}
	inner := r.Content[0].(*ToolResultContent).Content[0]
	if _, ok := inner.(*UnknownContent); !ok {
		t.Errorf("a tool result within a tool result is a %T, want it unknown", inner)
	}
}

// TestResultOfAnotherTypeMayLackRequiredMembers decodes a result into its method's type, and then into its own type.
func TestResultOfAnotherTypeMayLackRequiredMembers(t *testing.T) {
	data := []byte(`{"_meta":{"a":"\u0041"},"inputRequests":{"k":{"method":"roots/list"}},"isError":true,` +
		`"requestState":"\u0053","resultType":"input_\u0072equired"}`)
	var first CallToolResult
	if _, err := Decode(data, &first); err != nil {
		t.Fatal(err)
	}
	if first.ResultType != ResultInputRequired {
		t.Fatalf("ResultType is %q, want %q", first.ResultType, ResultInputRequired)
	}
	var second InputRequiredResult
	if _, err := Decode(data, &second); err != nil {
		t.Fatal(err)
	}
	want := InputRequiredResult{
		Result:        Result{Meta: Meta(`{"a":"\u0041"}`), ResultType: ResultInputRequired},
		InputRequests: InputRequests{"k": {Method: MethodListRoots}},
		RequestState:  new("S"),
	}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("decoded again (-want +got):\n%s", diff)
	}
	for _, v := range []any{new(GetPromptResult), new(ReadResourceResult), new(ListToolsResult)} {
		if _, err := Decode(bytes.Clone(data), v); err != nil {
			t.Errorf("into %T: %v, want nothing required of a result that is not complete", v, err)
		}
	}
	if _, err := Decode([]byte(`{"resultType":"complete"}`), &first); err == nil {
		t.Error("a complete result without content is accepted, want an error")
	}
}

func TestResultTypeOf(t *testing.T) {
	for _, c := range []struct {
		text string
		want ResultType
		err  string
	}{
		{`{}`, ResultComplete, ""},
		{`{"resultType":"complete","a":`, ResultComplete, ""},
		{`{"resultType":"complete"}`, ResultComplete, ""},
		{`{"resultType":"completed"}`, "completed", ""},
		{`{"resultType":"complete\u0064"}`, "completed", ""},
		{`{"resultType":null}`, ResultComplete, ""},
		{`{"content":[{"resultType":"task"}]}`, ResultComplete, ""},
		{`{"a":{"resultType":"x"},"resultType":"task","b":`, ResultTask, ""},
		{`{"resultType":"inpu\u0074_required"}`, ResultInputRequired, ""},
		{`{"resultType":"newer"}`, "newer", ""},
		{`{"resultType":1}`, "", "resultType is not a string"},
		{`{"resultType":nul}`, "", "invalid character '}' at offset 17"},
		{`[]`, "", "no object at offset 0"},
		{`{"a":x,"resultType":"task"}`, "", "invalid character 'x' at offset 5"},
	} {
		text := []byte(c.text)
		got, err := ResultTypeOf(text)
		if c.err == "" && (err != nil || got != c.want) {
			t.Errorf("%s: %q, %v, want %q", c.text, got, err, c.want)
		}
		if c.err != "" && (err == nil || err.Error() != c.err) {
			t.Errorf("%s: %q, %v, want the error %s", c.text, got, err, c.err)
		}
		if string(text) != c.text {
			t.Errorf("%s has been changed to %s", c.text, text)
		}
	}
}

func TestUserTypesAreDecodedByJSONLibrary(t *testing.T) {
	var v struct {
		Raw  json.RawMessage `json:"raw"`
		Tool *Tool           `json:"tool"`
	}
	if _, err := Decode([]byte(`{"raw":null,"tool":{}}`), &v); err != nil || string(v.Raw) != "null" {
		t.Errorf("error %v, raw %q, want the JSON library's result", err, v.Raw)
	}
	if _, err := Decode([]byte(`{"raw":1,"tool":{"title":2}}`), &v); err == nil ||
		err.Error() != "tool.title is not a string" {
		t.Errorf("error %v, want tool.title is not a string", err)
	}
	var own failing
	if _, err := Decode([]byte(`{}`), &own); !errors.Is(err, errFailing) {
		t.Errorf("error %v, want the error of the type's own method", err)
	}
}

var errFailing = errors.New("failing")

type failing struct{}

func (*failing) UnmarshalJSON([]byte) error { return errFailing }
