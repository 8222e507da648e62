package schemacheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// check checks a metric against its row.
func (m *Metric) check(toolNames int) (problems []string) {
	i := slices.IndexFunc(schema.Current.Metrics, func(row schema.Metric) bool { return row.Name == m.Name })
	if i < 0 {
		return []string{fmt.Sprintf("metric %q is not in the schema", m.Name)}
	}
	row := &schema.Current.Metrics[i]
	if m.Unit != row.Unit || m.Description != row.Brief {
		problems = append(problems, fmt.Sprintf("unit %q and description %q, want %q and %q", m.Unit, m.Description, row.Unit,
			row.Brief))
	}
	if want := instrumentOf(row); m.Instrument != want {
		problems = append(problems, fmt.Sprintf("its data are a %s, want %s", m.Instrument, want))
	}
	number := schema.Int
	if row.Unit == "s" {
		number = schema.Double
	}
	for _, p := range m.Points {
		problems = append(problems, p.Attrs.check(false, row.Attrs...)...)
		for key := range p.Attrs {
			if a := rowOf(key); a != nil && a.Bound == schema.Unbounded {
				problems = append(problems, key+" is unbounded")
			}
		}
		if p.Number != "" && p.Number != number {
			problems = append(problems, fmt.Sprintf("its values are %s, want %s", p.Number, number))
		}
		if !slices.Equal(p.Bounds, row.Buckets) {
			problems = append(problems, fmt.Sprintf("buckets %v, want %v", p.Bounds, row.Buckets))
		}
	}
	problems = append(problems, m.count(row, toolNames)...)
	for i := range problems {
		problems[i] = fmt.Sprintf("metric %q: %s", m.Name, problems[i])
	}
	return problems
}

func instrumentOf(row *schema.Metric) Instrument {
	switch row.Instrument {
	case schema.Counter, schema.ObservableCounter:
		return RisingSum
	case schema.UpDownCounter, schema.ObservableUpDownCounter:
		return Sum
	case schema.ObservableGauge:
		return Gauge
	}
	return Histogram
}

// count checks the number of series and values for each client or server, identified by the attributes that the user
// configured.
func (m *Metric) count(row *schema.Metric, toolNames int) (problems []string) {
	type ofOne struct{ whose, key string }
	series, values := map[string]int{}, map[ofOne]map[string]bool{}
	for _, p := range m.Points {
		whose := configured(p.Attrs)
		series[whose]++
		for key, v := range p.Attrs {
			k := ofOne{whose, key}
			if values[k] == nil {
				values[k] = map[string]bool{}
			}
			values[k][v.Text] = true
		}
	}
	raised := toolNames > telemetry.DefaultToolNameLimit
	for whose, n := range series {
		if n > row.MaxSeries && !raised {
			problems = append(problems, fmt.Sprintf("%d series of %s, want at most %d", n, whose, row.MaxSeries))
		}
	}
	for k, seen := range values {
		limit := 0
		if a := rowOf(k.key); a != nil && a.Bound == schema.Limited {
			limit = a.Limit
		}
		if raised && (k.key == "gen_ai.tool.name" || k.key == "gen_ai.prompt.name") {
			limit = toolNames + 1
		}
		if limit > 0 && len(seen) > limit {
			problems = append(problems, fmt.Sprintf("%d values of %s of %s, want at most %d", len(seen), k.key, k.whose, limit))
		}
	}
	return problems
}

// configured returns the attributes that the user chose, as text.
func configured(attrs Attrs) string {
	var parts []string
	for key, v := range attrs {
		if a := rowOf(key); a != nil && a.Bound == schema.Configured {
			parts = append(parts, key+"="+v.Text)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}
