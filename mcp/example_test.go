package mcp_test

import (
	"encoding/json"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
)

func ExampleText() {
	result := &mcp.CallToolResult{
		Content: mcp.ContentList{mcp.Text("18 °C"), mcp.Text("partly cloudy")},
	}
	fmt.Println(result.Text())
	// Output:
	// 18 °C
	// partly cloudy
}

func ExampleImage() {
	block := mcp.Image([]byte("GIF89a"), "image/gif")
	data, err := block.Bytes()
	fmt.Printf("%s is %q, %v\n", block.Data, data, err)
	// Output: R0lGODlh is "GIF89a", <nil>
}

func ExampleDecode() {
	frame := []byte(`{"content":[{"type":"text","text":"18 °C"},{"type":"resource_link","uri":"weather://paris",` +
		`"name":"paris"}]}`)
	var result mcp.CallToolResult
	if _, err := mcp.Decode(frame, &result); err != nil {
		fmt.Println(err)
		return
	}
	for _, block := range result.Content {
		switch block := block.(type) {
		case *mcp.TextContent:
			fmt.Println("text:", block.Text)
		case *mcp.ResourceLink:
			fmt.Println("link:", block.URI)
		}
	}
	// Output:
	// text: 18 °C
	// link: weather://paris
}

func ExampleDecode_error() {
	_, err := mcp.Decode([]byte(`{"prompts":[{"name":"a"},{"title":"b"}]}`), new(mcp.ListPromptsResult))
	fmt.Println(err)
	// Output: prompts[1].name is missing
}

func ExampleAppendParams() {
	params, err := mcp.AppendParams(nil, &mcp.CallToolParams{
		Name:      "get_weather",
		Arguments: map[string]any{"city": "Paris"},
	})
	fmt.Println(string(params), err)
	// Output: {"name":"get_weather","arguments":{"city":"Paris"}} <nil>
}

func ExampleLookup() {
	for _, version := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		method, found := mcp.Lookup(mcp.MethodSubscribe, version)
		fmt.Println(version, found, method.Params)
	}
	// Output:
	// 2025-11-25 true mcp.SubscribeParams
	// 2026-07-28 false <nil>
}

func ExampleObject_With() {
	var meta mcp.Meta
	meta, err := meta.With(mcp.MetaProgressToken, "p1")
	if err != nil {
		fmt.Println(err)
		return
	}
	var token mcp.ProgressToken
	found, err := meta.Decode(mcp.MetaProgressToken, &token)
	fmt.Println(string(meta), token, found, err)
	// Output: {"progressToken":"p1"} p1 true <nil>
}

func ExampleFormSchema() {
	schema, err := json.Marshal(mcp.FormSchema{
		Properties: []mcp.FormField{
			{Name: "name", Type: mcp.FormString, Title: "Your name"},
			{Name: "size", Type: mcp.FormString, Enum: []string{"S", "M", "L"}},
		},
		Required: []string{"name"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	params := mcp.ElicitParams{Message: "Which shirt?", RequestedSchema: schema}
	fmt.Println(string(params.RequestedSchema))
	// Output: {"type":"object","properties":{"name":{"type":"string","title":"Your name"},"size":{"type":"string","enum":["S","M","L"]}},"required":["name"]}
}
