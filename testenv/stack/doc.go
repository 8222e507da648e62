// Package stack runs a real telemetry stack on loopback: services export to an agent Collector, which forwards to a
// gateway Collector, which writes to Jaeger and is scraped by Prometheus. The Collectors use the project's
// collector/agent.yaml and collector/gateway.yaml.
//
// Start the stack with [Up], export to [Stack.OTLP], query [Stack.Traces] and [Stack.Metrics], and end it with
// [Stack.Stop].
//
//	s, err := stack.Up(ctx, stack.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Stop(context.WithoutCancel(ctx))
//
// testenv/stack/install builds the programs; the variable MCPOTEL_STACK names their directory. OTELCOL_BIN,
// PROMETHEUS_BIN and JAEGER_BIN override single programs. JAEGER_UI_ASSETS names a build of Jaeger's UI, which the Go
// module lacks.
//
// Possible surprises:
//
//   - Ports are below the kernel's range for outgoing connections, so a killed process gets its own port again.
//   - On Linux, the processes end when the process that started them ends in any way.
//   - Jaeger keeps traces in memory and loses them when it is killed, unless [Options.Durable] is set. The queues of
//     the Collectors are on disk and survive.
//   - The gateway keeps all traces unless [Options.Sampling] is set, but always drops traces that contain only a ping.
//   - The Collectors also use variables with the prefix MCPOTEL_ from the environment; see collector/README.md.
package stack
