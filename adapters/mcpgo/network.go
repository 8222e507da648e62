package mcpgo

import (
	"net/url"
	"strconv"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/mcpotel/mcpotel/internal/instrument"
)

var (
	pipe     = instrument.Network{Transport: "pipe"}
	overHTTP = instrument.Network{Transport: "tcp", Protocol: "http"}
)

// networkOf returns the network under a transport, as far as it is visible.
func networkOf(t transport.Interface) instrument.Network {
	switch t := t.(type) {
	case *transport.Stdio, *transport.CommandTransport:
		return pipe
	case *transport.SSE:
		return dialled(t.GetBaseURL().String())
	case transport.HTTPConnection:
		return overHTTP
	}
	return instrument.Network{}
}

// dialled returns the network to an HTTP server.
func dialled(endpoint string) instrument.Network {
	n := overHTTP
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
