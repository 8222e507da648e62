// Package dashboard contains the dashboards, recording rules and alerts of this module as data. The directory
// dashboards is generated from this package; its tests run the files in a real Prometheus. Start at [All], [Recordings]
// and [Alerts]. [Dashboard.JSON], [RecordingsYAML] and [AlertsYAML] return the contents of the files. Each dashboard is
// one literal table in its own file. The functions of promql.go build the queries, so panels, rules and alerts share
// the definitions of a request and of a failure. Three properties matter:
//
//   - A cancelled call is not a failure, and neither is an error that a tool reports in its result; tool errors have
//     their own panels and alert. Notifications and the probe for the era of a server do not count as requests.
//   - Rare events are counted with growth, not with increase: an OpenTelemetry counter appears with its first event,
//     and increase misses this event.
//   - The position of a panel follows from its row and its order in the row.
package dashboard
