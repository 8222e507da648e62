package traceview

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/page"
	"github.com/mcpotel/mcpotel/internal/unit"
)

// seriesJSON is a series in JSON.
type seriesJSON struct {
	Service    string            `json:"service"`
	Metric     string            `json:"metric"`
	Unit       string            `json:"unit,omitzero"`
	Kind       string            `json:"kind"`
	Attributes map[string]string `json:"attributes"`
	Processes  int               `json:"processes"`
	Time       time.Time         `json:"time"`
	Value      *number           `json:"value,omitzero"` // for a gauge or sum
	Count      *number           `json:"count,omitzero"` // this and the following fields: for a histogram
	Sum        *number           `json:"sum,omitzero"`
	Min        *number           `json:"min,omitzero"`
	Max        *number           `json:"max,omitzero"`
	P50        *number           `json:"p50,omitzero"`
	P95        *number           `json:"p95,omitzero"`
	P99        *number           `json:"p99,omitzero"`
	Exemplars  []exemplarJSON    `json:"exemplars,omitempty"`
}

type exemplarJSON struct {
	Value   number    `json:"value"`
	Time    time.Time `json:"time"`
	TraceID string    `json:"trace_id"`
	SpanID  string    `json:"span_id"`
}

func (s *series) json() seriesJSON {
	t := s.total()
	j := seriesJSON{
		Service: s.service, Metric: s.metric, Unit: s.unit, Kind: string(s.kind), Attributes: make(map[string]string),
		Processes: len(s.processes), Time: t.at,
	}
	for _, a := range s.attributes {
		j.Attributes[a.Key] = a.Value
	}
	known := func(v float64) *number {
		if math.IsNaN(v) {
			return nil
		}
		return new(number(v))
	}
	if s.kind == otlpsink.Gauge || s.kind == otlpsink.Sum {
		j.Value = new(number(t.value))
	} else {
		j.Count, j.Sum, j.Min, j.Max = new(number(t.count)), new(number(t.sum)), known(t.least), known(t.greatest)
		j.P50, j.P95, j.P99 = known(t.quantile(.5)), known(t.quantile(.95)), known(t.quantile(.99))
	}
	for _, e := range t.exemplars {
		j.Exemplars = append(j.Exemplars, exemplarJSON{number(e.Value), e.Time, e.TraceID, e.SpanID})
	}
	return j
}

func (r reading) quantile(q float64) float64 { return quantile(q, r.buckets, r.least, r.greatest) }

// metricsPage is the data of the page with the metrics.
type metricsPage struct {
	Filter   filter
	Chosen   []string
	Sections []section
	LeftOut  int
	Beyond   int
	JSON     string
}

// A section holds the metrics of one service.
type section struct {
	Service    service
	Histograms []metricRow
	Numbers    []metricRow
}

type metricRow struct {
	Metric, Kind  string
	Head          *metricHead // nil for a row that continues a group
	Attributes    []attribute
	Error         string // error.type from the attributes
	Processes     int
	Value         string
	Count         string
	P50, P95, P99 string
	Exemplars     []exemplar
}

// A metricHead is the head of the rows of one metric.
type metricHead struct {
	Metric, Kind string
	Shared       []attribute // attributes that all rows share
}

type exemplar struct{ Href, Text string }

func (v *view) metricsPage(w http.ResponseWriter, r *http.Request) {
	f := filterOf(r)
	services := make(map[string]bool)
	all, beyond := look(v.metrics, v.Snapshot(), func(s *series) (seriesJSON, bool) {
		services[s.service] = true
		return s.json(), f.passesSeries(s)
	})
	if page.WantsJSON(r) {
		v.writeJSON(w, r, http.StatusOK, map[string]any{"series": nonNil(all), "dropped_series": beyond})
		return
	}
	p := metricsPage{Filter: f, Chosen: choices(services), Beyond: beyond, LeftOut: max(len(all)-maxSeries, 0),
		JSON: "/metrics.json" + f.query()}
	for _, j := range all[:len(all)-p.LeftOut] {
		name := v.services.of(j.Service)
		if n := len(p.Sections); n == 0 || p.Sections[n-1].Service != name {
			p.Sections = append(p.Sections, section{Service: name})
		}
		to := &p.Sections[len(p.Sections)-1]
		if row := rowOf(j); j.Value == nil {
			to.Histograms = append(to.Histograms, row)
		} else {
			to.Numbers = append(to.Numbers, row)
		}
	}
	for _, s := range p.Sections {
		group(s.Histograms)
		group(s.Numbers)
	}
	v.write(w, r, http.StatusOK, "metrics", v.frame("Metrics", p))
}

// group makes groups of the rows of one metric. The first row gets the head of its group, with the attributes that all
// rows of the group share.
func group(rows []metricRow) {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Metric == rows[0].Metric {
			n++
		}
		shared := rows[0].Attributes
		for _, r := range rows[1:n] {
			shared = slices.DeleteFunc(slices.Clone(shared), func(a attribute) bool { return !slices.Contains(r.Attributes, a) })
		}
		if n == 1 {
			shared = nil
		}
		for i := range rows[:n] {
			rows[i].Attributes = slices.DeleteFunc(rows[i].Attributes, func(a attribute) bool {
				return slices.Contains(shared, a)
			})
		}
		rows[0].Head = &metricHead{rows[0].Metric, rows[0].Kind, shared}
		rows = rows[n:]
	}
}

func (f filter) passesSeries(s *series) bool {
	if f.Service != "" && s.service != f.Service {
		return false
	}
	return f.Text == "" || contains(s.metric, f.Text) ||
		slices.ContainsFunc(s.attributes, func(a attribute) bool { return contains(a.Key+"="+a.Value, f.Text) })
}

func rowOf(j seriesJSON) metricRow {
	row := metricRow{Metric: cut(titleText, j.Metric), Kind: j.Kind, Processes: j.Processes}
	for _, k := range slices.Sorted(maps.Keys(j.Attributes)) {
		if k == "error.type" {
			row.Error = j.Attributes[k]
			continue
		}
		row.Attributes = append(row.Attributes, attribute{k, j.Attributes[k]})
	}
	text := func(n *number) string {
		if n == nil {
			return "–"
		}
		return quantity(float64(*n), j.Unit)
	}
	if j.Value != nil {
		row.Value = text(j.Value)
	} else {
		row.Count, row.P50, row.P95, row.P99 = unit.Number(float64(*j.Count)), text(j.P50), text(j.P95), text(j.P99)
	}
	for _, e := range j.Exemplars[:min(len(j.Exemplars), maxExemplars)] {
		row.Exemplars = append(row.Exemplars,
			exemplar{"/trace/" + e.TraceID + "#" + anchor(e.SpanID), quantity(float64(e.Value), j.Unit)})
	}
	return row
}

// quantity formats a value with its UCUM unit.
func quantity(v float64, in string) string {
	const max = float64(math.MaxInt64)
	switch {
	case in == "s" && math.Abs(v) < max/1e9:
		return unit.Duration(time.Duration(v * 1e9))
	case in == "ms" && math.Abs(v) < max/1e6:
		return unit.Duration(time.Duration(v * 1e6))
	case in == "By" && v >= 0 && v < max:
		return unit.Size(int64(v))
	case in == "", in == "1", in[0] == '{': // such as {request}: the name of the metric includes the unit
		return unit.Number(v)
	}
	return unit.Number(v) + " " + cut(12, in)
}
