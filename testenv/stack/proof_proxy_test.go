package stack_test

import (
	"context"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/testenv/stack/traffic"
)

// proxyRounds is the number of times that the calls through a proxy are made: a thousand calls in all.
const proxyRounds = 3

// proxied returns the pairs with a proxy in between: hosts in this process and over HTTP, server processes and servers
// over HTTP.
func proxied() []*pair {
	all := slices.Concat(
		eras(pair{name: "proxy, stdio", connect: oursThroughPipes}),
		eras(pair{name: "proxy, HTTP", connect: oursThroughHTTP, closesToCancel: true}),
		eras(pair{name: "proxy, Go SDK, HTTP to stdio", connect: theirsThroughHTTP, hidden: true,
			callings: theirCallings}),
		eras(pair{name: "proxy, node, stdio", connect: nodeThroughPipes, callings: nodeCallings}),
	)
	for _, p := range all {
		p.proxy, p.rounds = "proxy, "+p.name, proxyRounds
	}
	return all
}

// TestEveryCallThroughAProxyIsOneTraceInJaeger is like [TestEveryCallIsOneTraceInJaeger], with a proxy in between. The
// proxy has two spans in each trace, between the span of the requester and the span of the responder.
func TestEveryCallThroughAProxyIsOneTraceInJaeger(t *testing.T) {
	for _, p := range proxied() {
		t.Run(p.name, func(t *testing.T) { prove(t, p) })
	}
}

// proxyOf returns a proxy in front of a server.
func proxyOf(t *testing.T, pr *pair, server transport.Transport) *mcpproxy.Proxy {
	t.Helper()
	p, err := mcpproxy.New(server, &mcpproxy.Options{Telemetry: service(t, up, pr.proxy).Telemetry()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func throughPipes(p *mcpproxy.Proxy) transport.Transport {
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = p.Serve(ctx, peer) })
}

func throughHTTP(t *testing.T, p *mcpproxy.Proxy) (url string) {
	h := p.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
	t.Cleanup(func() { h.Shutdown(context.Background()) })
	return shopURL(t, h)
}

func oursThroughPipes(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	return connectOurs(ctx, throughPipes(proxyOf(t, pr, shopProcess(t, pr.serverName()))), pr.version(), p)
}

func oursThroughHTTP(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	server := &transport.HTTP{URL: shopURL(t, shopHandler(t, pr.serverName()))}
	return connectOurs(ctx, &transport.HTTP{URL: throughHTTP(t, proxyOf(t, pr, server))}, pr.version(), p)
}

func theirsThroughHTTP(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	url := throughHTTP(t, proxyOf(t, pr, shopProcess(t, pr.serverName())))
	return connectTheirs(ctx, &mcp.StreamableClientTransport{Endpoint: url}, pr, p)
}

func nodeThroughPipes(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
	s, err := traffic.Node(up.OTLPHTTP(), pr.serverName())
	if err != nil {
		return nil, err
	}
	return connectOurs(ctx, throughPipes(proxyOf(t, pr, s)), pr.version(), p)
}

// through returns the expected trace n with the spans of p's proxy, if it has one.
func through(p *pair, n node) node {
	var asked, others []node
	for _, b := range n.below {
		if b = through(p, b); n.kind == "CLIENT" && b.kind == "SERVER" {
			asked = append(asked, b)
		} else {
			others = append(others, b)
		}
	}
	n.below = others
	for _, b := range asked {
		out := node{kind: "CLIENT", name: n.name, service: p.proxy, errorType: n.errorType, below: []node{b}}
		in := node{kind: "SERVER", name: n.name, service: p.proxy, errorType: b.errorType}
		switch {
		case n.errorType == "timeout" || n.errorType == "cancelled": // the host has abandoned the call
			in.errorType, out.errorType = "cancelled", "cancelled"
			if !p.closesToCancel {
				out.below = append(out.below, node{kind: "CLIENT", name: "notifications/cancelled", service: p.proxy})
			}
		case b.loose: // the program does not report errors
			in.errorType = n.errorType
		}
		in.below = []node{out}
		n.below = append(n.below, in)
	}
	return n
}
