package dashboard

import "fmt"

// Recording is a recording rule.
type Recording struct {
	Record string
	Expr   string
}

// RecordingGroup is a group of recording rules that Prometheus evaluates in order.
type RecordingGroup struct {
	Name  string
	About string // comment in the file
	Rules []Recording
}

// Names of recorded series.
const (
	failureBudget = "mcp:failure_budget:ratio"
	slowBudget    = "mcp:slow_budget:ratio"
	present       = "job:mcp_telemetry:present"
	uptime        = "job:mcp_telemetry:uptime"
	slowClient    = "job_client:mcp_client_slow_requests:ratio"
	toolListSize  = "job_client:mcp_client_tool_list_size:max"
)

// Series of clients and of servers, for rules. Rules have no dashboard variables.
var (
	clientRequests = series{name: "mcp_client_operation_duration_seconds", labels: `mcp_client_name!="",` + isRequest}
	serverRequests = series{name: "mcp_server_operation_duration_seconds", labels: `mcp_server_name!="",` + isRequest}

	// answered selects the answered requests that should be fast. It excludes tasks/result, which waits for a task.
	answered = clientRequests.with(`error_type=~"|tool_error",mcp_method_name!="tasks/result"`)
)

// slowSeconds is the duration above which a request is slow. It equals telemetry.DefaultSlowThreshold, and is a bound
// of the buckets.
const slowSeconds = 5

// inTime matches the bucket of slowSeconds. Prometheus 3 writes the bound as 5.0, Prometheus 2 unchanged.
var inTime = fmt.Sprintf(`le=~"%[1]d|%[1]d[.]0"`, slowSeconds)

// service has the labels of a service in an environment: staging and production have separate budgets.
const service = "deployment_environment_name, job"

// burnWindows are the windows for sums of failures. They form two pairs: the long window shows that the failures
// matter, the short window shows that they continue.
var burnWindows = []string{"5m", "30m", "1h", "6h"}

// Recordings returns the recording rules.
func Recordings() []RecordingGroup {
	return []RecordingGroup{
		{"mcp-objectives", "Objectives: the largest share of requests that may fail, and the largest share that may take " +
			"longer than 5 s. Change them here.",
			[]Recording{{failureBudget, "vector(0.01)"}, {slowBudget, "vector(0.05)"}}},
		{"mcp-client", "Requests and failed requests of each client of a service. Not counted: notifications, the probe " +
			"for the\nserver's era, cancelled calls, errors that tools report, loops, and mistakes of a model.",
			append(failures("job_client:mcp_client", service+", mcp_client_name", clientRequests, failed), slow("5m"),
				slow("1h"))},
		{"mcp-server", "Requests and failed requests of each server. Not counted as failures: mistakes of clients, rate " +
			"limits,\nclients that disconnect, and servers that are stopped.",
			failures("job_server:mcp_server", service+", mcp_server_name", serverRequests, ownFailure)},
		{"mcp-tools", "Size of the tool definitions of each client's server in the context of a model. Several processes " +
			"may list them.\nClients that are counted by group come and go.",
			[]Recording{{toolListSize, maxBy(service+", mcp_client_name",
				series{name: "mcp_client_tool_list_size_bytes", labels: `mcp_client_name!="_OTHER"`})}}},
		{"mcp-telemetry", "Services with telemetry, and the uptime of their oldest process.",
			[]Recording{{present, "group by (" + service + ") (" + startTimes + ")"},
				{uptime, "time() - min by (" + service + ") (" + startTimes + ")"}}},
	}
}

// failures returns the rules for the requests of one end of connections; matching selects failed requests.
func failures(prefix, labels string, s series, matching string) (rules []Recording) {
	for _, w := range burnWindows {
		all, bad := prefix+"_requests:increase"+w, prefix+"_failures:increase"+w
		rules = append(rules,
			Recording{all, sumBy(labels, growth(s.count(), w))},
			Recording{bad, sumBy(labels, growth(s.with(matching).count(), w))},
			Recording{prefix + "_failures:ratio" + w, ratio(bad, all)},
		)
	}
	return rules
}

// slow returns the rule for the share of answers slower than slowSeconds, from buckets or from native histograms.
func slow(window string) Recording {
	by := service + ", mcp_client_name"
	all, soon := sumBy(by, growth(answered.count(), window)), sumBy(by, growth(answered.bucket().with(inTime), window))
	return Recording{slowClient + window, "1 - " + soon + " / (" + all + " > 0)" +
		fmt.Sprintf("\nor 1 - histogram_fraction(0, %d, %s)", slowSeconds, sumBy(by,
			"increase("+answered.String()+"["+window+"])"))}
}
