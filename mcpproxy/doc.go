// Package mcpproxy makes each call between a host and a server visible, without changing either: as a connected trace,
// in metrics and log records, and on the debug page. It consists of this module's client and server, back to back.
//
//	p, err := mcpproxy.New(&transport.Stdio{Command: "npx", Args: []string{"-y", "some-server"}}, nil)
//	if err != nil {
//	return err
//	}
//	return p.ServeStdio(ctx)
//
// Messages pass unchanged and in order, including methods, members, capabilities and extensions that this module does
// not know. The proxy has its own ids, its own connections, and its own trace context in _meta: the span on the host's
// side is a child of the span in the host's _meta, or a root. The span on the server's side is a child of that span,
// and the proxy sends it to the server in _meta.
//
// Host and server negotiate the protocol revision themselves, because the host's first request, initialize or
// server/discover, passes too. If the server dies or the network breaks, the proxy restarts the server or reconnects,
// and repeats the introduction, so that the host's session continues; see [Options].
//
// A [Gateway] presents several servers as one, for any revisions of the servers and the host. It consists of one server
// and a client for each server behind it. With [GatewayOptions.NoPrefix] it serves a single server that shares no
// revision with its host.
//
// A [Policy] decides which tools the host may call, how long and how often, and which data the host does not see.
// Everything else passes unchanged.
package mcpproxy
