// Package dashboard contains the dashboards, recording rules and alerts of this module as data. The directory
// dashboards is generated from it, and tests compare those files with a real Prometheus.
//
// Start at [All], [Recordings] and [Alerts]; [Dashboard.JSON] and [RulesFile] write the files. Each dashboard is one
// literal table in its own file. Its queries are built by promql.go, so that panels, rules and alerts share one
// definition of a request, and one of a failure.
//
// Surprises:
//
//   - A call that its caller cancelled is not a failure, nor is an error that a tool reports in its result; tool errors
//     have their own panels and alert. Notifications and the probe for the era of a server are no requests.
//   - Rare events are counted with growth, not with increase: a counter of OpenTelemetry appears with its first event,
//     which increase does not count.
//   - The row of a panel decides its position; no position is written by hand.
package dashboard
