package dashboard

// The queries of this file find the parts of the number behind an alert. Matchers select series, for example
// `job="shop"`.

// Failures returns the query for the failed requests of a client, or of a server, within a window, by method, tool and
// error type. It counts the same failures as the alerts about error budgets.
func Failures(server bool, matchers, window string) string {
	s := clientRequests.with(failed)
	if server {
		s = serverRequests.with(ownFailure)
	}
	return positive(sumBy("mcp_method_name, gen_ai_tool_name, error_type", growth(s.with(matchers).count(), window)))
}

// Slow returns the query for the requests of a client within a window, by method and tool, with more than the number of
// seconds that the alert about slow clients allows.
func Slow(matchers, window string) string {
	by, s := "mcp_method_name, gen_ai_tool_name", answered.with(matchers)
	return positive(sumBy(by, growth(s.count(), window)) + " - " + sumBy(by, growth(s.bucket().with(inTime), window)))
}

// Growth returns the query for the events that a counter has counted within a window, by labels.
func Growth(by, counter, matchers, window string) string {
	return positive(sumBy(by, growth(series{name: counter, labels: matchers}, window)))
}
