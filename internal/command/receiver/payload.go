package receiver

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/internal/weigh"
)

// Payload is the body of Alertmanager's webhook
// (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config). Parse ignores unknown fields.
type Payload struct {
	Version   string  `json:"version"` // Version
	GroupKey  string  `json:"groupKey"`
	Truncated uint64  `json:"truncatedAlerts"` // number of alerts that Alertmanager omitted, because of max_alerts
	Status    string  `json:"status"`          // firing if one of the alerts is
	Receiver  string  `json:"receiver"`
	Alerts    []Alert `json:"alerts"`
}

// Version is the version of the payload that Alertmanager has sent since release 0.6.
const Version = "4"

// Alert is an alert of a payload. Everything in it is untrusted.
type Alert struct {
	Status      string            `json:"status"` // Firing or Resolved
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
	Fingerprint string            `json:"fingerprint"` // identifies the labels
}

// States of an alert.
const (
	Firing   = "firing"
	Resolved = "resolved"
)

// Bounds of a payload.
const (
	maxBody   = 4 << 20 // bytes
	maxValues = 32 << 20
	maxAlerts = 1000
)

// ErrTooLarge is the error for a payload above a bound.
var ErrTooLarge = errors.New("the payload is too large")

// errUnread is the error for a body that does not arrive.
var errUnread = errors.New("the body did not arrive")

// Parse reads a payload. It returns an error for a payload that is too large, invalid, or of another version.
func Parse(body io.Reader) (*Payload, error) {
	var text bytes.Buffer
	if _, err := text.ReadFrom(io.LimitReader(body, maxBody+1)); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnread, err)
	}
	var p Payload
	switch err := (&weigh.Budget{Text: maxBody, Values: maxValues}).Read(&text, &p); {
	case errors.Is(err, weigh.ErrTooMuch):
		return nil, fmt.Errorf("%w: %w; set max_alerts in Alertmanager's webhook_configs", ErrTooLarge, err)
	case err != nil:
		return nil, fmt.Errorf("the body is not the JSON of Alertmanager's webhook: %w", err)
	case p.Version != Version:
		return nil, fmt.Errorf("the payload has the version %s; want version %q, without payload in webhook_configs",
			visible.Word(p.Version, maxName), Version)
	case len(p.Alerts) > maxAlerts:
		return nil, fmt.Errorf("%w: it has %d alerts; set max_alerts in Alertmanager's webhook_configs to at most %d",
			ErrTooLarge, len(p.Alerts), maxAlerts)
	}
	for i := range p.Alerts {
		a := &p.Alerts[i]
		if a.Status != Firing && a.Status != Resolved {
			return nil, fmt.Errorf("alert %d has the status %s; want firing or resolved", i+1,
				visible.Word(a.Status, maxName))
		}
		if _, err := strconv.ParseUint(a.Fingerprint, 16, 64); err != nil {
			a.Fingerprint = fingerprint(a.Labels)
		}
	}
	return &p, nil
}

// Name returns the name of the alert.
func (a *Alert) Name() string { return a.Labels["alertname"] }

// fingerprint returns the identifier of labels that Prometheus and Alertmanager compute: a hash, FNV-1a.
func fingerprint(labels map[string]string) string {
	h := fnv.New64a()
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		_, _ = h.Write([]byte(name + "\xff" + labels[name] + "\xff")) // a hash accepts everything
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// Notification returns the payload that Alertmanager sends for one alert in a group of its own. Game days use it where
// there is no Alertmanager. Alertmanager sends the alert when group_wait has passed; Prometheus sends the time at which
// the alert began to fire as startsAt.
func Notification(status string, labels, annotations map[string]string, starts time.Time) *Payload {
	a := Alert{Status: status, Labels: labels, Annotations: annotations, StartsAt: starts, Fingerprint: fingerprint(labels)}
	return &Payload{Version: Version, GroupKey: fmt.Sprintf("{}:{alertname=%q}", a.Name()), Status: status,
		Receiver: "mcpotel", Alerts: []Alert{a}}
}
