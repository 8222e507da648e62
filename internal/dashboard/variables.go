package dashboard

import "fmt"

// prometheusVariable and jaegerVariable choose data sources. Every dashboard has both, and resolutionVariable.
var (
	prometheusVariable = Variable{Name: "datasource", Label: "Metrics", Type: "prometheus"}
	jaegerVariable     = Variable{Name: "traces", Label: "Traces", Type: "jaeger"}
)

// resolutionVariable is how often metrics arrive: the rate window of graphs is four times this, so that each one holds
// enough of them. An SDK exports every minute, unless told otherwise.
var resolutionVariable = Variable{Name: "resolution", Label: "Metrics arrive every",
	Options: []string{"1m", "30s", "15s", "10s", "5s", "1s"}}

// values is a variable of the values that a label has on some series.
func values(name, title, label, of, all string) Variable {
	return Variable{Name: name, Label: title, Query: fmt.Sprintf("label_values(%s, %s)", of, label), All: all}
}

// A service is any, but a name, a method or a tool has to be there.
const (
	anything = ".*"
	named    = ".+"
)

// Variables of clients and of servers. Dashboards that lead to one another share names, and only these travel: the
// services of clients and of servers are not the same, so they are two variables.
var (
	clientService = values("job", "Service", "job", "mcp_client_connection_state", anything)
	clientName    = values("client", "Client", "mcp_client_name", `mcp_client_connection_state{job=~"$job"}`, named)
	clientMethod  = values("method", "Method", "mcp_method_name",
		`mcp_client_operation_duration_seconds_count{job=~"$job",mcp_client_name=~"$client"}`, named)
	clientTool = values("tool", "Tool", "gen_ai_tool_name",
		`mcp_client_operation_duration_seconds_count{job=~"$job",mcp_client_name=~"$client"}`, named)

	serverService = values("server_job", "Service", "job",
		`mcp_server_operation_duration_seconds_count{mcp_server_name!=""}`, anything)
	serverName = values("server", "Server", "mcp_server_name",
		`mcp_server_operation_duration_seconds_count{job=~"$server_job",mcp_server_name!=""}`, named)
	serverMethod = values("server_method", "Method", "mcp_method_name",
		`mcp_server_operation_duration_seconds_count{job=~"$server_job",mcp_server_name=~"$server"}`, named)

	eitherClient = values("client", "Client", "mcp_client_name", `mcp_client_message_size_bytes_count{job=~"$job"}`,
		named)
	eitherServer = values("server", "Server", "mcp_server_name", `mcp_server_message_size_bytes_count{job=~"$job"}`,
		named)
	eitherService = values("job", "Service", "job", `{__name__=~"mcp_(client|server)_message_size_bytes_count"}`, anything)
)
