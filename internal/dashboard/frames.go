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
	lostNews, unsentNews = clientEnd("mcp_client_notification_drops_total"),
		serverEnd("mcp_server_notification_drops_total")
)

var frames = Dashboard{
	UID: "frames", Title: "MCP frames and decode",
	Description: "Below the operations: frames, their sizes, decoding, queues, and whatever broke the protocol or went " +
		"to nobody.",
	Variables: variables(eitherService, eitherClient, eitherServer),
	Rows: []Row{
		{"Should all be nothing", []Panel{
			firing,
			{Title: "Violations", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 10),
				Text: "Frames that broke the protocol, in the time shown. The peer is at fault, or something that writes " +
					"into the pipe, such as a print to standard output.",
				Queries: []Query{{Expr: sumBy("", either(growth(clientBroken, perRange), growth(serverBroken, perRange)))}}},
			{Title: "Answers to nobody", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 100),
				Text: "Responses that nobody waited for. Late ones follow timeouts and cancelled calls; unknown and repeated " +
					"ones are a defect of the peer.",
				Queries: []Query{{Expr: sumBy("", either(growth(clientLate, perRange), growth(serverLate, perRange)))}}},
			{Title: "Lost notifications", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(1, 100),
				Text: "Notifications that did not reach a client's handlers, or that a server could not send because a " +
					"client does not read.",
				Queries: []Query{{Expr: sumBy("",
					either(growth(lostNews.with(`mcp_client_drop_reason!="coalesced"`), perRange),
						growth(unsentNews.with(`mcp_server_drop_reason="queue_full"`), perRange)))}}},
			{Title: "Sent again", Kind: Stat, Unit: "short", Empty: "none", Steps: bad(10, 1000),
				Text: "Further tries to send a message. busy: this side writes more than the transport takes. server_busy: " +
					"the server answers 429 or 503.",
				Queries: []Query{{Expr: sumBy("", growth(sendRetries, perRange))}}},
			{Title: "Overflowing metrics", Kind: Stat, Unit: "short", Empty: "none", Steps: never,
				Text: "Metrics with more series than the SDK's limit: what came later is in one series with " +
					"otel_metric_overflow, and the other panels do not tell it apart.",
				Queries: []Query{{Expr: `count(count by (job, __name__) ({__name__=~"mcp_(client|server)_.+",` +
					`otel_metric_overflow="true",` + inClients + `}))`, Zero: "the library's own limits keep below the SDK's"}}},
			{Title: "Violations by reason", Unit: "cpm", Empty: "none",
				Text: "Frames that broke the protocol, in a minute. The log records mcp_client.protocol.violation " +
					"have size and limit. frame_too_large: raise the limit, if the peer is right to send so much.",
				Queries: []Query{
					{Expr: perMinute("mcp_client_name, mcp_client_violation_reason, mcp_client_direction", clientBroken),
						Legend: "client {{mcp_client_name}} {{mcp_client_direction}} {{mcp_client_violation_reason}}"},
					{Expr: perMinute("mcp_server_name, mcp_server_violation_reason, mcp_server_direction", serverBroken),
						Legend: "server {{mcp_server_name}} {{mcp_server_direction}} {{mcp_server_violation_reason}}"},
				}},
			{Title: "Answers to nobody by reason", Unit: "cpm", Empty: "none",
				Text: "In a minute. late_timeout: the server answers after the client's deadline, so a longer one " +
					"would have helped. late_cancelled: it does not heed notifications/cancelled.",
				Queries: []Query{
					{Expr: perMinute("mcp_client_name, mcp_client_drop_reason", clientLate),
						Legend: "client {{mcp_client_name}} {{mcp_client_drop_reason}}"},
					{Expr: perMinute("mcp_server_name, mcp_server_drop_reason", serverLate),
						Legend: "server {{mcp_server_name}} {{mcp_server_drop_reason}}"},
				}},
			{Title: "Dropped notifications by reason", Unit: "cpm", Empty: "none",
				Text: "In a minute. queue_full: handlers are slower than the server talks, or the client does not " +
					"read. coalesced: one like it was waiting already, which is fine. not_ready: it came before the connection was " +
					"negotiated. no_stream: the client listens to none. A gap: the client may have missed changes, and has cleared " +
					"its cache and called its handlers.",
				Queries: []Query{
					{Expr: perMinute("mcp_client_name, mcp_method_name, mcp_client_drop_reason", lostNews),
						Legend: "client {{mcp_client_name}} {{mcp_method_name}} {{mcp_client_drop_reason}}"},
					{Expr: perMinute("mcp_client_name, mcp_client_gap_cause", changeGaps),
						Legend: "client {{mcp_client_name}} gap {{mcp_client_gap_cause}}"},
					{Expr: perMinute("mcp_server_name, mcp_method_name, mcp_server_drop_reason", unsentNews),
						Legend: "server {{mcp_server_name}} {{mcp_method_name}} {{mcp_server_drop_reason}}"},
				}},
			{Title: "Sent again by reason", Unit: "cpm", Empty: "none",
				Text: "In a minute. header_mismatch: the server and this client disagree about the headers that " +
					"repeat parameters.",
				Queries: []Query{{Expr: perMinute("mcp_client_name, mcp_client_retry_reason", sendRetries),
					Legend: "{{mcp_client_name}} {{mcp_client_retry_reason}}"}}},
		}},
		{"Frames", []Panel{
			{Title: "Frames", Unit: "cps", Empty: "no frames",
				Text: "Frames in a second, by direction and kind.",
				Queries: []Query{
					{Expr: sumBy("mcp_client_direction, mcp_client_message_kind", rate(clientSize.count(), perPoint)),
						Legend: "client {{mcp_client_direction}} {{mcp_client_message_kind}}"},
					{Expr: sumBy("mcp_server_direction, mcp_server_message_kind", rate(serverSize.count(), perPoint)),
						Legend: "server {{mcp_server_direction}} {{mcp_server_message_kind}}"},
				}},
			{Title: "Bytes", Unit: "Bps", Empty: "no frames",
				Text: "Bytes of frames in a second. Far more than the rate of frames would say: " +
					"results with images or files in them.",
				Queries: []Query{
					{Expr: sumBy("mcp_client_name, mcp_client_direction", rate(clientSize.sum(), perPoint)),
						Legend: "client {{mcp_client_name}} {{mcp_client_direction}}"},
					{Expr: sumBy("mcp_server_name, mcp_server_direction", rate(serverSize.sum(), perPoint)),
						Legend: "server {{mcp_server_name}} {{mcp_server_direction}}"},
				}},
			{Title: "Size of frames, p99", Unit: "bytes", Empty: "no frames",
				Text: "99 of 100 frames were at most this large, to the next bucket. Near the limit for frames: it will be " +
					"exceeded.",
				Queries: []Query{
					{Expr: quantile(.99, "mcp_client_name, mcp_client_direction", clientSize, perPoint),
						Legend: "p99 client {{mcp_client_name}} {{mcp_client_direction}}"},
					{Expr: quantile(.99, "mcp_server_name, mcp_server_direction", serverSize, perPoint),
						Legend: "p99 server {{mcp_server_name}} {{mcp_server_direction}}"},
				}},
			{Title: "Remembered calls", Unit: "short", Empty: "no call was given up",
				Text: "Ids of calls that ended without an answer, kept to know a late one by. It follows timeouts and " +
					"cancelled calls, and falls by itself.",
				Queries: []Query{{Expr: sumBy("mcp_client_name", clientEnd("mcp_client_tombstone_kept").String()),
					Legend: "{{mcp_client_name}}"}}},
		}},
		{"Decoding and queues", []Panel{
			{Title: "Decoding, p99", Unit: "s", Empty: "no frames",
				Text: "99 of 100 messages were decoded within this time. It grows with the size of frames; if it does without, " +
					"the process has no processor to run on.",
				Queries: []Query{
					{Expr: quantile(.99, "mcp_client_message_kind", clientDecode, perPoint),
						Legend: "p99 client {{mcp_client_message_kind}}"},
					{Expr: quantile(.99, "mcp_server_message_kind", serverDecode, perPoint),
						Legend: "p99 server {{mcp_server_message_kind}}"},
				}},
			{Title: "Could not be decoded", Unit: "cpm", Empty: "none",
				Text: "Messages in a minute. The violations above say why.",
				Queries: []Query{
					{Expr: perMinute("mcp_client_name, error_type", clientDecode.with(`error_type!=""`).count()),
						Legend: "client {{mcp_client_name}} {{error_type}}"},
					{Expr: perMinute("mcp_server_name, error_type", serverDecode.with(`error_type!=""`).count()),
						Legend: "server {{mcp_server_name}} {{error_type}}",
						Zero:   "only an answer to a question of the server can fail to be decoded there"},
				}},
			{Title: "Waiting to be written, p99", Unit: "s", Empty: "nothing was sent", Steps: bad(.1, .5),
				Text: "99 of 100 messages waited at most this long. High: the peer reads too slowly, or a large message is in " +
					"front of the others.",
				Queries: []Query{
					{Expr: quantile(.99, "mcp_client_name", clientQueue, perPoint), Legend: "p99 client {{mcp_client_name}}"},
					{Expr: quantile(.99, "mcp_server_name", serverQueue, perPoint), Legend: "p99 server {{mcp_server_name}}"},
				}},
			{Title: "Messages that wait", Unit: "short", Empty: "nothing is connected",
				Text: "Messages in write queues. A line that stays up: the peer has stopped reading.",
				Queries: []Query{
					{Expr: sumBy("mcp_client_name", clientEnd("mcp_client_send_queue_length").String()),
						Legend: "client {{mcp_client_name}}", Zero: "queues may be empty whenever they are looked at"},
					{Expr: sumBy("mcp_server_name", serverEnd("mcp_server_send_queue_length").String()),
						Legend: "server {{mcp_server_name}}", Zero: "queues may be empty whenever they are looked at"},
				}},
			{Title: "Series by metric", Kind: BarGauge, Unit: "short", Empty: "no telemetry", Width: 24,
				Text: "The ten metrics with the most series: what the telemetry itself costs. One that grows with time: a " +
					"name without bound has become a label.",
				Queries: []Query{{Expr: "topk(10, count by (__name__) (" + eitherEnd + "))", Legend: "{{__name__}}"}}},
		}},
		{"Telemetry that is missing", pipeline()},
	},
}
