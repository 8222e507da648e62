package bounds

var schemaArea = area{
	title: "JSON and schemas",
	intro: "The cost of decoding and validating a message. Both the schema and the value come from the peer.",
	rows: []row{
		{
			what:  "Depth of JSON",
			where: []string{"internal/jsonscan.MaxDepth"},
			bound: "{internal/jsonscan.MaxDepth} nested arrays and objects",
			full:  "the message is malformed",
			test:  "internal/jsonscan.TestNestingIsLimitedWithoutRecursion",
		},
		{
			what:  "Memory for the values decoded from a text",
			where: []string{"internal/weigh.Free", "internal/weigh.Factor"},
			bound: "{bytes internal/weigh.Free}, or {internal/weigh.Factor} times the text if that is more",
			full:  "the text is not decoded: the call fails with a KindProtocol error, or the arguments are refused",
			test:  "mcpclient.TestResultDecodingMemoryIsBounded",
		},
		{
			what:  "Values of a completion",
			where: []string{"mcp.maxCompletions"},
			bound: "{mcp.maxCompletions}",
			full:  "only the first are decoded, and HasMore is true",
			test:  "mcpclient.TestResultDecodingMemoryIsBounded",
		},
		{
			what:  "Objects in one list of a result, and strings in the lists of tools and annotations",
			where: []string{"mcp.maxObjects"},
			bound: "{mcp.maxObjects} of each",
			full:  "the result does not decode",
			test:  "mcp.TestDecodingALongListTakesBoundedMemory",
		},
		{
			what: "A schema", where: []string{"internal/schema.builder.nodes"},
			bound: "{bytes internal/schema.MaxBytes}, {internal/schema.MaxSubschemas} subschemas, patterns of {bytes " +
				"internal/schema.maxPattern} and {internal/schema.maxProgram} instructions",
			full: "the schema does not compile, and the results of its tool are not checked: the error has the reason",
			test: "internal/schema.TestCompileBoundsTheSchema",
		},
		{
			what: "Work and memory for validating a value", where: []string{"internal/schema.baseWork"},
			bound: "{internal/schema.baseWork} steps, and more for each byte of the value and for the exponents of numbers; " +
				"{internal/schema.MaxInstanceDepth} deep; the context is checked every {internal/schema.stepsPerLook} steps",
			full: "the validation ends with an error", test: "internal/schema.FuzzValidate",
		},
		{
			what: "Defaults for the fields of a form", where: []string{"internal/schema.MaxDefaults"},
			bound: "{internal/schema.MaxDefaults}, and {bytes internal/schema.MaxDefaultBytes}",
			full:  "the form ends with an error",
			test:  "internal/schema.TestDefaultsAreBounded",
		},
		{
			what:  "Parameters that HTTP headers repeat",
			where: []string{"internal/mirror.MaxValues"},
			bound: "{bytes internal/mirror.MaxValues} a call, names of {bytes internal/mirror.MaxName}",
			full:  "the call fails", test: "internal/mirror.TestParamsAreLimitedInNumber",
		},
	},
}

var viewerArea = area{
	title: "The viewer",
	intro: "mcpotel view: an OTLP receiver on loopback.",
	rows: []row{
		{
			what: "A request of telemetry", where: []string{"internal/otlpsink.maxUnpacked", "internal/otlpsink.inLine"},
			bound: "{bytes internal/otlpsink.maxMessage} as received, {bytes internal/otlpsink.maxUnpacked} unpacked, " +
				"{internal/otlpsink.maxNesting} nested values; {internal/otlpsink.atOnce} requests at once",
			full: "the request is refused; further requests wait", test: "internal/otlpsink.TestDecompressionIsBounded",
		},
		{
			what:  "A response of Jaeger",
			where: []string{"internal/command/traceview.maxAnswer", "internal/command/traceview.maxValues"},
			bound: "{bytes internal/command/traceview.maxAnswer} of text, {bytes internal/command/traceview.maxValues} as values, all its " +
				"parts together",
			full: "the page shows an error", test: "internal/command/traceview.TestJaegerAnswerMemoryIsBounded",
		},
		{
			what:  "Answers of a debug page or a page of traces to an inspector",
			where: []string{"internal/inspector.maxPages", "internal/inspector.maxValues"},
			bound: "{bytes internal/inspector.maxPages} of text, {bytes internal/inspector.maxValues} as values, for all " +
				"answers to one question; one question at a time",
			full: "the answer omits the source, and names it as missing",
			test: "internal/inspector.TestDebugPageMemoryIsBounded",
		},
		{
			what: "Spans, points and records", where: []string{"internal/otlpsink.quota.messages"},
			bound: "{internal/otlpsink.defaultLimit} of each, and {bytes internal/otlpsink.maxBytes} of each as they " +
				"were sent",
			full: "the oldest are dropped and counted",
			test: "internal/otlpsink.TestOldestSpansAreDroppedAboveTheByteLimit",
		},
		{
			what: "Series, and the content of a page", where: []string{"internal/command/traceview.maxKept"},
			bound: "{internal/command/traceview.maxKept} series of {internal/command/traceview.maxProcesses} processes; a page " +
				"{internal/command/traceview.maxTraces} traces, {internal/command/traceview.maxRows} spans, {internal/command/traceview.maxRecords} " +
				"records and {bytes internal/command/traceview.pageBudget} of values",
			full: "the page has the total number", test: "internal/command/traceview.TestTooManySeriesAreCountedNotKept",
		},
		{
			what: "Alerts that `mcpotel explain` receives and remembers",
			where: []string{"internal/command/receiver.maxBody", "internal/command/receiver.maxValues",
				"internal/command/receiver.deliveries.known"},
			bound: "{internal/command/receiver.maxRequests} requests at once, each of {bytes internal/command/receiver.maxBody}, " +
				"{bytes internal/command/receiver.maxValues} as values, and {internal/command/receiver.maxAlerts} alerts; " +
				"{internal/command/receiver.maxDeliveries} alerts are remembered",
			full: "a larger request is refused with 413, and further requests wait; the alert that was not sent for the longest " +
				"time is forgotten",
			test: "internal/command/receiver.TestManyAlertsAreRemembered",
		},
		{
			what: "Calls and frames of `mcpotel inspect`", where: []string{
				"internal/command/inspectview.Session.operations", "internal/command/inspectview.frames.all"},
			bound: "{internal/command/inspectview.maxOperations} calls with {bytes internal/command/inspectview.maxResultRoom} of " +
				"results; {internal/command/inspectview.maxFrames} frames with {bytes internal/command/inspectview.maxFrameRoom}",
			full: "the oldest are dropped; a call is refused if {internal/command/inspectview.maxInFlight} are in flight",
			test: "internal/command/inspectview.TestSessionKeepsWithinItsBounds",
		},
	},
}
