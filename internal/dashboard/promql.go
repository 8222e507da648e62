package dashboard

import "fmt"

// Windows of panels. Grafana replaces them.
const (
	perPoint = "$__rate_interval" // around each point of a graph
	perRange = "$__range"         // all that the dashboard shows
)

// memory is how far back growth looks to know a series again. Within it, a scrape that fails makes no counter newborn.
const memory = "1h"

// Matchers. An error type that is not there is the empty one.
const (
	failed     = `error_type!~"|cancelled|tool_error"`
	cancelled  = `error_type="cancelled"`
	toolError  = `error_type="tool_error"`
	timedOut   = `error_type="timeout"`
	isRequest  = `mcp_method_name!~"notifications/.*|server/discover"`
	isToolCall = `mcp_method_name="tools/call"`
	notReady   = `mcp_client_connection_state!="ready"`
)

// series are the time series of a name with some labels.
type series struct{ name, labels string }

// with adds matchers.
func (s series) with(matchers string) series {
	if s.labels == "" {
		return series{s.name, matchers}
	}
	return series{s.name, s.labels + "," + matchers}
}

// The parts of a histogram.
func (s series) count() series  { return series{s.name + "_count", s.labels} }
func (s series) sum() series    { return series{s.name + "_sum", s.labels} }
func (s series) bucket() series { return series{s.name + "_bucket", s.labels} }

func (s series) String() string { return s.name + "{" + s.labels + "}" }

// rate is how fast a counter grows in a second. It suits what happens all the time.
func rate(s series, window string) string { return fmt.Sprintf("rate(%s[%s])", s, window) }

// growth is by how much a counter grew. Unlike increase it counts the event that a series is born with: a series that was
// not there before the window grew by all it has.
func growth(s series, window string) string {
	return fmt.Sprintf("((%[1]s unless last_over_time(%[1]s[%[3]s] offset %[2]s)) or increase(%[1]s[%[2]s]))", s, window, memory)
}

// sumBy adds up by labels; without any, everything.
func sumBy(labels, expr string) string {
	if labels == "" {
		return fmt.Sprintf("sum(%s)", expr)
	}
	return fmt.Sprintf("sum by (%s) (%s)", labels, expr)
}

// positive keeps what is greater than zero, so that a graph shows no series of which nothing happened.
func positive(expr string) string { return expr + " > 0" }

// ratio is part in whole, zero where there is a whole and no part, and nothing where there is no whole.
func ratio(part, whole string) string {
	return fmt.Sprintf("(%[1]s or 0 * %[2]s) / (%[2]s > 0)", part, whole)
}

// quantile estimates a quantile of a histogram by labels.
func quantile(q float64, labels string, s series, window string) string {
	if labels != "" {
		labels = ", " + labels
	}
	return fmt.Sprintf("histogram_quantile(%v, sum by (le%s) (rate(%s[%s])))", q, labels, s.bucket(), window)
}

// mean is the mean of a histogram by labels.
func mean(labels string, s series, window string) string {
	return fmt.Sprintf("%s / (%s > 0)", sumBy(labels, rate(s.sum(), window)), sumBy(labels, rate(s.count(), window)))
}
