// Package instrument is what those who write a client or a server tell its telemetry: one [Client] for each client, one
// [Server] for each kind of network of a server, and an [Op] for each request, from its sending or arrival to its end.
// From that come the spans, metrics and log records of package schema, as the user's telemetry.Telemetry says. The
// client and the server of this module, and the adapters for other SDKs, are built on it; their users need package
// telemetry only.
//
// Start at [NewClient] or [NewServer]. Say what happens: [Client.StartRequest] and [Client.StartHandler] begin an
// operation, [Op.Admit], [Op.Sent] and [Op.Received] accompany it, [Op.End] ends it with a [Result]. No OpenTelemetry
// type is in the signatures.
//
// This package is for authors of clients and servers, and is not stable yet: before v1, its functions may change in any
// minor version. What it emits is stable as package schema says, row by row.
//
// What may surprise:
//
//   - A telemetry that is off gives a nil Client or Server, which takes everything and costs nothing. So does the zero
//     Op.
//   - An Op is a value that its owner keeps and does not share.
//   - A method, a target and a version become labels of metrics up to the limits of the schema, then _OTHER. Nothing
//     that a frame holds is kept: what has to outlive it is cloned.
//   - Only what a caller waits for waits for the log handler. All else is written by a goroutine of its own, with a
//     bound.
//   - Instruments of metrics are made with the first client or server of a Telemetry, not by telemetry.New.
package instrument

//go:generate go test . -run ^TestSamplesAreRecordsOfTheScenario$ -update
