package peers

import (
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Decoder decodes a frame in memory into a typed result: the envelope, then the result. Its functions return the number
// of bytes of the content, and the number of tools.
type Decoder struct {
	Name       string
	Call, List func(frame []byte) (int, error)
}

// Decoders are the decoders that these libraries export. Their clients do more with each frame: the SDK first looks for
// a batch and decodes a second time in a middleware; mcp-go converts the line to a string and looks for a method first.
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
