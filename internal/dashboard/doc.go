// Package dashboard is the dashboards, recording rules and alerts of this module as data: what folder dashboards holds
// is written from it, and the tests that hold those files against a real Prometheus read it.
//
// Start at [All], [Recordings] and [Alerts]; [Dashboard.JSON] and [RulesFile] write the files. Each dashboard is one
// literal table in a file of its own, made of queries that promql.go puts together, so that there is one definition of
// what a request is, and of what a failure is, in panels, rules and alerts.
//
// What may surprise:
//
//   - A call that its caller cancelled is no failure, and neither is an error that a tool reports in its result, which
//     has panels and an alert of its own. Notifications and the probe for the era of a server are no requests.
//   - What is rare is counted with growth, not with increase: a counter of OpenTelemetry is born with its first event,
//     and increase does not see that one.
//   - The row a panel stands in decides its place; no position is written by hand.
package dashboard
