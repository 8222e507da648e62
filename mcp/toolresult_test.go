package mcp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestResultDecodeReturnsToolOutputOrToolError(t *testing.T) {
	type weather struct{ Sky string }
	for _, test := range []struct {
		name   string
		result CallToolResult
		want   string // the sky, or a part of the error
	}{
		{"structured content", CallToolResult{Content: ContentList{Text("not this")},
			StructuredContent: json.RawMessage(`{"Sky":"clear"}`)}, "clear"},
		{"JSON as text", CallToolResult{Content: ContentList{Text(`{"Sky":"grey"}`)}}, "grey"},
		{"text that is not JSON", CallToolResult{Content: ContentList{Text(`it rains`)}}, "error: result of the tool: "},
		{"two texts", CallToolResult{Content: ContentList{Text(`{}`), Text(`{}`)}}, "error: the tool returned neither"},
		{"an image", CallToolResult{Content: ContentList{Image([]byte("x"), "image/png")}},
			"error: the tool returned neither"},
		{"nothing", CallToolResult{}, "error: the tool returned neither structured content"},
		{"another type", CallToolResult{StructuredContent: json.RawMessage(`{"Sky":7}`)}, "error: result of the tool: "},
		{"a failure", CallToolResult{IsError: true, Content: ContentList{Text("no such city")},
			StructuredContent: json.RawMessage(`{"Sky":"clear"}`)}, "error: tool: no such city"},
		{"a failure without a message", CallToolResult{IsError: true}, "error: tool: the call failed without a message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got weather
			err := test.result.Decode(&got)
			want, fails := strings.CutPrefix(test.want, "error: ")
			if fails {
				if err == nil || !strings.HasPrefix(err.Error(), want) || got != (weather{}) && test.result.IsError {
					t.Errorf("got %+v and %v, want an error: %s", got, err, want)
				}
			} else if err != nil || got.Sky != want {
				t.Errorf("got %+v and %v, want %s", got, err, want)
			}
			failure, ok := errors.AsType[*ToolError](test.result.Err())
			if ok != test.result.IsError || ok && failure.Result != &test.result {
				t.Errorf("Err: got %v, want an error if and only if the tool has failed", test.result.Err())
			}
		})
	}
}
