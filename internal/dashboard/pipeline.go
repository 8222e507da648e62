package dashboard

// A queue is a queue of an SDK or of a Collector, which drops telemetry when it is full.
type queue struct {
	signal  string // signal of the telemetry, in legends
	metric  string // counter of dropped items; for a Collector, a pattern of names
	labels  string // labels that distinguish the queues
	service bool   // the queue is in the SDK of a service, not in an exporter of a Collector
}

// fullQueues lists the queues that count dropped items. The Go SDK counts them if OTEL_GO_X_OBSERVABILITY=true.
var fullQueues = []queue{
	{"spans", "otel_sdk_processor_span_processed_total", service + ", instance", true},
	{"log records", "otel_sdk_processor_log_processed_total", service + ", instance", true},
	{"spans", "otelcol_exporter_enqueue_failed_spans", "job, instance, exporter", false},
	{"metric points", "otelcol_exporter_enqueue_failed_metric_points", "job, instance, exporter", false},
	{"log records", "otelcol_exporter_enqueue_failed_log_records", "job, instance, exporter", false},
}

// counter returns the counter of an SDK.
func (q queue) counter() series { return series{name: q.metric, labels: `error_type="queue_full"`} }

// selector returns the selector of the counter. Depending on its configuration, a Collector exports the name with or
// without a suffix.
func (q queue) selector() string {
	if q.service {
		return q.counter().String()
	}
	return `{__name__=~"` + q.metric + `(_total)?"}`
}

// grown returns the number of items that the queue dropped around each point of a graph. The function growth needs
// the start time of a process, which Collectors do not export.
func (q queue) grown() string {
	if q.service {
		return growth(q.counter(), perPoint)
	}
	return "increase(" + q.selector() + "[" + perPoint + "])"
}

// pipeline returns the panels about lost telemetry, for all services and Collectors.
func pipeline() []Panel {
	dropped := Panel{Title: "Dropped telemetry", Unit: "cpm", Empty: "none, or neither SDKs nor Collectors report it",
		Text: "Spans, metric points and log records per minute that a full queue rejected, in the SDK of a service or in " +
			"a Collector. They are missing in dashboards and traces. The Go SDK counts them with " +
			"OTEL_GO_X_OBSERVABILITY=true."}
	for _, q := range fullQueues {
		legend := q.signal + " of {{job}} {{instance}}"
		if !q.service {
			legend += " {{exporter}}"
		}
		dropped.Queries = append(dropped.Queries, Query{Legend: legend, Zero: "no queue may be full",
			Expr: sumBy(q.labels, q.grown()) + " * 60 / (" + seconds(perPoint) + ")"})
	}
	return []Panel{dropped, {
		Title: "Traces left out by sampling", Unit: "cps", Empty: "none, or no gateway exports its own metrics",
		Text: "Traces per second that the gateway does not keep by design: some of those that neither failed nor were " +
			"slow (not_sampled), and those that exceed its memory (dropped). The metrics still count their calls.",
		Queries: []Query{{Legend: "{{job}} {{instance}} {{decision}}", Zero: "a gateway may keep all traces",
			Expr: `sum by (job, instance, decision) (rate({__name__=~` +
				`"otelcol_processor_tail_sampling_global_count_traces_sampled(_total)?",decision!="sampled"}[` + perPoint + `]))`}},
	}}
}
