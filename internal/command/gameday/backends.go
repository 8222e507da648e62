package gameday

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/internal/command/traceview"
)

// Prometheus implements [Alerts] with a Prometheus.
type Prometheus struct{ *prom.Client }

// Rules implements [Alerts].
func (p Prometheus) Rules(ctx context.Context) ([]string, error) { return p.AlertNames(ctx) }

// Active implements [Alerts].
func (p Prometheus) Active(ctx context.Context) (all []Alert, err error) {
	found, err := p.Client.Alerts(ctx)
	for _, a := range found {
		state := Pending
		if a.State == "firing" {
			state = Firing
		}
		all = append(all, Alert{a.Labels["alertname"], state, a.Labels, a.Annotations})
	}
	return all, err
}

// Exemplars implements [Alerts].
func (p Prometheus) Exemplars(ctx context.Context, labels map[string]string, since time.Time) ([]string, error) {
	found, err := p.MCPExemplars(ctx, "", labels, since, time.Now())
	var ids []string
	for _, e := range found {
		if id := e.Labels["trace_id"]; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Jaeger implements [Traces] with a Jaeger.
type Jaeger struct{ *traceview.Jaeger }

// Has implements [Traces].
func (j Jaeger) Has(ctx context.Context, id, service string, attributes map[string]string) (bool, error) {
	spans, err := j.Trace(ctx, id)
	if errors.Is(err, traceview.ErrNoTrace) {
		return false, nil
	}
	for _, s := range spans {
		has := s.Service() == service
		for key, want := range attributes {
			has = has && s.Attributes[key] == any(want)
		}
		if has {
			return true, nil
		}
	}
	return false, err
}
