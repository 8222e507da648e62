package stack_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	mcpgoclient "github.com/mark3labs/mcp-go/client"
	mcpgotransport "github.com/mark3labs/mcp-go/client/transport"
	mcpgotypes "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	"github.com/mcpotel/mcpotel/adapters/gosdk"
	"github.com/mcpotel/mcpotel/adapters/mcpgo"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/testenv/stack/shop"
	gosdktypes "github.com/modelcontextprotocol/go-sdk/mcp"
)

// theMcpgo is the client of mcp-go with the adapter.
type theMcpgo struct{ *mcpgoclient.Client }

func (m theMcpgo) call(ctx context.Context, c *calling) (string, error) {
	var q mcpgotypes.CallToolRequest
	q.Params.Name, q.Params.Arguments = c.tool, c.arguments
	r, err := m.CallTool(ctx, q)
	switch {
	case err != nil:
		return "", err
	case r.IsError:
		return "tool_error", nil
	}
	return "ok", nil
}

func (m theMcpgo) close(context.Context) error { return m.Close() }

// conversing holds the programs of a conversation: an agent with a client for each server.
type conversing struct {
	agent    *otlp.Providers
	servers  []*otlp.Providers // without the child process, which flushes by itself
	services []string          // service names of the servers
	clients  []*conversant
}

// conversant is a client with its calls in each conversation.
type conversant struct {
	client
	name     string
	callings []calling
}

const agentService = "agent of conversations"

// connectAll connects the agent to servers on three kinds of SDK, in both eras, over pipes and networks, and clients of
// the other SDKs to this module's server.
func connectAll(t *testing.T, ctx context.Context) *conversing {
	keys := telemetry.ConversationKeys()
	copies, leaves := otlp.WithBaggageAttributes(keys...), telemetry.WithBaggageKeys(keys...)
	all := &conversing{agent: service(t, up, agentService, copies)}
	serve := func(name string, handler func(*otlp.Providers) http.Handler) string {
		p := service(t, up, name, copies)
		all.servers, all.services = append(all.servers, p), append(all.services, name)
		return shopURL(t, handler(p))
	}
	ours := func(p *otlp.Providers) http.Handler {
		h := shop.New(p, leaves).HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
		t.Cleanup(func() { h.Shutdown(context.Background()) })
		return h
	}
	every := callings(&pair{})
	one := every[:1] // all servers answer this call
	add := func(name string, kinds []calling, c client, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all.clients = append(all.clients, &conversant{c, name, kinds})
	}
	connect := func(name string, kinds []calling, tr transport.Transport, version mcp.Version) {
		c, err := connectOurs(ctx, tr, version, all.agent, leaves)
		add(name, kinds, c, err)
	}

	const child = "conversations, child"
	all.services = append(all.services, child)
	connect("a child process", every, shopProcess(t, child), mcp.Version20260728)
	modern, legacy := serve("conversations, modern", ours), serve("conversations, legacy", ours)
	connect("HTTP, 2026-07-28", every, &transport.HTTP{URL: modern}, mcp.Version20260728)
	connect("HTTP, 2025-11-25", every, &transport.HTTP{URL: legacy}, mcp.Version20251125)
	connect("a server of the Go SDK", one, &transport.HTTP{URL: serve("conversations, Go SDK", servedByGoSDK)},
		mcp.Version20251125)
	connect("a server of mcp-go", one, &transport.HTTP{URL: serve("conversations, mcp-go", servedByMcpgo)},
		mcp.Version20251125)

	for _, p := range eras(pair{name: "the client of the Go SDK"}) {
		to := legacy
		if p.modern {
			to = modern
		}
		c, err := connectTheirs(ctx, &gosdktypes.StreamableClientTransport{Endpoint: to}, p, all.agent, leaves)
		add(p.name, slices.DeleteFunc(theirCallings(p), func(k calling) bool { return k.outcome != "ok" }), c, err)
	}
	c, err := connectMcpgo(ctx, legacy, all.agent.Telemetry(leaves))
	add("the client of mcp-go", one, c, err)
	return all
}

