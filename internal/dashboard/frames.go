package dashboard

// Both ends of connections, side by side.
var (
	clientEnd = clientSeries
	serverEnd = func(name string) series {
		return series{name: name, labels: inClients + `,mcp_server_name=~"$server"`}
	}
	eitherEnd = `{__name__=~"mcp_(client|server)_.+",` + inClients + `}`

	clientSize, serverSize     = clientEnd("mcp_client_message_size_bytes"), serverEnd("mcp_server_message_size_bytes")
	clientDecode, serverDecode = clientEnd("mcp_client_message_decode_duration_seconds"),
		serverEnd("mcp_server_message_decode_duration_seconds")
	clientQueue, serverQueue = clientEnd("mcp_client_send_queue_wait_seconds"),
		serverEnd("mcp_server_send_queue_wait_seconds")
	clientBroken, serverBroken = clientEnd("mcp_client_protocol_violations_total"),
		serverEnd("mcp_server_protocol_violations_total")
	clientLate, serverLate = clientEnd("mcp_client_response_drops_total"),
		serverEnd("mcp_server_response_drops_total")
	changeGaps           = clientEnd("mcp_client_change_gap_total")
	sendRetries          = clientEnd("mcp_client_transport_send_retries_total")
	unrecorded, unkept   = clientEnd("mcp_client_audit_losses_total"), serverEnd("mcp_server_audit_losses_total")
	lostNews, unsentNews = clientEnd("mcp_client_notification_drops_total"),
		serverEnd("mcp_server_notification_drops_total")
)

