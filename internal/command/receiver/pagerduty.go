package receiver

import (
	"context"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// PagerDuty sends events to PagerDuty's Events API v2 (https://developer.pagerduty.com/docs/send-alert-event).
type PagerDuty struct {
	hook *webhook
	key  string
}

// PagerDutyURL is the address of the API. PagerDuty's service region in the EU has an address of its own.
const PagerDutyURL = "https://events.pagerduty.com/v2/enqueue"

// NewPagerDuty returns a sink for the service with a routing key, which is a secret.
func NewPagerDuty(address, key string) (*PagerDuty, error) {
	hook, err := newWebhook(address, key)
	return &PagerDuty{hook, key}, err
}

// Name implements [Sink].
func (p *PagerDuty) Name() string { return "pagerduty" }

// Deliver implements [Sink].
func (p *PagerDuty) Deliver(ctx context.Context, m *Message) error {
	return p.hook.post(ctx, pagerDutyEvent(m, p.key))
}

// pagerEvent is the body of a request. A resolve event has only the first three fields.
type pagerEvent struct {
	RoutingKey string        `json:"routing_key"`
	Action     string        `json:"event_action"` // trigger or resolve
	DedupKey   string        `json:"dedup_key"`    // the same for the trigger and the resolve event of an alert
	Client     string        `json:"client,omitempty"`
	Payload    *pagerPayload `json:"payload,omitempty"`
	Links      []pagerLink   `json:"links,omitempty"`
}

type pagerPayload struct {
	Summary   string       `json:"summary"`
	Source    string       `json:"source"`
	Severity  string       `json:"severity"`
	Timestamp string       `json:"timestamp,omitempty"`
	Component string       `json:"component,omitempty"`
	Group     string       `json:"group,omitempty"`
	Class     string       `json:"class,omitempty"`
	Details   pagerDetails `json:"custom_details"`
}

type pagerDetails struct {
	Cause     string            `json:"cause"`
	Evidence  []string          `json:"evidence,omitempty"`
	Next      string            `json:"next,omitempty"`
	Others    []string          `json:"other_causes,omitempty"`
	Operation string            `json:"operation,omitempty"`
	Quotes    []string          `json:"texts_of_peers,omitempty"`
	Missing   []string          `json:"missing,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}

type pagerLink struct {
	Href string `json:"href"`
	Text string `json:"text"`
}

// maxPagerSummary is PagerDuty's limit of a summary, in characters. Our limit is in bytes, which are no fewer.
const maxPagerSummary = 1024 - len("…")

// pagerDutyEvent returns the message as an event.
func pagerDutyEvent(m *Message, key string) *pagerEvent {
	e := &pagerEvent{RoutingKey: key, Action: "resolve", DedupKey: m.Fingerprint}
	if m.Status == Resolved {
		return e
	}
	e.Action, e.Client = "trigger", "mcpotel"
	summary := visible.Word(m.Alert, maxName)
	if m.Summary != "" {
		summary += ": " + m.Summary
	}
	label := func(names ...string) string {
		for _, name := range names {
			if value := m.Labels[name]; value != "" {
				return value
			}
		}
		return ""
	}
	e.Payload = &pagerPayload{
		Summary: visible.Short(summary, maxPagerSummary), Source: label("instance", "job"),
		Severity:  pagerSeverity(m.Severity),
		Component: label("mcp_client_name", "mcp_server_name"), Group: label("job"), Class: m.Alert,
		Details: pagerDetailsOf(m),
	}
	if e.Payload.Source == "" {
		e.Payload.Source = "mcpotel" // PagerDuty requires a source
	}
	if !m.StartsAt.IsZero() {
		e.Payload.Timestamp = m.StartsAt.UTC().Format(time.RFC3339Nano)
	}
	for _, l := range m.links() {
		e.Links = append(e.Links, pagerLink{l.URL, l.Text})
	}
	return e
}

func pagerDetailsOf(m *Message) pagerDetails {
	d := pagerDetails{Cause: "No evidence of the cause was found. The runbook describes where to look.",
		Operation: m.Operation, Missing: m.Missing, Labels: m.Labels}
	for i, c := range m.Causes {
		text := c.Text + " (" + c.ID + ", " + string(c.Sure) + ")"
		if i == 0 {
			d.Cause, d.Evidence, d.Next = text, c.Evidence, c.Do
		} else {
			d.Others = append(d.Others, text)
		}
	}
	for _, q := range m.Quotes {
		d.Quotes = append(d.Quotes, q.By+": "+q.Text)
	}
	return d
}

// pagerSeverity returns one of PagerDuty's four severities. Unknown severities are errors.
func pagerSeverity(severity string) string {
	switch s := strings.ToLower(severity); s {
	case "critical", "error", "warning", "info":
		return s
	case "page", "emergency", "fatal":
		return "critical"
	case "none", "notice", "debug":
		return "info"
	}
	return "error"
}
