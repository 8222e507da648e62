// Package stack runs the real thing on loopback: services export to an agent Collector, which hands on to a gateway
// Collector, which writes to Jaeger and is scraped by Prometheus, as in the project's collector/agent.yaml and
// collector/gateway.yaml.
//
// Start with [Up], export to [Stack.OTLP], look with [Stack.Traces] and [Stack.Metrics], and [Stack.Stop] it.
//
//	s, err := stack.Up(ctx, stack.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Stop(context.WithoutCancel(ctx))
//
// The programs are those that testenv/stack/install builds, in the directory that MCPOTEL_STACK names; OTELCOL_BIN,
// PROMETHEUS_BIN and JAEGER_BIN each name another. JAEGER_UI_ASSETS names a build of Jaeger's UI, which the Go module
// lacks.
//
// What may surprise:
//
//   - Ports are below those the kernel gives to connections, so a process that was killed gets its own again.
//   - On Linux the processes end with the one that started them, however that ends.
//   - Jaeger keeps traces in memory, and they are gone when it is killed, unless [Options.Durable] says otherwise. The
//     Collectors' queues are on disk and are not.
//   - The gateway keeps all traces unless [Options.Sampling] says otherwise, but none that are nothing but a ping.
//   - The Collectors take what MCPOTEL_ variables are set in the environment, see collector/README.md.
package stack
