package dashboard

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Windows of panels. Grafana replaces them.
const (
	perPoint = "$__rate_interval" // around each point of a graph
	perRange = "$__range"         // the whole time range of the dashboard
)

// memory is the time before the window in which growth looks for earlier values of a series. A series does not count as
// new after a gap that is shorter than memory.
const memory = "1h"

// startTimes are the start times of processes. Each process exports its start time with its counters.
const startTimes = `{__name__=~"mcp_(client|server)_start_time_seconds"}`

// Matchers. A series without an error type matches the empty string. The following do not count as failures: cancelled
// calls, errors that a tool reports, calls that the loop breaker stopped, requests for undeclared features, and
// mistakes of a model, such as wrong arguments or an unknown tool or resource.
const (
	succeeded  = `error_type=""`
	failed     = `error_type!~"|cancelled|tool_error|loop|unsupported|-32602|-32002"`
	ownFailure = `error_type!~"|cancelled|tool_error|connection_lost|shutdown|rate_limited"` // for a server
	mistaken   = `error_type=~"-32602|-32002"`
	cancelled  = `error_type="cancelled"`
	toolError  = `error_type="tool_error"`
	timedOut   = `error_type="timeout"`
	isRequest  = `mcp_method_name!~"notifications/.*|server/discover"`
	isToolCall = `mcp_method_name="tools/call"`
	notReady   = `mcp_client_connection_state!="ready"`

	isDescription = `mcp_client_tool_definition_part="description"`
	isSchema      = `mcp_client_tool_definition_part="input_schema"`
)

// series selects the time series of one metric, by its name and label matchers.
type series struct {
	name, labels string
	suffix       string // selects a part of a histogram: "_count", "_sum" or "_bucket"
	rare         bool   // events are rare, often one in a window, so the first event of a series matters
}

// with adds matchers.
func (s series) with(matchers string) series {
	if s.labels != "" {
		matchers = s.labels + "," + matchers
	}
	s.labels = matchers
	return s
}

// rare returns the series, marked as rare.
func rare(s series) series {
	s.rare = true
	return s
}

// part returns one part of a histogram.
func (s series) part(suffix string) series {
	s.suffix = suffix
	return s
}

// The parts of a histogram.
func (s series) count() series  { return s.part("_count") }
func (s series) sum() series    { return s.part("_sum") }
func (s series) bucket() series { return s.part("_bucket") }

func (s series) String() string {
	if s.labels == "" {
		return s.name + s.suffix
	}
	return s.name + s.suffix + "{" + s.labels + "}"
}

// forms calls f with the classic form of a series. For a part of a histogram, it also calls f with the native form, in
// which the histogram is a single series and the PromQL function named part extracts the part. An instance exports one
// of the forms; the query supports both.
func (s series) forms(f func(selector, part string) string) string {
	classic := f(s.String(), "")
	switch s.suffix {
	case "_count":
		return classic + "\nor " + f(s.part("").String(), "histogram_count")
	case "_sum":
		return classic + "\nor " + f(s.part("").String(), "histogram_sum")
	}
	return classic
}

// rate returns the growth of a counter per second, for frequent events.
func rate(s series, window string) string {
	return s.forms(func(selector, part string) string { return call(part, fmt.Sprintf("rate(%s[%s])", selector, window)) })
}

// call applies a function to arg; an empty function returns arg.
func call(function, arg string) string {
	if function == "" {
		return arg
	}
	return function + "(" + arg + ")"
}

// growth returns the number of events that a counter counted within a window. PromQL's increase needs a sample of zero
// before the first event, which OpenTelemetry's counters do not have. So growth counts a series from zero in two cases:
//
//   - Its process started in the window. The exception is a value that is left over from an earlier process of the
//     instance.
//   - The series did not exist before the window, and Prometheus scraped the process without the series within the
//     window. So the first event counts. A counter that Prometheus sees for the first time, or again after a gap, does
//     not count as new events.
func growth(s series, window string) string {
	return s.forms(func(selector, part string) string {
		now := call(part, selector)
		before := call(part, "last_over_time("+selector+"["+memory+"] offset "+window+")")
		started := lines("(%[1]s unless %[1]s >= %[2]s)", "and on (job, instance) %[3]s > time() - %[4]s")(
			now, before, startTimes, seconds(window))
		seen := lines("(%[1]s unless %[2]s)", "and count_over_time(%[3]s[%[4]s]) < on (job, instance) group_left () "+
			"max by (job, instance) (%[5]s)")(now, before, selector, window, startsIn(window))
		increase := call(part, "increase("+selector+"["+window+"])")
		return "max without (fresh) (\n" +
			indent(fresh("started", started)+"\nor "+fresh("seen", seen)+"\nor "+increase) + "\n)"
	})
}

