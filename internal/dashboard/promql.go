package dashboard

import (
	"fmt"
	"strings"
)

// Windows of panels. Grafana replaces them.
const (
	perPoint = "$__rate_interval" // around each point of a graph
	perRange = "$__range"         // all that the dashboard shows
)

// memory is how far back growth looks to know a series again. Within it, a scrape that fails makes no counter newborn.
const memory = "1h"

// Matchers. An error type that is not there is the empty one.
const (
	succeeded  = `error_type=""`
	failed     = `error_type!~"|cancelled|tool_error|loop"`
	cancelled  = `error_type="cancelled"`
	toolError  = `error_type="tool_error"`
	timedOut   = `error_type="timeout"`
	isRequest  = `mcp_method_name!~"notifications/.*|server/discover"`
	isToolCall = `mcp_method_name="tools/call"`
	notReady   = `mcp_client_connection_state!="ready"`

	isDescription = `mcp_client_tool_definition_part="description"`
	isSchema      = `mcp_client_tool_definition_part="input_schema"`
)

// series are the time series of a name with some labels.
type series struct {
	name, labels string
	rare         bool // often one event in a window or less, so that the first of its kind matters
}

// with adds matchers.
func (s series) with(matchers string) series {
	if s.labels != "" {
		matchers = s.labels + "," + matchers
	}
	s.labels = matchers
	return s
}

// rare marks series as such.
func rare(s series) series {
	s.rare = true
	return s
}

// part is the series with a suffix.
func (s series) part(suffix string) series {
	s.name += suffix
	return s
}

// The parts of a histogram.
func (s series) count() series  { return s.part("_count") }
func (s series) sum() series    { return s.part("_sum") }
func (s series) bucket() series { return s.part("_bucket") }

func (s series) String() string {
	if s.labels == "" {
		return s.name
	}
	return s.name + "{" + s.labels + "}"
}

// rate is how fast a counter grows in a second. It suits what happens all the time.
func rate(s series, window string) string { return fmt.Sprintf("rate(%s[%s])", s, window) }

// growth is by how much a counter grew. Unlike increase it counts the event that a series is born with: a series that
// was not there before the window grew by all it has.
func growth(s series, window string) string {
	return fmt.Sprintf("(%[1]s unless last_over_time(%[1]s[%[3]s] offset %[2]s))\nor increase(%[1]s[%[2]s])", s, window,
		memory)
}

// sumBy adds up by labels; without any, everything.
func sumBy(labels, expr string) string {
	if strings.Contains(expr, "\n") {
		expr = "\n  " + strings.ReplaceAll(expr, "\n", "\n  ") + "\n"
	}
	if labels == "" {
		return fmt.Sprintf("sum(%s)", expr)
	}
	return fmt.Sprintf("sum by (%s) (%s)", labels, expr)
}

// maxBy is the largest by labels, of gauges that say the same in several processes.
func maxBy(labels string, s series) string { return fmt.Sprintf("max by (%s) (%s)", labels, s) }

// positive keeps what is greater than zero, so that a graph shows no series of which nothing happened.
func positive(expr string) string { return expr + " > 0" }

// ratio is part in whole, zero where there is a whole and no part, and nothing where there is no whole.
func ratio(part, whole string) string {
	return fmt.Sprintf("(%[1]s or 0 * %[2]s) / (%[2]s > 0)", part, whole)
}

// pace is what shares of a histogram are computed from: the growth of what is rare or is looked at in one piece, else
// the rate.
func pace(s series, window string) string {
	if s.rare || window == perRange {
		return growth(s, window)
	}
	return rate(s, window)
}

// quantile estimates a quantile of a histogram by labels.
func quantile(q float64, labels string, s series, window string) string {
	by := "le"
	if labels != "" {
		by += ", " + labels
	}
	return fmt.Sprintf("histogram_quantile(%v, %s)", q, sumBy(by, pace(s.bucket(), window)))
}

// mean is the mean of a histogram by labels.
func mean(labels string, s series, window string) string {
	return fmt.Sprintf("%s / (%s > 0)", sumBy(labels, pace(s.sum(), window)), sumBy(labels, pace(s.count(), window)))
}

// either is for what happens to clients and to servers.
func either(client, server string) string { return client + "\nor\n" + server }
