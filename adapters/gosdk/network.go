package gosdk

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/internal/instrument"
)

// Networks that have no address worth telling.
var (
	pipe   = instrument.Network{Transport: "pipe"}
	served = instrument.Network{Transport: "tcp", Protocol: "http"}
)

// networkOf returns what a transport says about the network under it. That of the SDK's in-memory transport, and of
// transports that are not the SDK's, is not known.
func networkOf(t mcp.Transport) instrument.Network {
	switch t := t.(type) {
	case *mcp.CommandTransport, *mcp.StdioTransport:
		return pipe
	case *mcp.StreamableClientTransport:
		return dialled(t.Endpoint)
	case *mcp.SSEClientTransport:
		return dialled(t.Endpoint)
	case *mcp.StreamableServerTransport, *mcp.SSEServerTransport:
		return served
	case *mcp.LoggingTransport:
		return networkOf(t.Transport)
	}
	return instrument.Network{}
}

// dialled is the network to an HTTP server.
func dialled(endpoint string) instrument.Network {
	n := served
	u, err := url.Parse(endpoint)
	if err != nil {
		return n
	}
	n.Address = u.Hostname()
	switch port, err := strconv.Atoi(u.Port()); {
	case err == nil:
		n.Port = port
	case u.Scheme == "https":
		n.Port = 443
	default:
		n.Port = 80
	}
	return n
}

// overHTTP reports whether a request came by HTTP. The context of a connection has the values of the first HTTP
// request.
func overHTTP(ctx context.Context, extra *mcp.RequestExtra) bool {
	return extra != nil && extra.Header != nil || ctx.Value(http.ServerContextKey) != nil
}