func servedByGoSDK(p *otlp.Providers) http.Handler {
	s := gosdktypes.NewServer(&gosdktypes.Implementation{Name: "shop", Version: "1"}, nil)
	gosdktypes.AddTool(s, &gosdktypes.Tool{Name: "add"}, func(context.Context, *gosdktypes.CallToolRequest,
		map[string]float64) (*gosdktypes.CallToolResult, any, error) {
		return &gosdktypes.CallToolResult{}, nil, nil
	})
	gosdk.InstrumentServer(s, p.Telemetry(), "shop", gosdk.TrustTraceContext())
	return gosdktypes.NewStreamableHTTPHandler(func(*http.Request) *gosdktypes.Server { return s }, nil)
}

func servedByMcpgo(p *otlp.Providers) http.Handler {
	s := mcpgoserver.NewMCPServer("shop", "1")
	s.AddTool(mcpgotypes.NewTool("add"), func(context.Context, mcpgotypes.CallToolRequest) (*mcpgotypes.CallToolResult,
		error) {
		return mcpgotypes.NewToolResultText("3"), nil
	})
	mcpgo.InstrumentServer(s, p.Telemetry(), "shop", mcpgo.TrustTraceContext())
	return mcpgoserver.NewStreamableHTTPServer(s)
}

func connectMcpgo(ctx context.Context, url string, tel *telemetry.Telemetry) (client, error) {
	tr, err := mcpgotransport.NewStreamableHTTP(url)
	if err != nil {
		return nil, err
	}
	c := mcpgoclient.NewClient(mcpgo.WrapTransport(tr, tel, "proof", mcpgo.WithEndpoint(url)))
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	var q mcpgotypes.InitializeRequest
	q.Params.ProtocolVersion = string(mcp.Version20251125)
	q.Params.ClientInfo = mcpgotypes.Implementation{Name: "proof", Version: "1"}
	if _, err := c.Initialize(ctx, q); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return theMcpgo{c}, nil
}

// TestOneSearchFindsAllCallsOfAConversation makes an agent call servers of all kinds, in two conversations at once and
// outside of any conversation. A search in Jaeger for one tag must find the calls of each conversation. Each of their
// spans must have the tag, at both ends.
func TestOneSearchFindsAllCallsOfAConversation(t *testing.T) {
	const tag = "gen_ai.conversation.id"
	ctx := limit(t, 2*time.Minute)
	all := connectAll(t, ctx)
	conversations := []telemetry.Conversation{{ID: "X 17/ü", Agent: "planner", User: "ada"}, {ID: "Y"}, {}}
	made := map[string][]string{} // ids of traces, by conversation
	for _, c := range all.clients {
		for _, conv := range conversations {
			ctx, err := telemetry.ContextWithConversation(ctx, conv)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range c.callings {
				made[conv.ID] = append(made[conv.ID], makeOne(t, ctx, c, all.agent, &k))
			}
		}
	}
	for _, c := range all.clients {
		if err := c.close(ctx); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, p := range append(all.servers, all.agent) {
		if err := p.ForceFlush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, ctx, service(t, up, "last"))

	for _, conv := range conversations[:2] {
		found, err := up.Traces.Tagged(ctx, agentService, tag, conv.ID)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(slices.Values(made[conv.ID]))
		if slices.Sort(found); !slices.Equal(found, want) {
			t.Errorf("%s: found the traces %q, want those of its calls %q", conv.ID, found, want)
		}
		spans, seen := 0, map[string]map[string]bool{} // kinds of spans, by service
		for _, id := range found {
			got, err := up.Traces.Trace(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range got.Spans {
				if s.Attributes[tag] != conv.ID || conv.User != "" && s.Attributes["user.hash"] == nil {
					t.Errorf("%s, %v: got the attributes %v, want the conversation", conv.ID, s, s.Attributes)
				}
				if seen[s.Service] == nil {
					seen[s.Service] = map[string]bool{}
				}
				seen[s.Service][s.Kind] = true
				spans++
			}
		}
		for _, name := range append(all.services, agentService) {
			if kind := map[bool]string{true: "CLIENT", false: "SERVER"}[name == agentService]; !seen[name][kind] {
				t.Errorf("%s: found no %s span of %s", conv.ID, kind, name)
			}
		}
		t.Logf("%s: one search finds %d calls with %d spans of %d services", conv.ID, len(found), spans, len(seen))
	}
}
