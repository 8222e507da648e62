package peers

import (
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Decoder makes a typed result of a frame that lies in memory: the envelope, then the result. Its functions return how
// many bytes the content has, and how many tools there are.
type Decoder struct {
	Name       string
	Call, List func(frame []byte) (int, error)
}

// Decoders are what these libraries export of their decoding. Their clients do more with each frame: the SDK looks for
// a batch first and decodes a second time in a middleware; mcp-go makes a string of the line, and looks for a method
// first.
var Decoders = []Decoder{
	{
		Name: "gosdk",
		Call: func(frame []byte) (int, error) {
			var r mcp.CallToolResult
			err := goSDKDecode(frame, &r)
			return goSDKContent(&r), err
		},
		List: func(frame []byte) (int, error) {
			var r mcp.ListToolsResult
			err := goSDKDecode(frame, &r)
			return len(r.Tools), err
		},
	},
	{
		Name: "mcpgo",
		Call: func(frame []byte) (int, error) {
			var m transport.JSONRPCResponse
			if err := json.Unmarshal(frame, &m); err != nil {
				return 0, err
			}
			r, err := mcpgo.ParseCallToolResult(&m.Result)
			if err != nil {
				return 0, err
			}
			return mcpGoContent(r), nil
		},
		List: func(frame []byte) (int, error) {
			var m transport.JSONRPCResponse
			if err := json.Unmarshal(frame, &m); err != nil {
				return 0, err
			}
			var r mcpgo.ListToolsResult
			err := json.Unmarshal(m.Result, &r)
			return len(r.Tools), err
		},
	},
}

func goSDKDecode(frame []byte, result any) error {
	m, err := jsonrpc.DecodeMessage(frame)
	if err != nil {
		return err
	}
	r, ok := m.(*jsonrpc.Response)
	if !ok || r.Error != nil {
		return fmt.Errorf("want a result, got %T", m)
	}
	return json.Unmarshal(r.Result, result)
}
