package bounds

var transportArea = area{
	title: "Transports",
	intro: "Streams of messages in both directions; the server's stdio uses the same reader and writer.",
	rows: []row{
		{
			what:  "A frame that is being read from a stream",
			where: []string{"internal/oversize.Ends.head", "internal/oversize.Ends.tail"},
			bound: "{bytes mcpclient/transport.DefaultFrameLimit}, and up to as much again while the buffer grows; of a " +
				"larger frame, {bytes internal/oversize.Kept} at each end are kept",
			option: "mcpclient.Limits.Frame",
			full:   "the connection ends; with SkipOversize only the frame's call fails",
			test:   "internal/ndjson.TestAnEndlessLineIsReadLittleBeyondTheLimit",
			weighs: "2 * mcpclient/transport.DefaultFrameLimit", holder: ofClient,
		},
		{
			what:  "Buffer of a quiet stream",
			where: []string{"internal/grow.Kept"},
			bound: "{bytes internal/grow.Kept}",
			full:  "a larger buffer is released once frames are small",
			test:  "internal/ndjson.TestLargeBufferIsDroppedAfterSmallFrames",
		},
		{
			what:  "Messages that wait until the peer reads them from a stream",
			where: []string{"internal/ndjson.batch.data", "internal/ndjson.batch.since", "internal/ndjson.batches"},
			bound: "one frame limit, {bytes mcpclient/transport.leastSendQueue} at least; one larger frame is accepted " +
				"if no other frame waits",
			option: "mcpclient.Limits.SendQueue",
			full:   "the transport is busy: ErrBackpressure after three tries, or the call waits (WaitForRoom)",
			test:   "internal/ndjson.TestSendDoesNotWaitForAPeerThatNeverReads",
			weighs: "mcpclient.Limits.Frame", holder: ofClient,
		},
		{
			what:   "Messages that a plan of faults delays, in each direction",
			where:  []string{"mcpclient/transport/chaos.outbox.waiting", "internal/inlet.Conn.waiting"},
			bound:  "{bytes mcpclient/transport/chaos.leastRoom}, or SendQueue if it is more; one larger message waits alone",
			option: "mcpclient.Limits.SendQueue",
			full:   "the transport is busy; no further messages of the server are read",
			test:   "mcpclient/transport/chaos.TestDelayedMessagesAreBounded",
		},
		{
			what:  "Requests with answers that a plan of faults may affect",
			where: []string{"mcpclient/transport/chaos.conn.asked"},
			bound: "{bytes mcpclient/transport/chaos.mostAsked} of names and overhead",
			full:  "answers to further requests are not affected",
			test:  "mcpclient/transport/chaos.TestRetainedRequestsAreBounded",
		},
		{
			what:  "Requests of a recorded client that wait for their answers",
			where: []string{"mcpproxy.recordedConn.open"},
			bound: "{mcpproxy.maxOpen}, each with an id of at most {bytes mcpproxy.maxOpenID}",
			full:  "the recording lacks the answers to further requests",
			test:  "mcpproxy.TestRecordedRequestsAreBounded",
		},
		{
			what: "Waiting messages of in-memory transports", where: []string{"mcpclient/transport.lane.frames"},
			bound: "as on a stream; {bytes mcpclient/transport.laneOverhead} more are counted for each message. In the " +
				"other direction, one frame",
			option: "mcpclient.Limits.SendQueue",
			full:   "the transport is busy", test: "mcpclient/transport.TestLaneIsABoundedQueue",
		},
		{
			what: "Requests over HTTP in flight", where: []string{"mcpclient/transport.HTTP.MaxInFlight"},
			bound:  "{mcpclient/transport.maxInFlight}, their lingering streams included",
			option: "mcpclient/transport.HTTP.MaxInFlight",
			full:   "further requests are queued", test: "mcpclient/transport.TestHTTPRequestsAreQueuedForSlot",
		},
		{
			what: "Requests over HTTP that are queued", where: []string{"mcpclient/transport.line.waiting"},
			bound: "{bytes mcpclient/transport.lineSpace}, or one frame limit if that is more; {bytes " +
				"mcpclient/transport.lineEach} more are counted for each",
			full: "the transport is busy", test: "mcpclient/transport.TestHTTPSendIsBusyWhenQueueIsFull",
		},
		{
			what:   "Streams that are still open after their answer",
			where:  []string{"mcpclient/transport.lingering.old", "mcpclient/transport.lingering.young"},
			bound:  "the places that MaxInFlight leaves, {time mcpclient/transport.lingerWait} to twice that each",
			option: "mcpclient/transport.HTTP.MaxInFlight",
			full:   "the oldest stream is closed when its place is needed",
			test:   "mcpclient/transport.TestHTTPLingeringStreamsCountAsInFlight",
		},
		{
			what: "An answer over HTTP", where: []string{"mcpclient/transport.worker.body"},
			bound: "one frame limit; memory grows with the received bytes, not with Content-Length. {bytes " +
				"internal/grow.Kept} are kept for reuse",
			option: "mcpclient.Limits.Frame",
			full:   "its call fails",
			test:   "mcpclient/transport.TestHTTPContentLengthDoesNotPreallocate",
		},
		{
			what: "The header of an answer over HTTP", where: []string{"mcpclient/transport.maxHeader"},
			bound: "{bytes mcpclient/transport.maxHeader}, unless http.DefaultTransport or your own client " +
				"has another limit",
			full:   "its call fails",
			option: "mcpclient/transport.HTTP.Client", test: "mcpclient/transport.TestHTTPHeadersOfAnswersAreBounded",
		},
		{
			what: "A refusal over HTTP", where: []string{"mcpclient/transport.errorBody"},
			bound: "{bytes mcpclient/transport.errorBody} are read for a JSON-RPC message, {bytes " +
				"mcpclient/transport.excerptOf} of another body are in the error",
			full: "the rest is not read", test: "mcpclient/transport.TestHTTPFrameLimitIsExact",
		},
		{
			what:  "An event of a stream of server-sent events",
			where: []string{"internal/sse.Reader.data"},
			bound: "one frame limit of data, fields of {bytes internal/sse.maxField}; each stream delivers one event at a " +
				"time",
			option: "mcpclient.Limits.Frame",
			full:   "its call fails; of the event, {bytes internal/oversize.Kept} at each end are kept",
			test:   "mcpclient/transport.TestHTTPStreamsBufferOneFrameEach",
		},
		{
			what: "Network connections to one origin", where: []string{"mcpclient/transport.origins.clients"},
			bound: "{mcpclient/transport.idleConns} idle connections, shared by all clients of the origin",
			full:  "further connections are closed when they become idle",
			test:  "mcpclient/transport.TestHTTPConnectionsToOneOriginShareIdleConnections",
		},
		{
			what: "Standard error of a server", where: []string{"mcpclient/transport.maxLine"},
			bound: "lines of {bytes mcpclient/transport.maxLine}; {bytes mcpclient/transport.keptLine} of each of the " +
				"last lines are remembered",
			full: "a longer line is recorded in pieces",
			test: "mcpclient/transport.TestStderrWithoutNewlineIsDrainedInPieces",
		},
	},
}

