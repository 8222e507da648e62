// Package traffic makes every kind of traffic that the dashboards show, between several clients and servers: ours over
// standard streams, HTTP and HTTP+SSE, a node server and mcp-grafana with telemetry of their own, servers that
// misbehave.
//
// [Scenarios] is the list: what each is, and which metrics it must move. [Start] starts the servers, [Fleet.Run] plays
// all scenarios, round after round.
//
//	f, err := traffic.Start(ctx, traffic.Options{OTLP: s.OTLP(), OTLPHTTP: s.OTLPHTTP()})
//	if err != nil {
//		return err
//	}
//	defer f.Stop(context.WithoutCancel(ctx))
//	err = f.Run(ctx, 3)
//
// It needs node, testenv/stack/install and testenv/servers/install. Go builds the command mcpotel once, which is one of
// the servers.
package traffic
