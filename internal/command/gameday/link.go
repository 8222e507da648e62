package gameday

import (
	"context"
	"maps"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// The ways to find a trace.
const (
	ByExemplar = "exemplar" // through an exemplar of the metrics behind the alert
	BySearch   = "search"   // by a search for the labels of the alert, as in the runbook
)

// candidates bounds the number of exemplars whose traces find reads.
const candidates = 10

// find looks for a trace that shows the cause, like an engineer on call: by the exemplars of the metrics behind the
// alert, or else by a search.
func (d *drilling) find(ctx context.Context) {
	if d.o.Traces == nil || d.trace != "" {
		return
	}
	attributes := d.causes()
	since := d.broke.Add(-d.warm - time.Minute)
	ids, err := d.o.Alerts.Exemplars(ctx, d.subject(), since)
	for _, id := range ids[:min(len(ids), candidates)] {
		if ok, err := d.o.Traces.Has(ctx, id, d.job(), attributes); ok && err == nil {
			d.found(id, ByExemplar)
			return
		}
	}
	if d.looked = err; err != nil {
		return
	}
	ids, d.looked = d.o.Traces.Tagged(ctx, d.job(), attributes, since)
	if len(ids) > 0 {
		d.found(ids[0], BySearch)
	}
}

func (d *drilling) found(id, link string) {
	d.trace, d.link = id, link
	d.o.say(d.Alert, "leads to the trace "+id+", by "+link)
}

// causes returns the attributes of a span that shows the cause.
func (d *drilling) causes() map[string]string {
	attributes := map[string]string{}
	maps.Copy(attributes, d.Trace)
	switch {
	case d.unnamed:
	case d.server:
		attributes[names.KeyMCPServerName] = d.stage.name
	default:
		attributes[names.KeyMCPClientName] = d.stage.name
	}
	return attributes
}

// subject returns the labels of the alert that identify the service, the client and the server.
func (d *drilling) subject() map[string]string {
	labels := map[string]string{"job": d.job()}
	for _, key := range []string{"job", "mcp_client_name", "mcp_server_name"} {
		if value := d.labels[key]; value != "" {
			labels[key] = value
		}
	}
	return labels
}