var authArea = area{
	title: "Authorization",
	intro: "Data from servers and authorization servers in a client, and from tokens in a server.",
	rows: []row{
		{
			what:  "A document of an authorization server",
			where: []string{"mcpclient/auth/internal/metadata.DefaultSizeLimit"},
			bound: "{bytes mcpclient/auth/internal/metadata.DefaultSizeLimit}, headers too, " +
				"{mcpclient/auth/internal/metadata.maxRedirects} redirects, {time " +
				"mcpclient/auth/internal/metadata.DefaultTimeout}",
			full: "the step fails", test: "mcpclient/auth/internal/metadata.TestResponsesOverTheSizeLimitAreErrors",
			weighs: "2 * mcpclient/auth/internal/metadata.DefaultSizeLimit", holder: ofClient,
		},
		{
			what: "Scopes that were requested recently", where: []string{"mcpclient/auth.Authorizer.requestedAt"},
			bound: "the scopes of {mcpclient/auth.budgetSize} authorizations in {time mcpclient/auth.budgetPeriod}, for {time " +
				"mcpclient/auth.scopePause}",
			full: "no authorization begins", test: "mcpclient/auth.TestBudgetLimitsAttemptsInEveryWindow",
		},
		{
			what: "Nonces of servers that require DPoP", where: []string{"mcpclient/auth/internal/dpop.Nonces.latest"},
			bound: "{mcpclient/auth/internal/dpop.maxOrigins} origins, each of {bytes " +
				"mcpclient/auth/internal/dpop.maxNonce}",
			full:   "an origin is forgotten, which costs one more round trip to it",
			test:   "mcpclient/auth/internal/dpop.TestNoncesAreKeptForABoundedNumberOfOrigins",
			weighs: "mcpclient/auth/internal/dpop.maxOrigins * mcpclient/auth/internal/dpop.maxNonce", holder: ofClient,
		},
		{
			what:  "Tokens in files",
			where: []string{"mcpclient/auth.recordLimit"},
			bound: "{bytes mcpclient/auth.recordLimit} a record",
			full:  "the file counts as corrupt", test: "mcpclient/auth.TestCorruptFileIsReportedAndReplaced",
		},
		{
			what:  "A bearer token of a request",
			where: []string{"mcpserver/bearer.maxToken"},
			bound: "{bytes mcpserver/bearer.maxToken}",
			full:  "401", test: "mcpserver/bearer.FuzzAuthorization",
		},
		{
			what: "Keys that sign tokens", where: []string{"mcpserver/bearer.keysLimit"},
			bound: "{bytes mcpserver/bearer.keysLimit} of one set; {mcpserver/bearer.maxCandidate} keys are tried for a token; " +
				"the set is fetched every {time mcpserver/bearer.keysPause} at most",
			full: "the set is ignored; tokens are verified with the previous set, or refused",
			test: "mcpserver/bearer.TestFetchedKeys",
		},
	},
}

