// Package instrument emits the telemetry of clients and servers: a [Client] for each client, a [Server] for each kind
// of network of a server, and an [Op] for each request, from sending or arrival to its end. The package converts the
// calls of their methods to the spans, metrics and log records of package schema, according to the options of the
// user's telemetry.Telemetry. The client and server of this module and the adapters for other SDKs use this package;
// users of the client, the server and the adapters need only package telemetry.
//
// Start at [NewClient] or [NewServer]. [Client.StartRequest] and [Client.StartHandler] start an operation, [Op.Admit],
// [Op.Sent] and [Op.Received] report its progress, and [Op.End] ends it with a [Result]. Signatures contain few types
// of OpenTelemetry.
//
// This package is for authors of clients and servers and is not stable yet: before v1, any minor version may change its
// functions. The stability of its output is declared in package schema, row by row.
//
// Surprises:
//
//   - A Telemetry that is off yields a nil Client or Server. Their methods, and the methods of the zero Op, do nothing
//     and cost nothing.
//   - An Op is a value. Its owner keeps it and does not share it.
//   - Methods, targets and versions become labels of metrics up to the limits of the schema, and _OTHER beyond. No
//     frame stays in memory: data that outlives its frame is copied.
//   - If a caller waits for an operation, the log records of the operation are written in the caller's goroutine, which
//     waits for the log handler. A separate goroutine writes all other records, from a bounded queue.
//   - telemetry.New does not create the metric instruments. The first client or server of a Telemetry creates them.
package instrument

//go:generate go test . -run ^TestSamplesMatchScenarioRecords$ -update
