package gosdk

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/internal/instrument"
)

// Networks without an address.
var (
	pipe   = instrument.Network{Transport: "pipe"}
	served = instrument.Network{Transport: "tcp", Protocol: "http"}
)

// networkOf returns the network under a transport. It is unknown for the SDK's in-memory transport and for other
// implementations of transports.
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

// dialled returns the network to an HTTP server.
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

// overHTTP reports whether a request came over HTTP. The context of a connection has the values of its first HTTP
// request.
func overHTTP(ctx context.Context, extra *mcp.RequestExtra) bool {
	return extra != nil && extra.Header != nil || ctx.Value(http.ServerContextKey) != nil
}
