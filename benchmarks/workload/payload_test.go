package workload

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestPayloadHasTheRequestedSizeAndContent(t *testing.T) {
	for _, e := range Eras {
		for _, s := range Shapes {
			for _, size := range []int{400, 401, 402, 403, KiB, 10 * KiB, 100*KiB + 1, MiB + 3} {
				p := NewPayload(e, s, size)
				if len(p.Frame) != size {
					t.Errorf("%s %s: want %d bytes, got %d", e, s, size, len(p.Frame))
				}
				var r mcp.CallToolResult
				decode(t, p, &r)
				content := 0
				for _, c := range r.Content {
					switch c := c.(type) {
					case *mcp.TextContent:
						content += len(c.Text)
					case *mcp.ImageContent:
						content += len(c.Data)
					}
				}
				if content != p.Content {
					t.Errorf("%s %s of %d: want %d bytes of content, got %d", e, s, size, p.Content, content)
				}
				if s == Structured && size > KiB && len(r.StructuredContent) < size/2 {
					t.Errorf("%s of %d: want structured content, got %d bytes of it", s, size, len(r.StructuredContent))
				}
			}
		}
	}
}

func TestTheSmallestAndTheLargestPayloadsExist(t *testing.T) {
	for _, e := range Eras {
		if p := NewPayload(e, Text, Tiny); len(p.Frame) != Tiny {
			t.Errorf("want %d bytes, got %d", Tiny, len(p.Frame))
		}
	}
	for _, s := range []Shape{Text, Items} {
		p := NewPayload(Modern, s, Limit)
		if len(p.Frame) != Limit || bytes.IndexByte(p.Frame, '\n') >= 0 {
			t.Errorf("%s: want one line of %d bytes, got %d", s, Limit, len(p.Frame))
		}
	}
}

func TestToolsPayloadHasAllTools(t *testing.T) {
	for _, e := range Eras {
		p := NewPayload(e, Tools, 1000)
		var r mcp.ListToolsResult
		decode(t, p, &r)
		if len(r.Tools) != 1000 || p.Tools != 1000 || len(p.Frame) < 500<<10 {
			t.Errorf("%s: want 1000 tools in half a megabyte or more, got %d in %d", e, len(r.Tools), len(p.Frame))
		}
	}
}

func TestStructuredResultsMatchTheListedSchema(t *testing.T) {
	r, w, wait, err := Canned{Modern, Structured, 10 * KiB}.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer wait()
	c, err := mcpclient.Connect(t.Context(), Streams(r, w), &mcpclient.Options{Telemetry: telemetry.Off()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	page, err := c.ListTools(t.Context(), nil)
	if err != nil || len(page.Tools) != 1 || page.Tools[0].Name != TinyTool || page.Tools[0].OutputSchema == nil {
		t.Fatalf("want the tiny tool with its schema, got %+v, %v", page, err)
	}
	out, err := mcpclient.CallToolAs[struct {
		Records []any `json:"records"`
	}](t.Context(), c, TinyTool, Hello)
	if err != nil || len(out.Records) == 0 {
		t.Errorf("want records, got %d, %v", len(out.Records), err)
	}
}

// decode checks that a frame is one JSON text and decodes its result with the strict decoder.
func decode(t *testing.T, p Payload, v any) {
	t.Helper()
	if !json.Valid(p.Frame) {
		t.Fatalf("not JSON: %.200s", p.Frame)
	}
	if n, err := mcp.Decode(bytes.Clone(p.Result()), v); err != nil || n != len(p.Result()) {
		t.Fatalf("want %d bytes decoded, got %d, %v", len(p.Result()), n, err)
	}
}
