package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// played is a modern server whose part is played: answer returns the frames that it sends when it gets a request.
func played(answer func(method string, id json.RawMessage, params string) []string) transport.Transport {
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		for {
			data, err := peer.Receive(ctx)
			if err != nil {
				return
			}
			var f struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
				Params json.RawMessage `json:"params"`
			}
			if json.Unmarshal(data, &f) != nil || f.ID == nil {
				continue
			}
			frames := []string{`{"jsonrpc":"2.0","id":` + string(f.ID) + `,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"logging":{},"resources":{"subscribe":true}}}}`}
			if f.Method != mcp.MethodDiscover {
				frames = answer(f.Method, f.ID, string(f.Params))
			}
			for _, frame := range frames {
				if peer.Send(ctx, []byte(frame)) != nil {
					return
				}
			}
		}
	})
}

func ExampleClient_SubscribeResource() {
	ctx := context.Background()
	server := played(func(_ string, id json.RawMessage, _ string) []string {
		return []string{ // the server agrees to tell, and does
			`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(id) + `},"notifications":{"resourceSubscriptions":["file:///etc/motd"]}}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(id) + `},"uri":"file:///etc/motd"}}`,
		}
	})
	updated := make(chan string, 1)
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) { updated <- uri }),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Stop(ctx)

	if err := client.SubscribeResource(ctx, "file:///etc/motd"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("read again:", <-updated)
	// Output: read again: file:///etc/motd
}

func ExampleLogMessagesTo() {
	ctx := context.Background()
	said := make(chan struct{}, 1)
	server := played(func(_ string, id json.RawMessage, params string) []string {
		return []string{
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"db","data":{"slow":true}}}`,
			`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"resultType":"complete","content":[]}}`,
		}
	})
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.LogMessagesTo(logger),
		mcpclient.HandleLogMessages(func(context.Context, *mcp.LoggingMessageParams) { said <- struct{}{} }),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Stop(ctx)

	if err := client.SetLogLevel(ctx, mcp.LevelInfo); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := client.CallTool(ctx, "query", nil); err != nil {
		fmt.Println(err)
		return
	}
	<-said
	// Output: level=WARN msg="server log message" logger=db data="{\"slow\":true}"
}

func ExampleHandleRoots() {
	ctx := context.Background()
	server := played(func(_ string, id json.RawMessage, params string) []string {
		var p struct {
			InputResponses map[string]mcp.ListRootsResult `json:"inputResponses"`
		}
		_ = json.Unmarshal([]byte(params), &p)
		answer, asked := p.InputResponses["where"]
		if !asked {
			return []string{`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"resultType":"input_required","inputRequests":{"where":{"method":"roots/list"}}}}`}
		}
		return []string{`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"resultType":"complete","content":[{"type":"text","text":"working in ` + answer.Roots[0].URI + `"}]}}`}
	})
	client, err := mcpclient.Connect(ctx, server, &mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleRoots(&mcp.Root{URI: "file:///home/me/project", Name: "project"}),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Stop(ctx)

	for range 2 {
		r, err := client.CallTool(ctx, "build", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Text())
		if err := client.SetRoots(ctx, &mcp.Root{URI: "file:///home/me/other"}); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// working in file:///home/me/project
	// working in file:///home/me/other
}
