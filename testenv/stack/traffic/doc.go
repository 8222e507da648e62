// Package traffic generates every kind of traffic that the dashboards show, between several clients and servers: this
// project's own over standard streams, HTTP and HTTP+SSE, a node server and mcp-grafana with their own telemetry, and
// misbehaving servers.
//
// [Scenarios] lists the scenarios, with a description and the metrics that each must move. [Start] starts the servers,
// and [Fleet.Run] plays all scenarios, round after round.
//
//	f, err := traffic.Start(ctx, traffic.Options{OTLP: s.OTLP(), OTLPHTTP: s.OTLPHTTP()})
//	if err != nil {
//		return err
//	}
//	defer f.Stop(context.WithoutCancel(ctx))
//	err = f.Run(ctx, 3)
//
// The package requires node, testenv/stack/install and testenv/servers/install. It builds the command mcpotel, which is
// one of the servers, once.
package traffic
