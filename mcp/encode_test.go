package mcp

import (
	"encoding/json"
	"testing"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

func TestParamsAreOneObjectOnOneLine(t *testing.T) {
	type arguments struct {
		A int    `json:"a"`
		B string `json:"b,omitzero"`
	}
	lines := json.RawMessage("{ \"a\" :\r\n[1,\n2]}\n")
	for _, c := range []struct {
		params any
		want   string
	}{
		{nil, `{}`},
		{json.RawMessage(nil), `{}`},
		{lines, `{ "a" :  [1, 2]}`},
		{&CallToolParams{}, `{"name":""}`},
		{&CallToolParams{Name: "t\n", Arguments: arguments{A: 1, B: "x\ny"}},
			`{"name":"t\n","arguments":{"a":1,"b":"x\ny"}}`},
		{&CallToolParams{Name: "t", Arguments: lines}, `{"name":"t","arguments":{ "a" :  [1, 2]}}`},
		{&CallToolParams{Name: "t", Arguments: map[string]any{"z": 1, "a": lines}},
			`{"name":"t","arguments":{"a":{"a":[1,2]},"z":1}}`},
		{CallToolParams{Name: "t", Arguments: lines}, `{"name":"t","arguments":{"a":[1,2]}}`},
		{
			&CallToolParams{
				Meta: Meta(`{"x":1}`), Name: "t", Task: &TaskMetadata{TTL: new(int64(5))},
				InputRound: InputRound{InputResponses{"k": json.RawMessage(`{"roots":[]}`)}, new("s")},
			},
			`{"_meta":{"x":1},"name":"t","task":{"ttl":5},"inputResponses":{"k":{"roots":[]}},"requestState":"s"}`,
		},
		{&CallToolParams{Name: "\xffa"}, `{"name":"` + "\uFFFD" + `a"}`},
		{&PageParams{Meta: Meta("{\n}"), Cursor: new("\xff")}, `{"_meta":{},"cursor":"` + "\uFFFD" + `"}`},
		{map[string]int{"b": 1, "a": 2}, `{"a":2,"b":1}`},
	} {
		got, err := AppendParams([]byte("before "), c.params)
		if err != nil || string(got) != "before "+c.want {
			t.Errorf("%T: %s, %v\nwant before %s", c.params, got, err, c.want)
		}
	}
}

func TestNonObjectParamsAreRejected(t *testing.T) {
	for _, c := range []struct {
		params any
		want   string
	}{
		{json.RawMessage(`[]`), "not a JSON object"},
		{json.RawMessage(`{}}`), "invalid character '}' at offset 2"},
		{json.RawMessage(`{"a":1},"id":2`), "invalid character ',' at offset 7"},
		{[]int{1}, "not a JSON object"},
		{"x", "not a JSON object"},
		{(*PageParams)(nil), "not a JSON object"},
		{(*CallToolParams)(nil), "not a JSON object"},
		{&CallToolParams{Arguments: json.RawMessage(`[]`)}, "arguments must be a JSON object"},
		{&CallToolParams{Arguments: json.RawMessage(`{}},"id":{}`)}, "arguments: invalid character '}' at offset 2"},
		{&CallToolParams{Arguments: 3}, "arguments must be a JSON object"},
		{&CallToolParams{Arguments: map[string]any{"f": func() {}}}, ""},
		{&CallToolParams{Meta: Meta(`[]`)}, "_meta must be a JSON object"},
		{&PageParams{Meta: Meta(`[]`)}, "_meta must be a JSON object"},
	} {
		before := []byte("before ")
		got, err := AppendParams(before, c.params)
		if err == nil || c.want != "" && err.Error() != c.want {
			t.Errorf("%T %v: error %v, want %s", c.params, c.params, err, c.want)
		}
		if string(got) != "before " {
			t.Errorf("%T %v: got %q, want dst unchanged", c.params, c.params, got)
		}
	}
}

func TestResultsAreEncodedLikeParams(t *testing.T) {
	for _, c := range []struct {
		result any
		want   string
	}{
		{nil, `{}`},
		{&Result{}, `{}`},
		{&CallToolResult{}, `{"content":[]}`},
		{&ListToolsResult{}, `{"tools":[]}`},
		{
			&CallToolResult{
				Result:            Result{Meta: Meta(`{}`), ResultType: ResultComplete},
				Content:           ContentList{Text("a\n\xff"), &UnknownContent{Raw: json.RawMessage("{\"type\":\n\"x\"}")}},
				StructuredContent: json.RawMessage("[\n1]"),
				IsError:           true,
			},
			`{"_meta":{},"resultType":"complete","content":[{"type":"text","text":"a\n` + "\uFFFD" +
				`"},{"type": "x"}],"structuredContent":[ 1],"isError":true}`,
		},
		{&Task{TaskID: "1"}, `{"taskId":"1","status":"","createdAt":"","lastUpdatedAt":"","ttlMs":null}`},
	} {
		got, err := AppendResult(nil, c.result)
		if err != nil || string(got) != c.want {
			t.Errorf("%T: %s, %v\nwant %s", c.result, got, err, c.want)
		}
		if err := jsonscan.Valid(got); err != nil {
			t.Errorf("%T: %v", c.result, err)
		}
	}
	for result, want := range map[any]string{
		&CallToolResult{Content: ContentList{nil}}:                 "content[0] is null",
		&CallToolResult{Content: ContentList{&EmbeddedResource{}}}: "content[0].resource is null",
		&CallToolResult{Content: ContentList{&UnknownContent{}}}: "content[0]: unexpected end " +
			"of JSON at offset 0",
		&CallToolResult{Content: ContentList{&ToolUseContent{Input: []byte(`1`)}}}: "content[0].input must be a JSON object",
		&CallToolResult{StructuredContent: json.RawMessage(`{`)}: "structuredContent: " +
			"unexpected end of JSON at offset 1",
		&GetPromptResult{Messages: []*PromptMessage{
			{Content: &EmbeddedResource{}}}}: "messages[0].content.resource is null",
		&CreateMessageResult{Content: SamplingContent{nil}}:                            "content is null",
		&CreateMessageResult{Content: SamplingContent{Text(""), &ResourceLink{}, nil}}: "content[2] is null",
		&CallToolResult{Content: ContentList{&TextContent{Meta: Meta(`[]`)}}}: "content[0]._meta " +
			"must be a JSON object",
		&CallToolResult{Content: ContentList{&EmbeddedResource{Meta: Object(`null`)}}}: "content[0].resource is null",
		&CallToolResult{Content: ContentList{&ResourceLink{Meta: Meta(`"text"`)}, Text("")}}: "content[0]._meta " +
			"must be a JSON object",
	} {
		got, err := AppendResult(nil, result)
		if err == nil || err.Error() != want {
			t.Errorf("%T: %s, %v, want the error %s", result, got, err, want)
		}
	}
}
