package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func ExampleHandleSampling() {
	model := mcpclient.HandleSampling(func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
		for _, hint := range p.ModelPreferences.Hints {
			fmt.Println("the server would like", hint.Name)
		}
		question := p.Messages[0].Content[0].(*mcp.TextContent).Text
		return &mcp.CreateMessageResult{ // of the model that the client has
			Model:      "local-7b",
			Content:    mcp.SamplingContent{mcp.Text(question + " Paris.")},
			StopReason: mcp.StopEndTurn,
		}, nil
	}, nil)
	server := asking(mcp.MethodCreateMessage, `{
		"messages": [{"role": "user", "content": {"type": "text", "text": "What is the capital of France?"}}],
		"modelPreferences": {"hints": [{"name": "sonnet"}]},
		"maxTokens": 100
	}`)
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Features: []mcpclient.Feature{model}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Stop(ctx)

	result, err := client.CallTool(ctx, "quiz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// the server would like sonnet
	// {"role":"assistant","content":{"type":"text","text":"What is the capital of France? Paris."},"model":"local-7b","stopReason":"endTurn"}
}

// asking is a server whose tools ask the client for one thing and return what they get. It is written out in frames, so that
// it shows what goes over the wire.
func asking(method, params string) transport.Transport {
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		for {
			frame, err := peer.Receive(ctx)
			if err != nil {
				return
			}
			var request struct {
				ID     int64
				Method string
				Params mcp.InputRound
			}
			if err := json.Unmarshal(frame, &request); err != nil {
				return
			}
			var result string
			switch answer, answered := request.Params.InputResponses["it"]; {
			case request.Method == mcp.MethodDiscover:
				result = `"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}`
			case answered:
				text, _ := json.Marshal(string(answer))
				result = fmt.Sprintf(`"resultType":"complete","content":[{"type":"text","text":%s}]`, text)
			default:
				result = fmt.Sprintf(`"resultType":"input_required","inputRequests":{"it":{"method":%q,"params":%s}}`, method, params)
			}
			if peer.Send(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{%s}}`, request.ID, result)) != nil {
				return
			}
		}
	})
}
