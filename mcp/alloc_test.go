package mcp

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

// allocations counts the allocations of decoding data into a new value, without the copy of data. A garbage collection
// during the count adds a few allocations to a large number.
func allocations(t *testing.T, data []byte, v func() any) float64 {
	t.Helper()
	clone := testing.AllocsPerRun(5, func() { bytes.Clone(data) })
	return testing.AllocsPerRun(5, func() {
		if _, err := DecodeInPlace(bytes.Clone(data), v()); err != nil {
			t.Fatal(err)
		}
	}) - clone
}

func TestDecodeAllocationsAreBounded(t *testing.T) {
	if heap.Raced {
		t.Skip("the race detector allocates")
	}
	result := func() any { return new(CallToolResult) }
	for _, c := range []struct {
		name string
		data []byte
		v    func() any
		most float64
	}{
		{"a text of 200 bytes", textResult(200), result, 2},
		{"a text of 1 KiB", textResult(1 << 10), result, 2},
		{"a text of 16 MiB", textResult(16 << 20), result, 3},
		{"10,000 small texts", itemsResult(10_000), result, 80},
		{"100,000 small texts", itemsResult(100_000), result, 500},
		{"1,000 tools", toolsResult(1_000), func() any { return new(ListToolsResult) }, 60},
	} {
		if got := allocations(t, c.data, c.v); got > c.most {
			t.Errorf("%s: %v allocations, want at most %v", c.name, got, c.most)
		}
	}
}

func TestAppendAllocationsAreBounded(t *testing.T) {
	if heap.Raced {
		t.Skip("the race detector allocates")
	}
	type arguments struct {
		City string `json:"city"`
		Days int    `json:"days"`
	}
	buf := make([]byte, 0, 4<<10)
	params := func(v any) func() {
		return func() {
			if _, err := AppendParams(buf, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		run  func()
		most float64
	}{
		{"raw arguments", params(&CallToolParams{Name: "t", Arguments: json.RawMessage(`{"city":"Paris","days":3}`)}), 0},
		{"arguments in a struct", params(&CallToolParams{Name: "t", Arguments: &arguments{"Paris", 3}}), 2},
		{"arguments in a struct by value", params(&CallToolParams{Name: "t", Arguments: arguments{"Paris", 3}}), 2},
		{"no arguments", params(&CallToolParams{Name: "t"}), 0},
		{"a text result", func() {
			if _, err := AppendResult(buf, &CallToolResult{Content: ContentList{Text("hi")}}); err != nil {
				t.Fatal(err)
			}
		}, 3}, // the result, its list and its text
	} {
		if got := testing.AllocsPerRun(100, c.run); got > c.most {
			t.Errorf("%s: %v allocations, want at most %v", c.name, got, c.most)
		}
	}
}

func TestLookupsAllocateNothing(t *testing.T) {
	if heap.Raced {
		t.Skip("the race detector allocates")
	}
	data := []byte(`{"_meta":{"a":1},"resultType":"input_required","inputRequests":{}}`)
	for name, run := range map[string]func(){
		"Lookup":       func() { Lookup(MethodCallTool, Version20260728) },
		"ResultTypeOf": func() { ResultTypeOf(data) },
		"Decode(nil)":  func() { Decode(data, nil) },
	} {
		if got := testing.AllocsPerRun(100, run); got > 0 {
			t.Errorf("%s: %v allocations, want none", name, got)
		}
	}
}
