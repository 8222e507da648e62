package benchmarks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// BenchmarkDecode decodes a whole frame, the envelope and everything in the result, into a typed result. The frame is
// already in memory, which each iteration reuses. Peer ours decodes in place, so it copies the frame first; in a
// client, the reader of the connection makes that copy anyway. The floor only makes this copy. v1 and v2 decode frame
// and result in one pass into plain structs; like ours, they keep images as text and structured content raw. Unlike
// ours, v1 accepts names in any case, and takes the last of duplicate names.
//
// For frames of a megabyte and more, peak-x is the maximum growth of the process's memory while ten results are decoded
// and dropped, divided by the size of the frame.
func BenchmarkDecode(b *testing.B) {
	for _, s := range workload.Shapes {
		for _, size := range sizes {
			if size < 400 && s != workload.Text { // too small for other shapes
				continue
			}
			name := fmt.Sprintf("shape=%s/size=%s/peer=", s, workload.SizeName(size))
			for _, d := range decoders {
				b.Run(name+d.name, func(b *testing.B) { decodes(b, payload(b, s, size), d.call) })
			}
		}
	}
	for _, d := range decoders {
		b.Run("shape=tools/size=1000/peer="+d.name, func(b *testing.B) {
			decodes(b, payload(b, workload.Tools, 1000), d.list)
		})
	}
}

// decodes measures a decoder. decode returns the number of bytes or tools in the payload.
func decodes(b *testing.B, p workload.Payload, decode func(frame []byte) (int, error)) {
	f := func() error {
		n, err := decode(p.Frame)
		if err == nil && n != p.Content+p.Tools && n != len(p.Frame) {
			err = fmt.Errorf("want %d, got %d", p.Content+p.Tools, n)
		}
		return err
	}
	each(b, len(p.Frame), f)
	if len(p.Frame) < workload.MiB {
		return
	}
	peak, ok := workload.PeakResident(func() {
		for range 10 {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
	})
	if ok {
		b.ReportMetric(float64(peak)/float64(len(p.Frame)), "peak-x")
	}
}

var decoders = []struct {
	name       string
	call, list func([]byte) (int, error)
}{
	{"floor", copied, copied},
	{"v1", viaV1, viaV1},
	{"v2", viaV2, viaV2},
	{"ours", oursCall, oursList},
}

var kept []byte // keeps the compiler from removing the copy

func copied(frame []byte) (int, error) {
	kept = bytes.Clone(frame)
	n := len(kept)
	kept = nil
	return n, nil
}

func oursCall(frame []byte) (content int, err error) {
	var r mcp.CallToolResult
	if err := oursDecode(frame, &r); err != nil {
		return 0, err
	}
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			content += len(c.Text)
		case *mcp.ImageContent:
			content += len(c.Data)
		}
	}
	return content, nil
}

func oursList(frame []byte) (int, error) {
	var r mcp.ListToolsResult
	err := oursDecode(frame, &r)
	return len(r.Tools), err
}

// oursDecode does what the client does with an answer.
func oursDecode(frame []byte, v any) error {
	m, err := jsonrpc.Parse(bytes.Clone(frame))
	if err != nil {
		return err
	}
	if _, err := mcp.ResultTypeOf(m.Middle()); err != nil {
		return err
	}
	return m.Consume(func(middle []byte) (int, error) { return mcp.DecodeInPlace(middle, v) })
}

// plainAnswer is the type into which v1 and v2 decode.
type plainAnswer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      int64           `json:"id"`
	Result  plainResult     `json:"result"`
	Error   json.RawMessage `json:"error"`
}

type plainResult struct {
	ResultType        string          `json:"resultType"`
	Content           []plainContent  `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
	Tools             []plainTool     `json:"tools"`
}

type plainContent struct {
	Type        string            `json:"type"`
	Text        string            `json:"text"`
	Data        string            `json:"data"`
	MIMEType    string            `json:"mimeType"`
	Annotations *plainAnnotations `json:"annotations"`
}

type plainAnnotations struct {
	Audience []string `json:"audience"`
	Priority *float64 `json:"priority"`
}

type plainTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations *struct {
		ReadOnlyHint  *bool `json:"readOnlyHint"`
		OpenWorldHint *bool `json:"openWorldHint"`
	} `json:"annotations"`
}

func (a *plainAnswer) size() (n int) {
	for i := range a.Result.Content {
		n += len(a.Result.Content[i].Text) + len(a.Result.Content[i].Data)
	}
	return n + len(a.Result.Tools)
}

func viaV1(frame []byte) (int, error) {
	var a plainAnswer
	err := json.Unmarshal(frame, &a)
	return a.size(), err
}

func viaV2(frame []byte) (int, error) {
	var a plainAnswer
	err := jsonv2.Unmarshal(frame, &a)
	return a.size(), err
}