var telemetryArea = area{
	title: "Telemetry and inspection",
	intro: "Data that telemetry and inspections keep. For the series of metrics, see " +
		"[telemetry.md](telemetry.md).",
	rows: []row{
		{
			what: "Log records that wait for a slow handler", where: []string{"internal/instrument/records.Queue.waiting"},
			bound:  "{internal/instrument/records.MaxRecords}, and {bytes internal/instrument/records.MaxBytes}",
			full:   "further records are dropped; a later record has their number",
			test:   "internal/instrument.TestDroppedRecordsAreCounted",
			weighs: "internal/instrument/records.MaxBytes",
			holder: ofClient,
		},
		{
			what: "A record of an audit log", where: []string{"internal/auditlog.Log.buf"},
			bound: "{bytes internal/auditlog.MaxLine}, for all clients and servers of the log; the arguments of a call are " +
				"copied once for their hash, within the limits for messages",
			full: "the record is lost; the next record has the number of lost records",
			test: "internal/auditlog.TestOversizedRecordIsLostAlone",
		},
		{
			what:  "Spans without a sampling decision, with tail sampling",
			where: []string{"mcpclient/telemetry/tailsampling.forest.open"},
			bound: "{bytes mcpclient/telemetry/tailsampling.DefaultMaxBytes}, all of a process",
			full:  "the spans that ended first are counted and not exported",
			test:  "mcpclient/telemetry/tailsampling.TestForestIsBounded",
		},
		{
			what:  "Ids of sampled spans, for the decision about later spans",
			where: []string{"mcpclient/telemetry/tailsampling.recent.set"},
			bound: "{mcpclient/telemetry/tailsampling.remembered} ids",
			full:  "the oldest is forgotten",
			test:  "mcpclient/telemetry/tailsampling.TestRecentKeepsLatestSpans",
		},
		{
			what: "The flight recorder",
			where: []string{"internal/instrument/flight.Recorder.ring",
				"internal/instrument/flight.Recorder.traces"},
			bound: "{mcpclient/telemetry.FlightSize} entries a client or connection; names of {bytes " +
				"internal/instrument/words.MaxName}, URIs of {bytes " +
				"internal/instrument/words.MaxURI}, messages of {bytes " +
				"internal/instrument/words.MaxMessage}",
			full: "the oldest is dropped", test: "internal/instrument.TestTelemetryRetainsNoFrameMemory",
			weighs: "mcpclient/telemetry.FlightSize * 2048", holder: ofClient,
		},
		{
			what: "Names of tools, methods, outcomes, versions and values of a label that metrics and statistics distinguish",
			where: []string{"internal/instrument/series.table.m", "internal/instrument.interned.all",
				"mcpclient/telemetry.Operation.Errors"},
			bound: "{mcpclient/telemetry.DefaultToolNameLimit} tools, " +
				"{internal/instrument/words.MaxMethods} methods, " +
				"{internal/instrument/words.MaxStrangers} outcomes, " +
				"{internal/instrument/words.MaxFacts} versions and " +
				"{internal/instrument/words.MaxLabels} values of a label, cloned; " +
				"{internal/instrument/words.MaxSeries} series a metric",
			option: "mcpclient/telemetry.WithToolNameLimit",
			full:   "all others become _OTHER",
			test:   "internal/instrument.TestStatisticsAreBounded",
		},
		{
			what:  "Sizes of the tools that a server listed last, with WithContextCost",
			where: []string{"internal/instrument.toolSizes.each"},
			bound: "{mcpclient/telemetry.DefaultToolNameLimit} tools and one for the others, names of {bytes " +
				"internal/instrument/words.MaxName}, cloned; replaced by each complete list",
			option: "mcpclient/telemetry.WithToolNameLimit",
			full:   "the others are added up as _OTHER",
			test:   "internal/instrument.TestToolListIsBoundedAndRetainsNoFrameMemory",
		},
		{
			what: "Attribute sets of metrics, of all clients and servers together",
			where: []string{"internal/instrument/series.Budget.taken", "internal/instrument.gauges.shown",
				"internal/instrument/series.Groups.set", "internal/instrument.processTimes.closed"},
			bound: "{internal/instrument/words.MaxSets} for each instrument, and " +
				"{internal/instrument/words.MaxGroups} groups",
			full: "names of tools, and then of clients, become _OTHER",
			test: "internal/instrument.TestMetricsNeverOverflow",
		},
		{
			what: "Meters whose instruments are remembered", where: []string{"internal/instrument.recent.all"},
			bound: "{internal/instrument.maxRecent}",
			full:  "the meter used first is forgotten; if it is used again, it gets a new budget",
			test:  "internal/instrument.TestTelemetriesOfOneMeterShareBudget",
		},
		{
			what: "Written warnings about a peer", where: []string{"internal/instrument/records.Limiter.buckets"},
			bound: "a bucket for each event and reason of the schema; 5 warnings at once, and one a second",
			full:  "further warnings are counted; the next warning has their number",
			test:  "internal/instrument/records.TestLimiterAllowsBurstOfFiveThenOneASecond",
		},
		{
			what: "Trace context from a peer",
			where: []string{"internal/instrument/propagate.maxTracestate", "internal/instrument/propagate.maxBaggage",
				"internal/instrument/propagate.maxPropagated", "internal/instrument/propagate.maxPropagatedBytes",
				"internal/instrument/propagate.carrier.others", "internal/instrument/propagate.TraceContext.Others",
				"mcpclient/transport.Config.Propagated", "mcpclient/transport.Message.Propagated",
				"internal/jsonrpc.Meta.Propagated"},
			bound: "tracestate of {bytes internal/instrument/propagate.maxTracestate}, baggage of {bytes " +
				"internal/instrument/propagate.maxBaggage}, {internal/instrument/propagate.maxPropagated} keys of other " +
				"propagators with {bytes internal/instrument/propagate.maxPropagatedBytes} in all",
			full: "whole members are omitted",
			test: "internal/instrument.TestReceivedTracestateAndBaggageAreBounded",
		},
		{
			what:  "Contents of messages on spans, with content capture",
			where: []string{"internal/instrument.maxContent"},
			bound: "{bytes internal/instrument.maxContent} each",
			full:  "longer contents are cut",
			test:  "mcpserver.TestRedactorOutputIsRecordedAndTruncated",
		},
		{
			what: "Lists of an inspection", where: []string{"inspect.MaxListed"},
			bound: "{inspect.MaxListed} entries, texts of {bytes internal/client/conn.MaxShown}, errors of {bytes " +
				"internal/client/conn.MaxErrorText}",
			full: "the inspection has the total number",
			test: "mcpclient.TestInspectIsBounded",
		},
	},
}
