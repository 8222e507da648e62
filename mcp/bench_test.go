package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// textResult returns a tools/call result of about size bytes: one text with a line break every 80 bytes.
func textResult(size int) []byte {
	line := strings.Repeat("x", 79) + "\n"
	text := strings.Repeat(line, size/81+1)[:size-size/81]
	b, err := AppendResult(nil, &CallToolResult{Content: ContentList{Text(text)}})
	if err != nil {
		panic(err)
	}
	return b
}

// itemsResult returns a tools/call result with n small annotated texts.
func itemsResult(n int) []byte {
	r := &CallToolResult{}
	for i := range n {
		c := Text(fmt.Sprintf("item %d: the quick brown fox jumps over the lazy dog, \"again\"\n", i))
		if i%10 == 0 {
			c.Annotations = &Annotations{Audience: []Role{RoleUser}}
		}
		r.Content = append(r.Content, c)
	}
	b, err := AppendResult(nil, r)
	if err != nil {
		panic(err)
	}
	return b
}

// toolsResult returns a tools/list result of n tools, about 700 bytes each.
func toolsResult(n int) []byte {
	r := &ListToolsResult{}
	for i := range n {
		r.Tools = append(r.Tools, &Tool{
			Name:        fmt.Sprintf("tool_%d", i),
			Title:       fmt.Sprintf("Tool number %d", i),
			Description: strings.Repeat("Does something useful with its input. ", 5),
			InputSchema: json.RawMessage(
				`{"type":"object","properties":{"path":{"type":"string","description":"where to look"},` +
					`"depth":{"type":"integer","minimum":0,"maximum":64},"filter":{"type":"array","items":{"type":"string"}}},` +
					`"required":["path"],"additionalProperties":false}`),
			Annotations: &ToolAnnotations{ReadOnlyHint: new(true), OpenWorldHint: new(false)},
		})
	}
	b, err := AppendResult(nil, r)
	if err != nil {
		panic(err)
	}
	return b
}

// BenchmarkDecode includes the copy of the frame, which decoding consumes. by=validate is the lower bound: it reads
// each byte once.
func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct {
		name string
		data []byte
		v    func() any
	}{
		{"text=200B", textResult(200), func() any { return new(CallToolResult) }},
		{"text=1KiB", textResult(1 << 10), func() any { return new(CallToolResult) }},
		{"text=1MiB", textResult(1 << 20), func() any { return new(CallToolResult) }},
		{"text=16MiB", textResult(16 << 20), func() any { return new(CallToolResult) }},
		{"items=10000", itemsResult(10000), func() any { return new(CallToolResult) }},
		{"items=170000", itemsResult(170000), func() any { return new(CallToolResult) }},
		{"tools=1000", toolsResult(1000), func() any { return new(ListToolsResult) }},
	} {
		b.Run(c.name+"/by=type", func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeInPlace(bytes.Clone(c.data), c.v()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/by=validate", func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			for b.Loop() {
				if _, err := Decode(c.data, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendParams(b *testing.B) {
	type arguments struct {
		City string `json:"city"`
		Days int    `json:"days"`
	}
	for _, c := range []struct {
		name string
		args any
	}{
		{"struct", &arguments{"Paris", 3}},
		{"map", map[string]any{"city": "Paris", "days": 3}},
		{"raw", json.RawMessage(`{"city":"Paris","days":3}`)},
	} {
		b.Run("arguments="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			p := &CallToolParams{Name: "get_weather", Arguments: c.args}
			var buf []byte
			for b.Loop() {
				var err error
				if buf, err = AppendParams(buf[:0], p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendResult(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("text=%dKiB", size>>10), func(b *testing.B) {
			var r CallToolResult
			data := textResult(size)
			if _, err := DecodeInPlace(bytes.Clone(data), &r); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				var err error
				if buf, err = AppendResult(buf[:0], &r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
