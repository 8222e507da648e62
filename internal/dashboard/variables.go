package dashboard

import (
	"fmt"
	"slices"
)

// prometheusVariable and jaegerVariable choose data sources. Every dashboard has these two variables and
// resolutionVariable.
var (
	prometheusVariable = Variable{Name: "datasource", Label: "Metrics", Type: "prometheus"}
	jaegerVariable     = Variable{Name: "traces", Label: "Traces", Type: "jaeger"}
)

// resolutionVariable is the interval at which metrics arrive. The rate window of graphs is four intervals long, so that
// each window has enough samples. By default, an SDK exports every minute.
var resolutionVariable = Variable{Name: "resolution", Label: "Metrics arrive every",
	Options: []string{"1m", "30s", "15s", "10s", "5s", "1s"}}

// values returns a dashboard variable with the values of a label. The parameter of selects the series with the label.
func values(name, title, label, of, all string) Variable {
	return Variable{Name: name, Label: title, Query: fmt.Sprintf("label_values(%s, %s)", of, label), All: all}
}

// Patterns for "all" values: a label that may be absent, and a label that must exist.
const (
	anything = ".*"
	named    = ".+"
)

// Labels that the Collector copies from the resource to each series.
const (
	environmentLabel = "deployment_environment_name"
	versionLabel     = "service_version"
)

// inService selects the series of services and instances by the dashboard's variables. job is the variable of
// services.
func inService(job string) string {
	return `deployment_environment_name=~"$environment",job=~"$` + job +
		`",instance=~"$instance",service_version=~"$version"`
}

// Variables of every dashboard. Series may lack an environment and a version.
var (
	environmentVariable = values("environment", "Environment", environmentLabel, startTimes, anything)
	inEnvironment       = `deployment_environment_name=~"$environment"`
)

// ofService returns the variables that select within a service.
func ofService(job string) []Variable {
	of := `{__name__=~"mcp_(client|server)_start_time_seconds",` + inEnvironment + `,job=~"$` + job + `"}`
	return []Variable{values("instance", "Instance", "instance", of, anything),
		values("version", "Version", versionLabel, of, anything)}
}

// Variables of clients and of servers. Links between dashboards pass only variables with equal names. Clients and
// servers have different services, so there are two variables for services.
var (
	inClients = inService("job")
	inServers = inService("server_job")

	clientService = values("job", "Service", "job", "mcp_client_connection_state{"+inEnvironment+"}", anything)
	clientName    = values("client", "Client", "mcp_client_name", "mcp_client_connection_state{"+inClients+"}", named)
	clientMethod  = values("method", "Method", "mcp_method_name", clientOperations, named)
	clientTool    = values("tool", "Tool", "gen_ai_tool_name", clientOperations, named)

	clientOperations = `{__name__=~"mcp_client_operation_duration_seconds(_count)?",` + inClients +
		`,mcp_client_name=~"$client"}`

	serverService = values("server_job", "Service", "job",
		`{__name__=~"mcp_server_operation_duration_seconds(_count)?",`+inEnvironment+`,mcp_server_name!=""}`, anything)
	serverName = values("server", "Server", "mcp_server_name",
		`{__name__=~"mcp_server_operation_duration_seconds(_count)?",`+inServers+`,mcp_server_name!=""}`, named)
	serverMethod = values("server_method", "Method", "mcp_method_name",
		`{__name__=~"mcp_server_operation_duration_seconds(_count)?",`+inServers+`,mcp_server_name=~"$server"}`, named)

	eitherClient = values("client", "Client", "mcp_client_name",
		`{__name__=~"mcp_client_message_size_bytes(_count)?",`+inClients+`}`, named)
	eitherServer = values("server", "Server", "mcp_server_name",
		`{__name__=~"mcp_server_message_size_bytes(_count)?",`+inClients+`}`, named)
	eitherService = values("job", "Service", "job",
		`{__name__=~"mcp_(client|server)_message_size_bytes(_count)?",`+inEnvironment+`}`, anything)
)

// variables returns a dashboard's variables: the environment, the service, the variables within it, and others.
func variables(job Variable, others ...Variable) []Variable {
	return slices.Concat([]Variable{environmentVariable, job}, ofService(job.Name), others)
}
