// Package receiver explains alerts: it receives them from Alertmanager, and sends each with its cause to people. It
// implements "mcpotel explain".
//
// Start with [New], which returns the HTTP handler for Alertmanager's webhook. The life of an alert:
//
//   - [Parse] reads the payload of the webhook, within bounds (payload.go).
//   - [Evidence.Explain] finds the cause of a firing alert. Each alert of the dashboards has a row in a table
//     (table.go) with the query, the spans and the sentences for its cause. The alert's labels and time select the
//     telemetry (look.go, recorded.go). The result is a [Message] (evidence.go, message.go).
//   - Each [Sink] formats the message and delivers it: as a record (record.go), to Slack (slack.go) or to PagerDuty
//     (pagerduty.go).
//
// Properties:
//
//   - The handler does all this before it answers. If a sink fails, it answers with 502, and Alertmanager repeats the
//     request. So an alert is lost only if Alertmanager gives up.
//   - Alertmanager repeats alerts that still fire. The handler delivers an alert once to each sink (delivery.go).
//   - An alert without evidence is delivered too, with the list of the missing sources.
//   - Labels and annotations are untrusted. A message shows each on one line, and a link leads only to addresses of the
//     configuration.
package receiver