// fresh adds a label to the values, so that they do not replace other values of the same series.
func fresh(why, expr string) string {
	return "label_replace(\n" + indent(expr) + `, "fresh", "` + why + `", "", "")`
}

// startsIn returns the number of scrapes of a process within a window. If a process has a client and a server, one of
// its two series is enough.
func startsIn(window string) string {
	return fmt.Sprintf("count_over_time(mcp_client_start_time_seconds[%[1]s]) or "+
		"count_over_time(mcp_server_start_time_seconds[%[1]s])",
		window)
}

// seconds returns the length of a window as a number.
func seconds(window string) string {
	switch window {
	case perPoint:
		return "$__rate_interval_ms / 1000"
	case perRange:
		return "$__range_s"
	}
	d, err := time.ParseDuration(window)
	if err != nil {
		panic("dashboard: window " + window)
	}
	return strconv.Itoa(int(d / time.Second))
}

// perMinute returns the number of events per minute, by labels. Unlike a count around each point, it does not depend on
// the time range of the graph.
func perMinute(labels string, s series) string {
	return sumBy(labels, growth(s, perPoint)) + " * 60 / (" + seconds(perPoint) + ")"
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// sumBy returns the sums of expr by labels; without labels, it returns a single sum.
func sumBy(labels, expr string) string {
	if strings.Contains(expr, "\n") {
		expr = "\n" + indent(expr) + "\n"
	}
	if labels == "" {
		return fmt.Sprintf("sum(%s)", expr)
	}
	return fmt.Sprintf("sum by (%s) (%s)", labels, expr)
}

// maxBy returns the maximum by labels, for gauges that have the same value in several processes.
func maxBy(labels string, s series) string { return fmt.Sprintf("max by (%s) (%s)", labels, s) }

// fullest returns the largest used share of a limit, by labels.
func fullest(labels string, of func(name string) series, usage, limit string) string {
	return fmt.Sprintf("max by (%s) (%s / (%s > 0))", labels, of(usage), of(limit))
}

// positive keeps values above zero, so that a graph shows no series without events.
func positive(expr string) string { return expr + " > 0" }

// ratio divides part by whole. Without a part, the ratio is zero; without a whole, there is no result.
func ratio(part, whole string) string {
	return fmt.Sprintf("(%[1]s or 0 * %[2]s) / (%[2]s > 0)", part, whole)
}

// pace returns the growth of a counter if its events are rare or if window is the whole time range; otherwise it
// returns the counter's rate. Shares and quantiles of a histogram are computed from the pace.
func pace(s series, window string) string {
	if s.rare || window == perRange {
		return growth(s, window)
	}
	return rate(s, window)
}

// quantile estimates a quantile of a histogram by labels, from buckets or from a native histogram.
func quantile(q float64, labels string, s series, window string) string {
	by := "le"
	if labels != "" {
		by += ", " + labels
	}
	return fmt.Sprintf("histogram_quantile(%v, %s)\nor histogram_quantile(%[1]v, %[3]s)", q,
		sumBy(by, pace(s.bucket(), window)), sumBy(labels, nativePace(s, window)))
}

// nativePace returns the pace of a native histogram, as a histogram. If the process started in the window, all values
// of the histogram count: PromQL cannot choose the larger of two histograms.
func nativePace(s series, window string) string {
	selector := s.part("").String()
	if s.rare || window == perRange {
		return selector + " and on (job, instance) " + startTimes + " > time() - " + seconds(window) +
			"\nor increase(" + selector + "[" + window + "])"
	}
	return "rate(" + selector + "[" + window + "])"
}

// mean returns the mean of a histogram, by labels.
func mean(labels string, s series, window string) string {
	return fmt.Sprintf("%s / (%s > 0)", sumBy(labels, pace(s.sum(), window)), sumBy(labels, pace(s.count(), window)))
}

// either joins queries about clients and about servers.
func either(client, server string) string { return client + "\nor\n" + server }