var frames = Dashboard{
	UID: "frames", Title: "MCP frames and decode",
	Description: "Below the operations: frames, their sizes, decoding, queues, and everything that broke the protocol " +
		"or went to nobody.",
	Variables: variables(eitherService, eitherClient, eitherServer),
	Rows: []Row{
		{"Should all be zero", []Panel{
			firing,
			{Title: "Violations", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 10),
				Text: "Frames that broke the protocol, in the selected time range. The peer sent them, or a program that writes " +
					"into the pipe, for example by printing to standard output.",
				Queries: []Query{{Expr: sumBy("", either(growth(clientBroken, perRange), growth(serverBroken, perRange)))}}},
			{Title: "Unmatched answers", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 100),
				Text: "Responses without a waiting request. Late responses follow timeouts and cancelled calls; unknown and " +
					"repeated responses are a bug of the peer.",
				Queries: []Query{{Expr: sumBy("", either(growth(clientLate, perRange), growth(serverLate, perRange)))}}},
			{Title: "Lost notifications", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 100),
				Text: "Notifications that did not reach a client's handlers, or that a server could not send because a client " +
					"does not read.",
				Queries: []Query{{Expr: sumBy("",
					either(growth(lostNews.with(`mcp_client_drop_reason!="coalesced"`), perRange),
						growth(unsentNews.with(`mcp_server_drop_reason="queue_full"`), perRange)))}}},
			{Title: "Retries", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(10, 1000),
				Text: "Repeated attempts to send a message. busy: this side writes faster than the transport accepts. " +
					"server_busy: the server answered 429 or 503.",
				Queries: []Query{{Expr: sumBy("", growth(sendRetries, perRange))}}},
			{Title: "Overflowing metrics", Kind: Stat, Unit: "short", Empty: "none", Steps: never,
				Text: "Metrics with more series than the SDK's limit. Later series are merged into one series with " +
					"otel_metric_overflow, so the other panels cannot distinguish them.",
				Queries: []Query{{Expr: `count(count by (job, __name__) ({__name__=~"mcp_(client|server)_.+",` +
					`otel_metric_overflow="true",` + inClients + `}))`, Zero: "the library's own limits are below the limits of the " +
					"SDK"}}},
			{Title: "Violations by reason", Unit: "cpm", Empty: "none",
				Text: "Frames that broke the protocol, per minute. The log records mcp_client.protocol.violation have size and " +
					"limit. frame_too_large: if the peer legitimately sends such large frames, raise the limit.",
				Queries: []Query{
					{Expr: perMinute("mcp_client_name, mcp_client_violation_reason, mcp_client_direction", clientBroken),
						Legend: "client {{mcp_client_name}} {{mcp_client_direction}} {{mcp_client_violation_reason}}"},
					{Expr: perMinute("mcp_server_name, mcp_server_violation_reason, mcp_server_direction", serverBroken),
						Legend: "server {{mcp_server_name}} {{mcp_server_direction}} {{mcp_server_violation_reason}}"},
				}},
			{Title: "Unmatched answers by reason", Unit: "cpm", Empty: "none",
				Text: "Unmatched answers per minute. late_timeout: the server answered after the client's deadline, so a longer " +
					"deadline would have helped. late_cancelled: the server ignores notifications/cancelled.",
				Queries: []Query{
					{Expr: perMinute("mcp_client_name, mcp_client_drop_reason", clientLate),
						Legend: "client {{mcp_client_name}} {{mcp_client_drop_reason}}"},
					{Expr: perMinute("mcp_server_name, mcp_server_drop_reason", serverLate),
						Legend: "server {{mcp_server_name}} {{mcp_server_drop_reason}}"},
				}},
			{Title: "Dropped notifications by reason", Unit: "cpm", Empty: "none",
				Text: "Dropped notifications per minute. queue_full: the handlers are slower than the server, or the client " +
					"does not read. coalesced: an equal notification was already queued, which is harmless. not_ready: the " +
					"notification arrived before the handshake was complete. no_stream: the client has no open stream for " +
					"notifications. gap: the client may have missed changes, so it cleared its cache and called its handlers.",
				Queries: []Query{
					{Expr: perMinute("mcp_client_name, mcp_method_name, mcp_client_drop_reason", lostNews),
						Legend: "client {{mcp_client_name}} {{mcp_method_name}} {{mcp_client_drop_reason}}"},
					{Expr: perMinute("mcp_client_name, mcp_client_gap_cause", changeGaps),
						Legend: "client {{mcp_client_name}} gap {{mcp_client_gap_cause}}"},
					{Expr: perMinute("mcp_server_name, mcp_method_name, mcp_server_drop_reason", unsentNews),
						Legend: "server {{mcp_server_name}} {{mcp_method_name}} {{mcp_server_drop_reason}}"},
				}},
			{Title: "Retries by reason", Unit: "cpm", Empty: "none",
				Text: "Retries per minute. header_mismatch: the server and this client disagree about the headers that repeat " +
					"parameters.",
				Queries: []Query{{Expr: perMinute("mcp_client_name, mcp_client_retry_reason", sendRetries),
					Legend: "{{mcp_client_name}} {{mcp_client_retry_reason}}"}}},
			{Title: "Lost audit records", Width: 24, Unit: "cpm", Empty: "none",
				Text: "Calls per minute whose record is missing in the audit file. The log records audit.call with level Error " +
					"contain the reason, such as a full disk, and the content of the missing record.",
				Queries: []Query{
					{Expr: perMinute("mcp_client_name", unrecorded), Legend: "client {{mcp_client_name}}"},
					{Expr: perMinute("mcp_server_name", unkept), Legend: "server {{mcp_server_name}}"},
				}},
		}},
		{"Frames", []Panel{
			{Title: "Frames", Unit: "cps", Empty: "no frames",
				Text: "Frames per second, by direction and kind.",
				Queries: []Query{
					{Expr: sumBy("mcp_client_direction, mcp_client_message_kind", rate(clientSize.count(), perPoint)),
						Legend: "client {{mcp_client_direction}} {{mcp_client_message_kind}}"},
					{Expr: sumBy("mcp_server_direction, mcp_server_message_kind", rate(serverSize.count(), perPoint)),
						Legend: "server {{mcp_server_direction}} {{mcp_server_message_kind}}"},
				}},
			{Title: "Bytes", Unit: "Bps", Empty: "no frames",
				Text: "Bytes of frames per second. If bytes grow much faster than the number of frames, results contain images " +
					"or files.",
				Queries: []Query{
					{Expr: sumBy("mcp_client_name, mcp_client_direction", rate(clientSize.sum(), perPoint)),
						Legend: "client {{mcp_client_name}} {{mcp_client_direction}}"},
					{Expr: sumBy("mcp_server_name, mcp_server_direction", rate(serverSize.sum(), perPoint)),
						Legend: "server {{mcp_server_name}} {{mcp_server_direction}}"},
				}},
			{Title: "Frame size, p99", Unit: "bytes", Empty: "no frames",
				Text: "99 of 100 frames were at most this large, rounded up to the next bucket. If the size is near the frame " +
					"limit, frames will soon exceed the limit.",
				Queries: []Query{
					{Expr: quantile(.99, "mcp_client_name, mcp_client_direction", clientSize, perPoint),
						Legend: "p99 client {{mcp_client_name}} {{mcp_client_direction}}"},
					{Expr: quantile(.99, "mcp_server_name, mcp_server_direction", serverSize, perPoint),
						Legend: "p99 server {{mcp_server_name}} {{mcp_server_direction}}"},
				}},
			{Title: "Remembered calls", Unit: "short", Empty: "no unanswered calls",
				Text: "Ids of calls that ended without an answer. Clients remember them to recognize late answers. The number " +
					"rises after timeouts and cancelled calls, and falls by itself.",
				Queries: []Query{{Expr: sumBy("mcp_client_name", clientEnd("mcp_client_tombstone_kept").String()),
					Legend: "{{mcp_client_name}}"}}},
		}},
		{"Decoding and queues", []Panel{
			{Title: "Decoding, p99", Unit: "s", Empty: "no frames",
				Text: "99 of 100 messages were decoded within this time. It grows with the size of frames. If it grows without " +
					"larger frames, the process lacks CPU time.",
				Queries: []Query{
					{Expr: quantile(.99, "mcp_client_message_kind", clientDecode, perPoint),
						Legend: "p99 client {{mcp_client_message_kind}}"},
					{Expr: quantile(.99, "mcp_server_message_kind", serverDecode, perPoint),
						Legend: "p99 server {{mcp_server_message_kind}}"},
				}},
			{Title: "Decoding failures", Unit: "cpm", Empty: "none",
				Text: "Messages per minute that could not be decoded. The violations above show the reasons.",
				Queries: []Query{
					{Expr: perMinute("mcp_client_name, error_type", clientDecode.with(`error_type!=""`).count()),
						Legend: "client {{mcp_client_name}} {{error_type}}"},
					{Expr: perMinute("mcp_server_name, error_type", serverDecode.with(`error_type!=""`).count()),
						Legend: "server {{mcp_server_name}} {{error_type}}",
						Zero:   "on this side, only the answer to a server's request can fail to decode"},
				}},
			{Title: "Time in the write queue, p99", Unit: "s", Empty: "nothing was sent", Steps: bad(.1, .5),
				Text: "99 of 100 messages waited at most this long in the write queue. If the time is long, the peer reads too " +
					"slowly, or a large message blocks the others.",
				Queries: []Query{
					{Expr: quantile(.99, "mcp_client_name", clientQueue, perPoint), Legend: "p99 client {{mcp_client_name}}"},
					{Expr: quantile(.99, "mcp_server_name", serverQueue, perPoint), Legend: "p99 server {{mcp_server_name}}"},
				}},
			{Title: "Queued messages", Unit: "short", Empty: "no connections",
				Text: "Messages in write queues. If a line stays high, the peer has stopped reading.",
				Queries: []Query{
					{Expr: sumBy("mcp_client_name", clientEnd("mcp_client_send_queue_length").String()),
						Legend: "client {{mcp_client_name}}", Zero: "queues may be empty at every sample"},
					{Expr: sumBy("mcp_server_name", serverEnd("mcp_server_send_queue_length").String()),
						Legend: "server {{mcp_server_name}}", Zero: "queues may be empty at every sample"},
				}},
			{Title: "Series by metric", Kind: BarGauge, Unit: "short", Empty: "no telemetry", Width: 24,
				Text: "The ten metrics with the most series: the cost of the telemetry itself. If a metric keeps growing, one " +
					"of its labels has unbounded values.",
				Queries: []Query{{Expr: "topk(10, count by (__name__) (" + eitherEnd + "))", Legend: "{{__name__}}"}}},
		}},
		{"Missing telemetry", pipeline()},
	},
}
