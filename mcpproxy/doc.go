// Package mcpproxy stands between a host and a server of which neither can be changed, and has each call seen: a trace
// whose spans hang together, metrics, log records, the debug page. It is the client and the server of this module, back
// to back.
//
//	p, err := mcpproxy.New(&transport.Stdio{Command: "npx", Args: []string{"-y", "some-server"}}, nil)
//	if err != nil {
//		return err
//	}
//	return p.ServeStdio(ctx)
//
// Messages pass as they are: methods, members, capabilities and extensions that this module does not know, results and
// errors with it, in the order in which they came. The proxy has its own ids, its own connections, and the trace
// context in _meta: the span of the server's end is a child of what the host says in the _meta of its request, or a
// root, and the span of the client's end is its child and what the server gets.
//
// Host and server agree on a revision of the protocol by themselves, since the first request of the host, initialize or
// server/discover, passes as well. If the server dies or the network breaks, it is started or connected to anew and
// introduced as before, and the session of the host goes on; see [Options].
//
// A [Gateway] makes one server of several, whatever revisions they and the host speak: it is clients below a server.
// With [GatewayOptions.NoPrefix] it does so for one server, with which its host has no revision in common.
//
// A [Policy] says which tools the host may call, how long and how often, and what it does not get to see. Then all else
// passes as it is.
package mcpproxy
