package dashboard

var (
	state       = clientSeries("mcp_client_connection_state")
	transitions = clientSeries("mcp_client_connection_transitions_total")
	attempts    = rare(clientSeries("mcp_client_connection_attempt_duration_seconds"))
	backoff     = rare(clientSeries("mcp_client_connection_backoff_seconds"))
	sessions    = rare(clientSeries("mcp_client_session_duration_seconds"))
	streams     = rare(clientSeries("mcp_client_stream_duration_seconds"))

	isLost = `mcp_client_connection_from="ready",mcp_client_connection_to!="closing"`
)

var connections = Dashboard{
	UID: "connections", Title: "MCP connections",
	Description: "Which clients are ready, which are not, why connections end and how clients reconnect.",
	Variables:   variables(clientService, clientName),
	Rows: []Row{
		{"Now", []Panel{
			firing,
			{Title: "Ready", Kind: Stat, Unit: "short", Empty: "no clients",
				Text: "Clients with a connection that is ready for requests. If there are fewer than usual, but none is \"not " +
					"ready\", processes have ended.",
				Queries: []Query{{Expr: sumBy("", state.with(`mcp_client_connection_state="ready"`).String())}}},
			{Title: "Not ready", Kind: Stat, Unit: "short", Empty: "no clients", Steps: bad(1, 3),
				Text: "Clients that are connecting, negotiating, waiting for the next attempt or closing. Calls wait for them, " +
					"or fail with not_ready. The table below lists them.",
				Queries: []Query{{Expr: sumBy("", state.with(notReady).String()),
					Zero: "all clients may be ready at this moment"}}},
			{Title: "Lost", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 5),
				Text:    "Ready connections that ended unexpectedly, in the selected time range. The reasons are below.",
				Queries: []Query{{Expr: sumBy("", growth(transitions.with(isLost), perRange))}}},
			{Title: "Failed attempts", Kind: Stat, Unit: "percentunit", Empty: "no attempts", Steps: bad(.1, .5),
				Text: "Share of the attempts to connect that failed. If all fail, the server is down, its address is wrong or " +
					"it rejects this client. If some fail, the server is overloaded or being rolled out.",
				Queries: []Query{{Expr: ratio(sumBy("", growth(attempts.with(`error_type!=""`).count(), perRange)),
					sumBy("", growth(attempts.count(), perRange)))}}},
			{Title: "Time to connect, p95", Kind: Stat, Unit: "s", Empty: "no attempts", Steps: bad(2, 10),
				Text: "19 of 20 attempts took at most this long, including negotiation. A slow child process spends the time in " +
					"the server's startup; slow HTTP, in name resolution, TLS or authorization.",
				Queries: []Query{{Expr: quantile(.95, "", attempts, perRange)}}},
			{Title: "Clients by state", Unit: "short", Empty: "no client", Stacked: true,
				Colors: []Color{{"ready", "green"}, {"starting", "blue"}, {"initializing", "purple"}, {"backoff", "orange"},
					{"closing", "text"}},
				Text: "Clients in each state. Anything but ready that lasts for more than a minute is an alert. A service " +
					"that ended without saying so stays here for up to five minutes.",
				Queries: []Query{{Expr: sumBy("mcp_client_connection_state", state.String()),
					Legend: "{{mcp_client_connection_state}}"}}},
			{Title: "Each client", Kind: Table, Empty: "no clients", Width: 12, Height: 8,
				Text: "Every client, with its current state and its number of lost connections in the selected time range. If a " +
					"client is not ready, read the reasons below, then the debug page of its process or the log records " +
					"mcp_client.connection.attempt.",
				Queries: []Query{
					{Expr: positive(sumBy("job, instance, mcp_client_name, mcp_client_connection_state", state.String()))},
					{Expr: positive(sumBy("job, instance, mcp_client_name", growth(transitions.with(isLost), perRange)))},
				},
				Columns: []Column{
					{Field: "job", Title: "Service"},
					{Field: "instance", Title: "Instance"},
					{Field: "mcp_client_name", Title: "Client",
						Links: []Link{to("Operations of this client", "operations",
							"&var-client=${__data.fields.Client:percentencode}&var-job=${__data.fields.Service:percentencode}")}},
					{Field: "mcp_client_connection_state", Title: "State"},
					{Field: "B", Title: "Lost", Unit: "short", Steps: bad(1, 5)},
					{Field: "A"}, // the number of the alert's series is always 1
				}},
		}},
		{"Lost connections and reconnects", []Panel{
			{Title: "Lost connections by reason", Unit: "cpm", Empty: "none lost",
				Text: "Lost connections per minute. transport_down: the process ended or the network broke. session_gone: the " +
					"server no longer knows the session, for example after a restart. invalid_streak, frame_too_large: the peer " +
					"broke the protocol; see the dashboard MCP frames and decode.",
				Queries: []Query{{Expr: perMinute("mcp_client_name, mcp_client_connection_reason", transitions.with(isLost)),
					Legend: "{{mcp_client_name}} {{mcp_client_connection_reason}}"}}},
			{Title: "Attempts", Unit: "cpm", Empty: "no attempts",
				Text: "Attempts to connect per minute, by outcome. Many successful attempts in a row mean that the connection " +
					"keeps breaking.",
				Queries: []Query{{Expr: perMinute("mcp_client_connection_attempt_kind, error_type", attempts.count()),
					Legend: "{{mcp_client_connection_attempt_kind}} {{error_type}}"}}},
			{Title: "Transitions", Kind: Table, Empty: "no transitions", Width: 24,
				Text: "All state transitions of connections in the selected time range. Read the reasons of transitions to " +
					"backoff first.",
				Queries: []Query{{Expr: positive(
					sumBy("job, mcp_client_name, mcp_client_connection_from, mcp_client_connection_to, mcp_client_connection_reason",
						growth(transitions, perRange)))}},
				Columns: []Column{
					{Field: "job", Title: "Service"},
					{Field: "mcp_client_name", Title: "Client"},
					{Field: "mcp_client_connection_from", Title: "From"},
					{Field: "mcp_client_connection_to", Title: "To"},
					{Field: "mcp_client_connection_reason", Title: "Reason"},
					{Field: "A", Title: "Times", Unit: "short"},
				}},
			{Title: "Time to connect", Unit: "s", Empty: "no attempts",
				Text: "Duration of attempts to connect, including negotiation. Each point is one attempt: click a point to open " +
					"its trace, whose spans show the slow step.",
				Queries: []Query{
					{Expr: quantile(.5, "", attempts, perPoint), Legend: "p50"},
					{Expr: quantile(.95, "", attempts, perPoint), Legend: "p95", Exemplars: true},
				}},
			{Title: "Delay before the next attempt", Unit: "s", Empty: "no client is in backoff",
				Text: "Delays between attempts to connect. They grow while a server is unreachable. When the server is back, a " +
					"client may need as long as the current delay to notice.",
				Queries: []Query{
					{Expr: quantile(.5, "", backoff, perPoint), Legend: "p50"},
					{Expr: quantile(.95, "", backoff, perPoint), Legend: "p95"},
				}},
		}},
		{"Servers and their versions", []Panel{
			{Title: "Connected servers", Kind: Table, Empty: "no client is ready", Width: 24, Height: 8,
				Text: "Ready clients, by the name and version of their server and by the negotiated revision. Two versions of " +
					"one server: a rollout is in progress or incomplete. An old revision: the server does not support a newer one. " +
					"_OTHER: more than 256 combinations.",
				Queries: []Query{{Expr: positive(sumBy(
					"job, mcp_client_name, mcp_client_server_name, mcp_client_server_version, mcp_protocol_version",
					clientSeries("mcp_client_server_info").String()))}},
				Columns: []Column{
					{Field: "job", Title: "Service"},
					{Field: "mcp_client_name", Title: "Client"},
					{Field: "mcp_client_server_name", Title: "Server"},
					{Field: "mcp_client_server_version", Title: "Version"},
					{Field: "mcp_protocol_version", Title: "Revision"},
					{Field: "A", Title: "Clients", Unit: "short"},
				}},
		}},
		{"Processes of stdio servers", []Panel{
			{Title: "Memory", Unit: "bytes", Empty: "no stdio server runs on Linux", Stacked: true,
				Text: "Resident memory of each server: of its process and the processes that it has started. A line that only " +
					"rises is a leak. For servers that are rarely used, set start and idle in the configuration: see the guide " +
					"on-demand.",
				Queries: []Query{{Expr: sumBy("mcp_client_name", clientSeries("process_memory_usage_bytes").String()),
					Legend: "{{mcp_client_name}}"}}},
			{Title: "Processes", Unit: "short", Empty: "no stdio server runs on Linux", Stacked: true,
				Text: "Processes of each server. A number that only rises means that the server does not end its child " +
					"processes.",
				Queries: []Query{{Expr: sumBy("mcp_client_name", clientSeries("mcp_client_process_active").String()),
					Legend: "{{mcp_client_name}}"}}},
			{Title: "CPU", Unit: "short", Empty: "no stdio server runs on Linux", Stacked: true,
				Text: "CPUs that each server uses, for its own work and in the kernel. A server that is busy without calls " +
					"wastes power.",
				Queries: []Query{{Expr: sumBy("mcp_client_name, cpu_mode",
					rate(clientSeries("process_cpu_time_seconds_total"), perPoint)), Legend: "{{mcp_client_name}} {{cpu_mode}}"}}},
			{Title: "Uptime", Unit: "s", Empty: "no stdio server runs on Linux",
				Text: "Time since the latest start of each server. A line that falls shows a restart. The table of transitions " +
					"above has the reasons.",
				Queries: []Query{{Expr: "min by (mcp_client_name) (" + clientSeries("process_uptime_seconds").String() + ")",
					Legend: "{{mcp_client_name}}"}}},
		}},
		{"Groups of clients", []Panel{
			{Title: "Clients by group", Kind: Table, Empty: "no client is in a group", Width: 24, Height: 8,
				Text: "Clients of each group, by state. If a process has more clients than the metrics distinguish, the others " +
					"have the name _OTHER, but are counted here. The debug page lists the clients of a group that are not ready, " +
					"and so do the log records mcp_client.connection.transition.",
				Queries: []Query{
					{Expr: positive(sumBy("job, mcp_client_group, mcp_client_connection_state",
						state.with(`mcp_client_group!=""`).String()))},
				},
				Columns: []Column{
					{Field: "job", Title: "Service"},
					{Field: "mcp_client_group", Title: "Group"},
					{Field: "mcp_client_connection_state", Title: "State"},
					{Field: "A", Title: "Clients", Unit: "short"},
				}},
		}},
		{"Sessions and streams", []Panel{
			{Title: "Ended sessions", Unit: "cpm", Empty: "none ended",
				Text: "Ended sessions per minute, by error. Sessions without an error were closed normally.",
				Queries: []Query{{Expr: perMinute("mcp_client_name, error_type", sessions.count()),
					Legend: "{{mcp_client_name}} {{error_type}}"}}},
			{Title: "Session length, mean", Unit: "s", Empty: "none ended",
				Text: "Mean length of ended sessions. If all have the same short length, something on the path, such as a " +
					"proxy, ends them after a fixed time.",
				Queries: []Query{{Expr: mean("mcp_client_name", sessions, perPoint), Legend: "mean {{mcp_client_name}}"}}},
			{Title: "Open streams", Unit: "short", Empty: "no streams",
				Text: "Streams that do not belong to a single request, by kind. If there are fewer streams than clients over " +
					"HTTP that expect notifications, some clients miss notifications.",
				Queries: []Query{{Expr: sumBy("mcp_client_name, mcp_client_stream_kind",
					clientSeries("mcp_client_stream_active").String()), Legend: "{{mcp_client_name}} {{mcp_client_stream_kind}}"}}},
			{Title: "Stream length, mean", Unit: "s", Empty: "none ended",
				Text: "Mean length of ended streams, by error. If all have the same short length, a proxy has an idle timeout.",
				Queries: []Query{{Expr: mean("mcp_client_stream_kind, error_type", streams, perPoint),
					Legend: "mean {{mcp_client_stream_kind}} {{error_type}}"}}},
		}},
	},
}
