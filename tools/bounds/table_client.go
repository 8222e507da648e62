package bounds

var clientArea = area{
	title: "The client",
	intro: "The memory of a client for its one server, and the limits of lists with many pages.",
	rows: []row{
		{
			what: "Notifications that wait for their handlers", where: []string{"mcpclient.notifyQueue.waiting"},
			bound: "{mcpclient.Limits.Notifications}, and {bytes mcpclient.DefaultFrameLimit} of frames, or one " +
				"frame limit if that is more",
			option: "mcpclient.Limits.NotificationBytes",
			full: "list-changed and updated notifications are coalesced; then the oldest progress and log messages are " +
				"dropped, then the new notification; all drops are counted",
			test:   "mcpclient.TestQueueAtByteLimitDropsExpendableNotifications",
			weighs: "mcpclient.Limits.Frame", holder: ofClient,
		},
		{
			what:  "Requests of the server that the client answers at the same time",
			where: []string{"internal/client/serving.Requests.running"},
			bound: "{mcpclient.servedAtOnce}, or {internal/relay/upstream.servedAtOnce} in a relaying client, and {bytes " +
				"mcpclient.DefaultFrameLimit} of their frames, or one frame limit if that is more",
			option: "mcpclient.Limits.Frame", full: "the server gets an error",
			test:   "mcpclient.TestInputRequestsInOneAnswerAreBounded",
			weighs: "mcpclient.DefaultFrameLimit", holder: ofClient,
		},
		{
			what:  "State that a relaying client restores: a log level, resources and subscriptions",
			where: []string{"internal/relay/upstream.restored.watched", "internal/relay/upstream.restored.listens"},
			bound: "{bytes internal/relay/upstream.restoredBytes} of params", full: "the client does not restore the rest",
			test: "internal/relay/upstream.TestRestoredStateIsBounded",
		},
		{
			what:  "Requests in flight that asked for progress or log messages, in a relaying client",
			where: []string{"internal/relay/upstream.wishes.progress", "internal/relay/upstream.wishes.logs"},
			bound: "one for each request in flight, with {bytes internal/relay/upstream.maxToken} of its token",
			full:  "progress with a longer token is not assigned to a request",
			test:  "internal/relay/upstream.TestLongTokenIsNotTracked",
		},
		{
			what:  "Parameters of tools that a relaying client repeats in headers, because its host does not",
			where: []string{"internal/relay/upstream.tools.byName"},
			bound: "{bytes internal/relay/upstream.toolRoom}", full: "calls of the other tools have no such headers",
			test: "internal/relay/upstream.TestMemoryForToolsIsBounded",
		},
		{
			what:  "Answers to a batch of the server (revision 2025-03-26)",
			where: []string{"internal/client/conn.batchAnswer.frames"},
			bound: "{internal/client/conn.MaxBatchRequests} requests, {mcpclient.servedAtOnce} of which are handled at once",
			full:  "each further request gets an error", test: "mcpclient.TestRequestsOfABatchAreBounded",
		},
		{
			what:   "Cached results that the server has marked as fresh",
			where:  []string{"mcpclient.keptResults.results", "mcpclient.keptResults.recent"},
			bound:  "{bytes mcpclient.Options.CacheSize}; one result at most a quarter of that",
			option: "mcpclient.Options.CacheSize",
			full:   "the least recently used result is evicted", test: "mcpclient.TestCacheKeepsMostRecentlyUsedResults",
			weighs: "mcpclient.Options.CacheSize", holder: ofClient,
		},
		{
			what:  "Cached lists of a server that starts on demand, in a file or in memory",
			where: []string{"mcpclient.listCache.memory", "mcpclient.cacheFile.Lists"},
			bound: "{bytes mcpclient.maxCachedLists} and {mcpclient.maxCachePages} pages a list; the files of all servers " +
				"{bytes mcpclient.maxCacheDir}",
			full: "the lists are not cached, so the server starts to list its tools, and a record has the reason; the oldest " +
				"files are removed",
			test:   "mcpclient.TestLargeListsAreNotCached",
			weighs: "mcpclient.maxCachedLists", holder: ofClient,
		},
		{
			what:  "Known tools of the server: output schemas and mirrored parameters",
			where: []string{"mcpclient.toolTable.list", "mcpclient.toolTable.m"},
			bound: "{bytes mcpclient.toolRoom}, each for a complete list and for the list being fetched; replaced by each " +
				"complete list",
			full:   "of further tools only names are kept, then nothing; a call of such a tool lists the tools again",
			test:   "mcpclient.TestToolsAreListedAgainIfSchemaCacheIsFull",
			weighs: "2 * mcpclient.toolRoom", holder: ofClient,
		},
		{
			what:  "Context cost of the pages of the latest tool list, if a meter or an inspection asks for it",
			where: []string{"mcpclient.knownTools.weighed"},
			bound: "the sums of {mcpclient.weighedPages} pages; with telemetry.WithContextCost, for each page, also the sizes " +
				"of the tools whose names metrics distinguish",
			full: "further pages are weighed each time",
			test: "mcpclient.TestUnchangedListIsMeasuredOnce",
		},
		{
			what: "Calls that loop detection compares, with UseLoopDetection", where: []string{
				"mcpclient/internal/loops.Ring.calls", "mcpclient/internal/loops.Talks.all"},
			bound: "hashes of {mcpclient/internal/loops.Size} calls, for each of {mcpclient/internal/loops.MaxTalks} " +
				"conversations and for calls without a conversation",
			full: "the oldest call, or the least recently used conversation, is evicted",
			test: "mcpclient/internal/loops.TestConversationsAreBounded",
		},
		{
			what: "Fingerprints of the server's tools, for clients with UseDriftDetection",
			where: []string{"mcpclient.driftListing.prints", "mcpclient.driftListing.definitions",
				"mcpclient.driftWatch.listed", "mcpclient.driftWatch.refused"},
			bound: "{bytes mcpclient.driftRoom}, for each of the last list, its refused tools and the list being " +
				"fetched; the definitions in the list being fetched are kept until the list has been compared",
			full: "further tools count as tools that the server does not have",
			test: "mcpclient.TestFingerprintsOfAListAreBounded",
		},
		{
			what:  "Replaced subscriptions that a client still reads, and the changes from newer subscriptions",
			where: []string{"mcpclient.opening.replaced", "mcpclient.replaced.heard"},
			bound: "{mcpclient.maxReplaced} subscriptions, each for {time mcpclient.overlap}, with the lists and the URIs of " +
				"its filter",
			full: "the oldest ends, and the client assumes a gap",
			test: "mcpclient.TestReplacedSubscriptionsAreBounded",
		},
		{
			what:  "Cursors and names of a list during its iteration",
			where: []string{"mcpclient.walk.seen", "mcpclient.walk.yielded"},
			bound: "a list has at most {mcpclient.maxPages} pages, {mcpclient.maxItems} items and answers of " +
				"{mcpclient.maxListFrames} frame limits together; cursors and names are kept as hashes",
			option: "mcpclient.Limits.Frame",
			full: "the list ends with a KindProtocol error; a repeated cursor also ends the list, and so does its " +
				"deadline",
			test: "mcpclient.TestEveryListIsBounded",
		},
		{
			what: "Reports of progress that wait for a caller", where: []string{"internal/client/conn.progressQueue.reports"},
			bound: "{internal/client/conn.ProgressKept} a call, and {bytes " +
				"internal/client/conn.progressBytes} of their texts, or the latest " +
				"alone",
			full: "the oldest are dropped and counted",
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
			what: "Answered inputs of a task", where: []string{"mcpclient.Task.answered", "mcpclient.Task.answers"},
			bound: "{mcpclient.maxTaskInputs} a task, keys of {bytes mcpclient.maxInputKey}",
			full:  "waiting for the task fails with a KindProtocol error",
			test:  "mcpclient.TestInputRequestsOfATaskAreBounded",
		},
		{
			what: "Visits to URLs that have not ended", where: []string{"mcpclient.urlVisits.visits"},
			bound:  "{mcpclient.visitsKept}, each of {bytes internal/clientinput.MaxVisit}",
			full:   "the oldest is dropped",
			test:   "mcpclient.TestUnfinishedURLVisitsAreBounded",
			weighs: "mcpclient.visitsKept * internal/clientinput.MaxVisit", holder: ofClient,
		},
		{
			what: "URLs that one error asks for", where: []string{"mcpclient.URLElicitationRequiredError.Elicitations"},
			bound: "{bytes mcpclient.maxVisitBytes} of the error's data",
			full:  "the error has no URLs",
			test:  "mcpclient.TestElicitationURLsPerErrorAreBounded",
		},
		{
			what: "Name, version and capabilities of the server", where: []string{"internal/client/conn.MaxIntroduction"},
			bound:  "{bytes internal/client/conn.MaxIntroduction}",
			full:   "the handshake fails",
			test:   "mcpclient.TestServerIntroductionIsBounded",
			weighs: "internal/client/conn.MaxIntroduction", holder: ofClient,
		},
		{
			what:   "Aliases that a Group makes for tools, or that a gateway makes for tools and prompts of each host",
			where:  []string{"internal/groupname.Aliases.names"},
			bound:  "{bytes internal/groupname.MaxAliases} for each member and each list",
			full:   "a forgotten alias is found again by listing",
			test:   "internal/groupname.TestAliasMemoryIsBounded",
			weighs: "internal/groupname.MaxAliases", holder: ofClient,
		},
		{
			what:  "Unfinished tasks that keep a client on demand running",
			where: []string{"mcpclient.openTasks.all"},
			bound: "{mcpclient.maxOpenTasks}",
			full:  "further tasks do not keep the client running",
			test:  "mcpclient.TestOpenTasksAreBounded",
		},
		{
			what:  "Tombstones: calls that ended without their answer",
			where: []string{"internal/client/inflight.big.m", "internal/client/inflight.index.list"},
			bound: "65,536, for 75 s; calls in flight are the user's own",
			full:  "the oldest is evicted; its answer counts as a duplicate",
			test:  "internal/client/inflight.TestFullTableEvictsOldestTombstone",
		},
		{
			what: "Table entries of ended calls, kept for reuse", where: []string{"internal/client/inflight.Table.spare"},
			bound: "{internal/client/inflight.keep}",
			full:  "further entries go to the garbage collector",
			test:  "internal/client/inflight.TestMassTimeoutsStayWithinBounds",
		},
		{
			what: "Transitions that wait for OnTransition", where: []string{"internal/client/conn.teller.records"},
			bound: "{internal/client/conn.UntoldRecords}",
			full:  "the oldest are dropped; a log record has their number",
			test:  "mcpclient.TestBlockedOnTransitionDoesNotDelayConnections",
		},
		{
			what: "Calls that wait for room in the transport", where: []string{"internal/client/conn.line.waiting"},
			bound:  "one for each call with WaitForRoom",
			option: "mcpclient.WaitForRoom",
			full:   "each call ends at its deadline",
			test:   "mcpclient.TestWaitForRoomEndsWithItsCall",
		},
		{
			what:  "Buffers for encoding requests",
			where: []string{"internal/client/conn.Request.Frame", "mcpclient.call.scratch"},
			bound: "{bytes mcpclient.keptFrame} are kept for reuse, of pooled calls",
			full:  "a larger buffer goes to the garbage collector",
			test:  "mcpclient.TestIdleConnectionRetainsNoFrame",
		},
	},
}
