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
	Description: "Which clients are ready, which are not, why connections end and how they come back.",
	Variables:   variables(clientService, clientName),
	Rows: []Row{
		{"Now", []Panel{
			firing,
			{Title: "Ready", Kind: Stat, Unit: "short", Empty: "no client",
				Text: "Clients whose connection is ready for requests. Fewer than usual and none that are not ready: " +
					"processes are gone.",
				Queries: []Query{{Expr: sumBy("", state.with(`mcp_client_connection_state="ready"`).String())}}},
			{Title: "Not ready", Kind: Stat, Unit: "short", Empty: "no client", Steps: bad(1, 3),
				Text: "Clients that connect, negotiate, wait to try again or close. Calls wait for these, or fail with " +
					"not_ready. The table below names them.",
				Queries: []Query{{Expr: sumBy("", state.with(notReady).String()),
					Zero: "all may be ready at the moment of asking"}}},
			{Title: "Lost", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 5),
				Text:    "Ready connections that ended without being asked to, in the time shown. The reasons are below.",
				Queries: []Query{{Expr: sumBy("", growth(transitions.with(isLost), perRange))}}},
			{Title: "Attempts that failed", Kind: Stat, Unit: "percentunit", Empty: "no attempts", Steps: bad(.1, .5),
				Text: "Part of the attempts to connect that failed. All: the server is down, its address is wrong or it " +
					"refuses this client. Some: it is overloaded or being rolled out.",
				Queries: []Query{{Expr: ratio(sumBy("", growth(attempts.with(`error_type!=""`).count(), perRange)),
					sumBy("", growth(attempts.count(), perRange)))}}},
			{Title: "Time to connect, p95", Kind: Stat, Unit: "s", Empty: "no attempts", Steps: bad(2, 10),
				Text: "19 of 20 attempts took at most this long, negotiation included. Slow for a child process: what the " +
					"server does at its start. Slow over HTTP: name resolution, TLS or authorization.",
				Queries: []Query{{Expr: quantile(.95, "", attempts, perRange)}}},
			{Title: "Clients by state", Unit: "short", Empty: "no client", Stacked: true,
				Colors: []Color{{"ready", "green"}, {"starting", "blue"}, {"initializing", "purple"}, {"backoff", "orange"},
					{"closing", "text"}},
				Text: "Clients in each state. Anything but ready that lasts for more than a minute is an alert. A service " +
					"that ended without saying so stays here for up to five minutes.",
				Queries: []Query{{Expr: sumBy("mcp_client_connection_state", state.String()),
					Legend: "{{mcp_client_connection_state}}"}}},
			{Title: "Each client", Kind: Table, Empty: "no client", Width: 12, Height: 8,
				Text: "Every client, its state now and how often it lost its connection in the time shown. Not ready: read the " +
					"reasons below, then the process's debug page or the log records mcp_client.connection.attempt.",
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
		{"Why connections end, and how they come back", []Panel{
			{Title: "Lost connections by reason", Unit: "cpm", Empty: "none was lost",
				Text: "In a minute. transport_down: the process ended or the network broke. session_gone: the " +
					"server forgot the session, as after a restart. invalid_streak, frame_too_large: the peer broke the protocol, " +
					"see frames and decode.",
				Queries: []Query{{Expr: perMinute("mcp_client_name, mcp_client_connection_reason", transitions.with(isLost)),
					Legend: "{{mcp_client_name}} {{mcp_client_connection_reason}}"}}},
			{Title: "Attempts", Unit: "cpm", Empty: "no attempts",
				Text: "Attempts to connect in a minute, by what came of them. Many good ones, one after the " +
					"other: the connection comes up and breaks again.",
				Queries: []Query{{Expr: perMinute("mcp_client_connection_attempt_kind, error_type", attempts.count()),
					Legend: "{{mcp_client_connection_attempt_kind}} {{error_type}}"}}},
			{Title: "Transitions", Kind: Table, Empty: "no connection moved", Width: 24,
				Text: "Every way in which connections moved in the time shown. Read the reasons of moves to backoff first.",
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
				Text: "How long attempts took, negotiation included. The points are single attempts: click one to open its " +
					"trace, whose spans say which step was slow.",
				Queries: []Query{
					{Expr: quantile(.5, "", attempts, perPoint), Legend: "p50"},
					{Expr: quantile(.95, "", attempts, perPoint), Legend: "p95", Exemplars: true},
				}},
			{Title: "Waiting before the next attempt", Unit: "s", Empty: "no client backs off",
				Text: "Delays between attempts. They grow while a server stays away; at their longest, a server that is back " +
					"may be missed for that long.",
				Queries: []Query{
					{Expr: quantile(.5, "", backoff, perPoint), Legend: "p50"},
					{Expr: quantile(.95, "", backoff, perPoint), Legend: "p95"},
				}},
		}},
		{"Servers and their versions", []Panel{
			{Title: "What is connected", Kind: Table, Empty: "no client is ready", Width: 24, Height: 8,
				Text: "Clients that are ready, by what their servers call themselves and the revision that was agreed on. Two " +
					"versions of one server: it is being rolled out, or was not everywhere. An old revision: the server does not " +
					"know a newer one. _OTHER: there are more than 256.",
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
		{"Groups of clients", []Panel{
			{Title: "Each group", Kind: Table, Empty: "no client is in a group", Width: 24, Height: 8,
				Text: "Clients of each group by state. In a process of many clients those beyond the budget of metrics have no " +
					"name but _OTHER, and are here. Which of them is not ready: the debug page, by its group, or the log " +
					"records mcp_client.connection.transition.",
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
			{Title: "Sessions that ended", Unit: "cpm", Empty: "none ended",
				Text: "In a minute, by error; without one they were closed in order.",
				Queries: []Query{{Expr: perMinute("mcp_client_name, error_type", sessions.count()),
					Legend: "{{mcp_client_name}} {{error_type}}"}}},
			{Title: "Length of sessions, mean", Unit: "s", Empty: "none ended",
				Text: "How long the sessions lasted that ended. All of the same short length: something on the way, such as " +
					"a proxy, ends them after a fixed time.",
				Queries: []Query{{Expr: mean("mcp_client_name", sessions, perPoint), Legend: "mean {{mcp_client_name}}"}}},
			{Title: "Open streams", Unit: "short", Empty: "no streams",
				Text: "Streams that serve no single request, by kind. Fewer than clients over HTTP that should be told " +
					"things: notifications of those servers are missed.",
				Queries: []Query{{Expr: sumBy("mcp_client_name, mcp_client_stream_kind",
					clientSeries("mcp_client_stream_active").String()), Legend: "{{mcp_client_name}} {{mcp_client_stream_kind}}"}}},
			{Title: "Length of streams, mean", Unit: "s", Empty: "none ended",
				Text: "How long the streams were open that ended, by error. All of the same short length: a proxy's idle " +
					"timeout.",
				Queries: []Query{{Expr: mean("mcp_client_stream_kind, error_type", streams, perPoint),
					Legend: "mean {{mcp_client_stream_kind}} {{error_type}}"}}},
		}},
	},
}
