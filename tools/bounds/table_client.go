package bounds

var clientArea = area{
	title: "The client",
	intro: "What a client holds for the one server it is connected to, and what it does with lists that have many pages.",
	rows: []row{
		{
			what: "Notifications that wait for their handlers", where: []string{"mcpclient.notifyQueue.waiting"},
			bound: "{mcpclient.Limits.Notifications}, and {bytes mcpclient.DefaultFrameLimit} of frames, or one " +
				"frame limit if that is more",
			option: "mcpclient.Limits.NotificationBytes",
			full: "list-changed and updated notifications are coalesced, the oldest progress and log messages dropped, " +
				"then the new one; counted",
			test:   "mcpclient.TestQueueAtByteLimitDropsMissableNotifications",
			weighs: "mcpclient.Limits.Frame", holder: ofClient,
		},
		{
			what:  "Requests of the server that are answered at once",
			where: []string{"internal/client/serving.Requests.running"},
			bound: "{mcpclient.servedAtOnce}, or {internal/relay/upstream.servedAtOnce} if they are passed on, and {bytes " +
				"mcpclient.DefaultFrameLimit} of their frames, or one frame limit if that is more",
			option: "mcpclient.Limits.Frame", full: "the server gets an error",
			test:   "mcpclient.TestInputRequestsInOneAnswerAreBounded",
			weighs: "mcpclient.DefaultFrameLimit", holder: ofClient,
		},
		{
			what:  "What a client restores that passes messages on: a log level, resources and subscriptions",
			where: []string{"internal/relay/upstream.restored.watched", "internal/relay/upstream.restored.listens"},
			bound: "{bytes internal/relay/upstream.restoredBytes} of params", full: "the others are not restored",
			test: "internal/relay/upstream.TestRestoredStateIsBounded",
		},
		{
			what:  "Requests on their way that have asked for progress or log messages, in a client that passes messages on",
			where: []string{"internal/relay/upstream.wishes.progress", "internal/relay/upstream.wishes.logs"},
			bound: "one for each request on its way, with {bytes internal/relay/upstream.maxToken} of its token",
			full:  "progress under a longer token belongs to no request",
			test:  "internal/relay/upstream.TestLongTokenIsNotTracked",
		},
		{
			what:  "Parameters of tools that a client repeats in headers for a host that does not, when it passes messages on",
			where: []string{"internal/relay/upstream.tools.byName"},
			bound: "{bytes internal/relay/upstream.toolRoom}", full: "calls of the other tools have no such headers",
			test: "internal/relay/upstream.TestMemoryForToolsIsBounded",
		},
		{
			what:  "Answers to a batch of the server's (revision 2025-03-26)",
			where: []string{"internal/client/conn.batchAnswer.frames"},
			bound: "{internal/client/conn.MaxBatchRequests} requests, {mcpclient.servedAtOnce} of which are handled at once",
			full:  "the others are refused one by one", test: "mcpclient.TestRequestsOfABatchAreBounded",
		},
		{
			what:   "Results that are kept because the server said that they are fresh",
			where:  []string{"mcpclient.keptResults.results", "mcpclient.keptResults.recent"},
			bound:  "{bytes mcpclient.Options.CacheSize}; none larger than a quarter of that",
			option: "mcpclient.Options.CacheSize",
			full:   "what has not been used for the longest time makes room", test: "mcpclient.TestCacheKeepsMostRecentlyUsedResults",
			weighs: "mcpclient.Options.CacheSize", holder: ofClient,
		},
		{
			what:  "What is known of the server's tools: output schemas, mirrored parameters",
			where: []string{"mcpclient.toolTable.list", "mcpclient.toolTable.m"},
			bound: "{bytes mcpclient.toolRoom}, for a complete list and for the one being fetched; replaced by each " +
				"complete list",
			full:   "names are kept without the rest, then nothing; a call of such a tool lists anew",
			test:   "mcpclient.TestToolsAreListedAgainIfSchemaCacheIsFull",
			weighs: "2 * mcpclient.toolRoom", holder: ofClient,
		},
		{
			what:  "What the pages of the latest list of tools take of a model's context, if a meter or an inspection asks",
			where: []string{"mcpclient.knownTools.weighed"},
			bound: "sums of {mcpclient.weighedPages} pages; with telemetry.WithContextCost the sizes of the tools whose names " +
				"metrics tell apart, for each page",
			full: "pages beyond are weighed each time",
			test: "mcpclient.TestUnchangedListIsMeasuredOnce",
		},
		{
			what: "Calls in which a loop is looked for, with UseLoopDetection", where: []string{
				"mcpclient/internal/loops.Ring.calls", "mcpclient/internal/loops.Talks.all"},
			bound: "hashes of {mcpclient/internal/loops.Size} calls, for each of {mcpclient/internal/loops.MaxTalks} " +
				"conversations and for the calls of none",
			full: "the oldest call, or the conversation not used for the longest time, is forgotten",
			test: "mcpclient/internal/loops.TestConversationsAreBounded",
		},
		{
			what: "Fingerprints of the server's tools, for clients with UseDriftDetection",
			where: []string{"mcpclient.driftListing.prints", "mcpclient.driftListing.definitions",
				"mcpclient.driftWatch.listed", "mcpclient.driftWatch.refused"},
			bound: "{bytes mcpclient.driftRoom}, for the last list, for what of it and of what was accepted before is " +
				"refused, and for the list being fetched, whose definitions are kept until it has been compared",
			full: "the others are taken for tools that the server does not have",
			test: "mcpclient.TestFingerprintsOfAListAreBounded",
		},
		{
			what:  "Replaced subscriptions that a client still reads, and the changes that newer ones have brought",
			where: []string{"mcpclient.opening.replaced", "mcpclient.replaced.heard"},
			bound: "{mcpclient.maxReplaced} subscriptions, each for {time mcpclient.overlap}, with the lists and the URIs of " +
				"its filter",
			full: "the oldest ends, and counts as a gap",
			test: "mcpclient.TestReplacedSubscriptionsAreBounded",
		},
		{
			what: "Cursors and names of a list that is walked", where: []string{"mcpclient.walk.seen", "mcpclient.walk.yielded"},
			bound: "a list has {mcpclient.maxPages} pages, {mcpclient.maxItems} items and answers of " +
				"{mcpclient.maxListFrames} frame limits together; cursors and names are kept as hashes",
			option: "mcpclient.Limits.Frame",
			full: "the list ends with a KindProtocol error, as it does with a cursor that comes twice and at its " +
				"deadline",
			test: "mcpclient.TestEveryListIsBounded",
		},
		{
			what: "Reports of progress that wait for a caller", where: []string{"internal/client/conn.progressQueue.reports"},
			bound: "{internal/client/conn.ProgressKept} a call, and {bytes " +
				"internal/client/conn.progressBytes} of their texts, or the latest " +
				"alone",
			full: "the oldest give way, counted",
			test: "internal/client/conn.TestLatestProgressReportsAreKept",
		},
		{
			what: "Requests in one answer that asks for input", where: []string{"mcpclient.maxInputs"},
			bound: "{mcpclient.maxInputs}, {bytes mcpclient.maxInputBytes} in all, keys of {bytes " +
				"mcpclient.maxInputKey}; {mcpclient.Limits.InputRounds} rounds a call",
			option: "mcpclient.Limits.InputRounds",
			full:   "the call fails with a KindProtocol error",
			test:   "mcpclient.TestInputRequestsInOneAnswerAreBounded",
		},
		{
			what: "Inputs of a task that are answered", where: []string{"mcpclient.Task.answered", "mcpclient.Task.answers"},
			bound: "{mcpclient.maxTaskInputs} a task, keys of {bytes mcpclient.maxInputKey}",
			full:  "waiting for the task fails with a KindProtocol error",
			test:  "mcpclient.TestInputRequestsOfATaskAreBounded",
		},
		{
			what: "Visits to URLs whose end is waited for", where: []string{"mcpclient.urlVisits.visits"},
			bound:  "{mcpclient.visitsKept}, each of {bytes internal/clientinput.MaxVisit}",
			full:   "the oldest gives way",
			test:   "mcpclient.TestUnfinishedURLVisitsAreBounded",
			weighs: "mcpclient.visitsKept * internal/clientinput.MaxVisit", holder: ofClient,
		},
		{
			what: "URLs that one error asks for", where: []string{"mcpclient.URLElicitationRequiredError.Elicitations"},
			bound: "{bytes mcpclient.maxVisitBytes} of the error's data",
			full:  "the error is one without URLs",
			test:  "mcpclient.TestElicitationURLsPerErrorAreBounded",
		},
		{
			what: "What the server says about itself", where: []string{"internal/client/conn.MaxIntroduction"},
			bound:  "{bytes internal/client/conn.MaxIntroduction}",
			full:   "the handshake fails",
			test:   "mcpclient.TestServerIntroductionIsBounded",
			weighs: "internal/client/conn.MaxIntroduction", holder: ofClient,
		},
		{
			what:   "Names that a Group has made up for tools, or a gateway for tools and prompts of each host",
			where:  []string{"internal/groupname.Aliases.names"},
			bound:  "{bytes internal/groupname.MaxAliases} a member, and list",
			full:   "a name is found again by listing",
			test:   "internal/groupname.TestAliasMemoryIsBounded",
			weighs: "internal/groupname.MaxAliases", holder: ofClient,
		},
		{
			what:  "Tombstones: calls that ended without their answer",
			where: []string{"internal/client/inflight.big.m", "internal/client/inflight.index.list"},
			bound: "65,536, for 75 s; calls in flight are the user's own",
			full:  "the oldest makes room; its answer counts as a duplicate",
			test:  "internal/client/inflight.TestFullTableEvictsOldestTombstone",
		},
		{
			what: "Entries of ended calls for reuse", where: []string{"internal/client/inflight.Table.spare"},
			bound: "{internal/client/inflight.keep}",
			full:  "what is more is left to the collector",
			test:  "internal/client/inflight.TestMassTimeoutsStayWithinBounds",
		},
		{
			what: "Transitions that wait for OnTransition", where: []string{"internal/client/conn.teller.records"},
			bound: "{internal/client/conn.UntoldRecords}",
			full:  "the oldest are left out; a log record says how many",
			test:  "mcpclient.TestBlockedOnTransitionDoesNotDelayConnections",
		},
		{
			what: "Calls that wait for room in the transport", where: []string{"internal/client/conn.line.waiting"},
			bound:  "one for each call of the user's that has asked to wait",
			option: "mcpclient.WaitForRoom",
			full:   "each leaves at its deadline",
			test:   "mcpclient.TestWaitForRoomEndsWithItsCall",
		},
		{
			what:  "Buffers in which requests were encoded",
			where: []string{"internal/client/conn.Request.Frame", "mcpclient.call.scratch"},
			bound: "{bytes mcpclient.keptFrame} are kept for reuse, of pooled calls",
			full:  "a larger one is left to the collector",
			test:  "mcpclient.TestIdleConnectionRetainsNoFrame",
		},
	},
}
