package bounds

var serverArea = area{
	title: "The server, on every transport",
	intro: "The memory of a server for one client: the client of a stream, or of a session over HTTP.",
	rows: []row{
		{
			what:  "Running and waiting requests",
			where: []string{"internal/server/rpc.Calls.live", "internal/server/rpc.Calls.waiting"},
			bound: "{mcpserver.Limits.Concurrent} run; {mcpserver.Limits.Queued} wait; the frames of both have " +
				"{internal/server/rpc.liveFrames} frame limits together: " +
				"{bytes internal/server/rpc.liveFrames * mcpserver.Limits.Frame}",
			option: "mcpserver.Limits.Concurrent",
			full:   "the request gets an error; cancellations and answers still pass",
			test:   "mcpserver.TestRunningAndQueuedRequestsShareByteBudget",
			weighs: "internal/server/rpc.liveFrames * mcpserver.Limits.Frame",
			holder: ofStream,
		},
		{
			what:   "A frame being read, and answers that the client has not read",
			where:  []string{"mcpserver.NewStreamConn"},
			bound:  "as in a client; in addition, the answer of each running handler that waits for room",
			option: "mcpserver.Limits.Frame",
			full:   "the answering handler waits; the server reads no further requests of the client",
			test:   "mcpserver.TestBlockedClientDoesNotKeepReadLoopRunning",
			weighs: "2 * mcpserver.Limits.Frame", holder: ofStream,
		},
		{
			what: "Requests handled by the server, over all clients", where: []string{"internal/server/quota.Limiter.waiting"},
			bound:  "no bound unless the option is set; each client has its own bound",
			option: "mcpserver.Limits.Total",
			full:   "further requests wait or get an error; clients then share the slots",
			test:   "mcpserver.TestTotalLimitBoundsAllConnectionsTogether",
		},
		{
			what: "Name, version and capabilities of a legacy client", where: []string{"internal/server/introduction.MaxBytes"},
			bound:  "{bytes internal/server/introduction.MaxBytes} and {internal/server/introduction.maxValues} values of JSON",
			full:   "initialize is refused",
			test:   "mcpserver.TestInitializeParamsSizeIsLimited",
			weighs: "internal/server/introduction.MaxBytes", holder: ofStream,
		},
		{
			what: "Answers to a batch (revision 2025-03-26)", where: []string{"internal/server/rpc.Batch.frame"},
			bound:  "{internal/server/rpc.MaxBatch} messages; answers of one frame limit together",
			option: "mcpserver.Limits.Frame",
			full:   "a longer batch is refused; further answers become errors",
			test:   "mcpserver.TestBatchResponseSizeIsLimited",
			weighs: "mcpserver.Limits.Frame", holder: ofStream,
		},
		{
			what: "Requests to the client that wait for their answers", where: []string{"internal/server/rpc.Asks.open"},
			bound:  "the requests of the running handlers",
			option: "mcpserver.Limits.Concurrent",
			full:   "each request ends with its handler's context",
			test:   "mcpserver.TestAnAbandonedQuestionIsCancelledAtTheClient",
		},
		{
			what:  "Requests that a relay has forwarded, in each direction, and that have no answer yet",
			where: []string{"internal/relay/downstream.maxRelayed"},
			bound: "{internal/relay/downstream.maxRelayed} each way; the requests of the client have " +
				"{internal/server/rpc.liveFrames} frame limits together, as in any server, and their frames are not kept. " +
				"The sender of an answer waits for the client",
			option: "mcpserver.Limits.Concurrent",
			full:   "the request gets an error",
			test:   "mcpserver.TestRelayLimitsForwardedRequests",
		},
		{
			what:  "Abandoned requests to the client",
			where: []string{"internal/server/rpc.tombstones.byID", "internal/server/rpc.tombstones.order"},
			bound: "{internal/server/rpc.maxStones}",
			full:  "the oldest are dropped; a late answer then counts as unknown",
			test:  "mcpserver.TestStrayResponseRecordsReason",
		},
		{
			what:  "Remembered elicitations by URL",
			where: []string{"mcpserver.sites.ids"},
			bound: "{mcpserver.maxSites} a client",
			full:  "the oldest are dropped", test: "mcpserver.TestURLElicitationCompletes",
		},
		{
			what:  "Change notifications that wait to be sent",
			where: []string{"mcpserver.backlog.known", "mcpserver.backlog.order"},
			bound: "one for each list and each watched resource, and {mcpserver.maxTaskNotices} of tasks",
			full:  "the notification of a task is dropped; the client can still get the task",
			test:  "mcpserver.TestBlockedSessionGetsOneUpdatePerResource",
		},
		{
			what: "Log messages that wait for a client", where: []string{"mcpserver.logQueue.frames"},
			bound: "{mcpserver.maxWaiting}, and {bytes mcpserver.maxLogMessage}; one message has {bytes " +
				"mcpserver.maxLogMessage}",
			full: "the oldest are dropped; a later message has their number",
			test: "mcpserver.TestServerLogNeverBlocksAndReportsDroppedMessages", weighs: "mcpserver.maxLogMessage", holder: ofStream,
		},
		{
			what: "Log records that wait for a slow handler", where: []string{"internal/instrument/records.Set.all"},
			bound: "{internal/instrument/records.MaxRecordsOfServer}, and {bytes " +
				"internal/instrument/records.MaxBytesOfServer}, of all connections " +
				"over one kind of network",
			full:   "further records are dropped; a later record has their number",
			test:   "mcpserver.TestBlockedLogHandlerDoesNotDelayRequests",
			weighs: "internal/instrument/records.MaxBytesOfServer", holder: ofStream,
		},
		{
			what: "Notifications of a client that wait for handlers", where: []string{"mcpserver.hearing.waiting"},
			bound: "{mcpserver.maxHeard}, and {bytes mcpserver.maxHeardBytes} of their frames, or one larger frame",
			full:  "the oldest are dropped and counted as mcp_server.notification.drops",
			test:  "mcpserver.TestQueuedNotificationBytesAreLimited", weighs: "mcpserver.Limits.Frame",
			holder: ofStream,
		},
		{
			what: "Resources that one session or subscription watches", where: []string{"mcpserver.watchlist.uris"},
			bound: "{mcpserver.maxWatched}, and {bytes mcpserver.maxWatchedBytes} of URIs",
			full:  "resources/subscribe is refused; a subscription omits the resource",
			test:  "mcpserver.TestResourceSubscriptionsPerSessionAreLimited",
		},
		{
			what: "Subscriptions of modern clients on a stream", where: []string{"mcpserver.maxListening"},
			bound: "{mcpserver.maxListening}; their watched resources and tasks have " +
				"{bytes internal/server/engine.maxWatchedAlone} together",
			full:   "subscriptions/listen is refused",
			test:   "mcpserver.TestWatchlistsReserveAndReleaseMemory",
			weighs: "internal/server/engine.maxWatchedAlone", holder: ofStream,
		},
		{
			what: "State of a modern request between its rounds",
			where: []string{
				"mcpserver.state.Answers", "mcpserver.state.Done", "mcpserver.rounds.asked", "mcpserver.rounds.before",
				"mcpserver.rounds.doing", "mcpserver.rounds.done",
				"mcpserver.rounds.given", "mcpserver.rounds.kept", "mcpserver.rounds.used",
			},
			bound: "{bytes mcpserver.maxState}, kept by the client, for {time mcpserver.Options.StateTTL}; " +
				"{mcpserver.maxInputRounds} rounds",
			option: "mcpserver.Options.StateTTL",
			full:   "the request fails", test: "mcpserver.TestSealedStateSizeIsLimited",
		},
		{
			what: "A page of a list, and of completions", where: []string{"mcpserver.maxCompletions"},
			bound:  "{mcpserver.Options.PageSize} entries, {mcpserver.maxCompletions} completions",
			option: "mcpserver.Options.PageSize",
			full:   "there is a next page; completions report that there are more values",
			test:   "mcpserver.TestLaterRemovalDoesNotChangePage",
		},
		{
			what:  "A URI to match with templates",
			where: []string{"internal/uritemplate.MaxURI"},
			bound: "{bytes internal/uritemplate.MaxURI}",
			full:  "no template matches", test: "internal/uritemplate.TestMatchExtractsVariables",
		},
		{
			what:  "Idle goroutines for requests of a client, or for exchanges over HTTP",
			where: []string{"internal/workers.Pool.idle"},
			bound: "{internal/server/rpc.MaxSpare} of a client, and {internal/server/rpc.maxBurst} times as many for 20 ms " +
				"after a burst; over HTTP, for 20 ms, as many as had an exchange",
			full: "further goroutines end after their work",
			test: "internal/workers.TestIdleGoroutinesWaitForTheNextBurstThenEnd",
		},
		{
			what:  "Buffers for encoding answers",
			where: []string{"internal/server/rpc.buffers"},
			bound: "{bytes internal/server/rpc.MaxKept} are kept for reuse",
			full:  "a larger buffer goes to the garbage collector",
			test:  "mcpserver.TestRunningAndQueuedRequestsShareByteBudget",
		},
	},
}

var httpArea = area{
	title: "The server over HTTP",
	intro: "Memory and slots that all clients of a handler share. A single account gets at most half, two accounts get " +
		"at most a third each, and so on.",
	rows: []row{
		{
			what: "Bodies of requests, being read and being answered", where: []string{"internal/server/quota.Memory.bytes"},
			bound: "{mcpserver.bodyFrames} frame limits: {bytes mcpserver.bodyFrames * mcpserver.Limits.Frame}; " +
				"memory grows with the received bytes. One body " +
				"has one frame limit. The first {bytes internal/grow.First} of each do not count",
			option: "mcpserver.HTTPLimits.Bodies",
			full:   "a body waits for room, {time internal/server/web.roomWait} at most, then 503",
			test:   "mcpserver.TestIncompleteBodiesRespectMemoryLimit",
			weighs: "mcpserver.bodyFrames * mcpserver.Limits.Frame", holder: ofServer,
		},
		{
			what: "Usage of rates by accounts", where: []string{"internal/server/rates.Books.books"},
			bound: "{internal/server/rates.maxBooks} accounts, some 300 bytes each", option: "mcpserver.Options.Rates",
			full: "idle accounts are forgotten first, then other accounts",
			test: "internal/server/rates.TestNumberOfTrackedAccountsIsLimited",
		},
		{
			what:  "Bodies, of one account",
			where: []string{"internal/server/quota.Shares.Held"},
			bound: "half of the memory for bodies: {bytes mcpserver.bodyFrames * mcpserver.Limits.Frame / 2}; an account " +
				"without bodies has no entry",
			option: "mcpserver.HTTPOptions.Account", full: "503", test: "mcpserver.TestOneAccountLeavesPlacesAndMemoryForOthers",
			weighs: "mcpserver.bodyFrames * mcpserver.Limits.Frame / 2", holder: ofAccount,
		},
		{
			what: "The slowest transfer of a body", where: []string{"mcpserver.HTTPLimits.BodyRate"},
			bound:  "{mcpserver.HTTPLimits.BodyRate} bytes a second, and {time mcpserver.HTTPTimeouts.Body} in all",
			option: "mcpserver.HTTPLimits.BodyRate",
			full:   "408",
			test:   "mcpserver.TestMinimumBodyRate",
		},
		{
			what:   "POSTs in progress",
			where:  []string{"internal/server/web.statelessCalls.live", "internal/server/web.gate.places"},
			bound:  "{mcpserver.HTTPLimits.Requests}, counted once their bodies are read; one session or account gets half",
			option: "mcpserver.HTTPLimits.Requests",
			full:   "503",
			test:   "mcpserver.TestMissingBodiesTakeNoPlaces",
			weighs: "mcpserver.HTTPLimits.Requests * internal/grow.First", holder: ofServer,
		},
		{
			what:  "Sessions of legacy clients",
			where: []string{"internal/server/web.sessions.byID", "internal/server/web.sessions.newcomers"},
			bound: "{mcpserver.HTTPLimits.Sessions}; a session ends after {time mcpserver.HTTPTimeouts.Session} without use, " +
				"{time mcpserver.HTTPTimeouts.Confirm} if it was never used",
			option: "mcpserver.HTTPLimits.Sessions",
			full:   "the oldest session that was never used ends; without such a session, 503",
			test:   "mcpserver.TestUnusedInitializeDoesNotFillSessionTable",
		},
		{
			what:   "Sessions, of one account",
			where:  []string{"mcpserver.HTTPOptions.Account"},
			bound:  "half of the sessions",
			option: "mcpserver.HTTPOptions.Account",
			full:   "the oldest session of the account that was never used ends; without such a session, 503",
			test:   "mcpserver.TestOneAddressLeavesSessionsForOthers",
		},
		{
			what:  "Names, versions and capabilities of clients, in all sessions",
			where: []string{"internal/server/web.sessions.introductions"},
			bound: "{bytes mcpserver.HTTPLimits.IntroductionBytes}; each value counts " +
				"{bytes internal/server/introduction.valueCost} more; for one client, the same bound as on every transport",
			option: "mcpserver.HTTPLimits.IntroductionBytes",
			full:   "the oldest sessions that were never used end; if that is not enough, 503",
			test:   "mcpserver.TestInitializeParamsOfAllSessionsShareOneByteBudget",
			weighs: "mcpserver.HTTPLimits.IntroductionBytes", holder: ofServer,
		},
		{
			what:  "Names and versions of modern clients, remembered for telemetry",
			where: []string{"internal/server/introduction.Cache.all"},
			bound: "{internal/server/introduction.maxIntroductions} of at most " +
				"{bytes internal/server/introduction.maxRememberedBytes}",
			full:   "the server decodes them with each request",
			test:   "mcpserver.TestRequestsWithChangingClientInfoAreCounted",
			weighs: "internal/server/introduction.maxIntroductions * internal/server/introduction.maxRememberedBytes",
			holder: ofServer,
		},
		{
			what:   "Names, versions and capabilities of the clients of one account",
			where:  []string{"internal/server/web.session.weight"},
			bound:  "half of this memory",
			option: "mcpserver.HTTPOptions.Account",
			full:   "the oldest sessions of the account that were never used end; if that is not enough, 503",
			test:   "mcpserver.TestInitializeParamsOfAllSessionsShareOneByteBudget",
			weighs: "mcpserver.HTTPLimits.IntroductionBytes / 2", holder: ofAccount,
		},
		{
			what:   "Log records that wait for a slow handler, of all sessions and requests",
			where:  []string{"internal/instrument.Server"},
			bound:  "{bytes internal/instrument/records.MaxBytesOfServer}, for each version of HTTP",
			full:   "further records are dropped; a later record has their number",
			test:   "mcpserver.TestBlockedLogHandlerDoesNotDelayHTTPRequests",
			weighs: "2 * internal/instrument/records.MaxBytesOfServer", holder: ofServer,
		},
		{
			what:   "Streams of a session",
			where:  []string{"internal/server/web.session.streams"},
			bound:  "one for each running request, and one for other messages",
			option: "mcpserver.Limits.Concurrent",
			full:   "further requests are refused", test: "mcpserver.TestBusySessionRefusesMoreRequests",
		},
		{
			what: "Events kept for clients with a broken connection",
			where: []string{
				"mcpserver/store.kept.events", "mcpserver/store.memoryEvents.sessions", "mcpserver/store.memoryEvents.shared",
				"mcpserver/store.numberedStreams.open",
				"mcpserver/store.eventHolders.byKey", "mcpserver/store.eventHolders.order", "mcpserver/store.eventHolder.ages",
			},
			bound: "{mcpserver/store.NewMemoryEvents.events} events and {bytes mcpserver/store.NewMemoryEvents.size} a " +
				"session, {bytes mcpserver/store.keptInAll} in all; each counts {bytes mcpserver/store.eventCost} more",
			option: "mcpserver/store.NewMemoryEvents",
			full:   "the oldest events of the largest account are dropped; a client that resumes before them gets an error",
			test:   "mcpserver/store.TestTotalEventBytesAreLimited",
			weighs: "mcpserver/store.keptInAll", holder: ofServer,
		},
		{
			what:   "Events kept, of one account",
			where:  []string{"mcpserver/store.eventHolder"},
			bound:  "all free room, until other accounts need it",
			option: "mcpserver.HTTPOptions.Account",
			full:   "the oldest events of the account are dropped first",
			test:   "mcpserver/store.TestEventsOfOneAccountDoNotEvictOthers",
			weighs: "mcpserver/store.keptInAll", holder: ofAccount,
		},
		{
			what: "Subscriptions of modern clients", where: []string{"mcpserver.audience.subs", "mcpserver.Server.audiences"},
			bound:  "{mcpserver.HTTPLimits.Subscriptions}; half for one account",
			option: "mcpserver.HTTPLimits.Subscriptions",
			full:   "429",
			test:   "mcpserver.TestOneAccountLeavesSubscriptionsForOthers",
		},
		{
			what:  "Watched resources and tasks, in all sessions and subscriptions",
			where: []string{"internal/server/engine.HTTP.watching"},
			bound: "{bytes mcpserver.HTTPLimits.WatchedBytes} of URIs and tasks; each counts {bytes " +
				"mcpserver.watchCost} more; half for one account",
			option: "mcpserver.HTTPLimits.WatchedBytes",
			full:   "the request is refused, or the subscription omits them",
			test:   "mcpserver.TestWatchedResourcesOfOneAccountLeaveRoomForOthers",
			weighs: "mcpserver.HTTPLimits.WatchedBytes", holder: ofServer,
		},
		{
			what:   "Watched resources and tasks of one account",
			where:  []string{"mcpserver.watchlist.room"},
			bound:  "half of this memory",
			option: "mcpserver.HTTPOptions.Account",
			full:   "the request is refused, or the subscription omits them",
			test:   "mcpserver.TestWatchedResourcesOfOneAccountLeaveRoomForOthers",
			weighs: "mcpserver.HTTPLimits.WatchedBytes / 2",
			holder: ofAccount,
		},
		{
			what: "Notices and log messages between processes that share sessions",
			where: []string{
				"internal/server/web.news.heard", "internal/server/web.outbox.signals", "internal/server/web.signal.Notices",
			},
			bound: "{internal/server/web.maxNews} are remembered; {internal/server/web.maxOutbox} wait, with log messages of " +
				"{bytes mcpserver.maxLogMessage} together",
			full: "log messages for clients of other processes and the oldest change notices are dropped; the other " +
				"processes then assume that everything has changed",
			test:   "mcpserver.TestProcessWithoutHistoryReportsEverythingChanged",
			weighs: "mcpserver.maxLogMessage", holder: ofServer,
		},
		{
			what:   "Messages handed to the process that has a client's stream",
			where:  []string{"internal/server/web.handed.frames"},
			bound:  "{internal/server/web.maxHanded} a session, and one frame limit together",
			option: "mcpserver.Limits.Frame",
			full:   "they are dropped if the client does not read them",
			test:   "mcpserver.TestResponseReachesRequestingProcess",
		},
		{
			what: "Events of a stream that wait for a shared store", where: []string{"internal/server/web.unkept.events"},
			bound:  "{internal/server/web.maxUnkept} a stream, and one frame limit of bytes together; the answer is extra",
			option: "mcpserver.Limits.Frame",
			full:   "notifications are refused",
			test:   "mcpserver.TestEventStoreFaultDoesNotEndStream",
		},
		{
			what:  "Streams that a process reads for another process",
			where: []string{"internal/server/web.shared.readers", "internal/server/web.asked.Requests"},
			bound: "one for each request whose client waits on a connection",
			full:  "further requests are refused", test: "mcpserver.TestResponseReachesRequestingProcess",
		},
	},
}

var taskArea = area{
	title: "Tasks",
	intro: "Tasks outlive the requests that started them.",
	rows: []row{
		{
			what:   "Running tasks",
			where:  []string{"internal/server/tasks.Keeper.runs"},
			bound:  "{mcpserver.TaskOptions.MaxRunning}; half for one account",
			option: "mcpserver.TaskOptions.MaxRunning",
			full:   "further tasks are refused, over HTTP with 429", test: "mcpserver.TestOneAccountLeavesTasksForOthers",
		},
		{
			what: "Kept tasks, in any store", where: []string{"internal/server/tasks.ledger.entries"},
			bound: "{mcpserver.TaskOptions.MaxKept} of a server, with {bytes mcpserver.TaskOptions.MaxKeptBytes} of " +
				"results, requests and responses; one result has one frame limit",
			option: "mcpserver.TaskOptions.MaxKeptBytes",
			full:   "further tasks are refused; a task without room for its result fails",
			test:   "mcpserver.TestTaskResultsOfOneAccountLeaveRoomForOthers",
			weighs: "mcpserver.TaskOptions.MaxKeptBytes", holder: ofServer,
		},
		{
			what:   "Tasks kept, of one account",
			where:  []string{"internal/server/tasks.ledger"},
			bound:  "half of the tasks, and half of their bytes",
			option: "mcpserver.HTTPOptions.Account",
			full:   "as for all tasks",
			test:   "mcpserver.TestTaskResultsOfOneAccountLeaveRoomForOthers",
			weighs: "mcpserver.TaskOptions.MaxKeptBytes / 2",
			holder: ofAccount,
		},
		{
			what: "Tasks in the store of the process", where: []string{"mcpserver/store.memoryTasks.byID"},
			bound: "{mcpserver/store.NewMemoryTasks.tasks}, with {bytes mcpserver/store.NewMemoryTasks.size} together; an " +
				"existing task may grow by {bytes mcpserver/store.TaskSlack} more",
			option: "mcpserver/store.NewMemoryTasks",
			full:   "the store refuses new tasks, because each kept task has a promised lifetime",
			test:   "mcpserver.TestTasksAreBounded",
			weighs: "mcpserver.TaskOptions.MaxKeptBytes", holder: ofStream,
		},
		{
			what: "Tasks of one subscription",
			where: []string{"internal/server/tasks.Watch.due", "internal/server/tasks.Watch.sent",
				"internal/server/tasks.Keeper.listeners"},
			bound: "{internal/server/tasks.MaxWatched}, {bytes internal/server/tasks.WatchedCost} for each watched task",
			full:  "the subscription is refused",
			test:  "mcpserver.TestWatchlistsReserveAndReleaseMemory",
		},
		{
			what: "Requests and responses of tasks",
			where: []string{"mcpserver/store.Task.Requests", "mcpserver/store.Task.Responses",
				"internal/server/tasks.wait.questions", "internal/server/tasks.Keeper.claims"},
			bound:  "counts as a part of the task",
			option: "mcpserver.TaskOptions.MaxKeptBytes",
			full:   "a response is refused",
			test:   "mcpserver.TestTasksAreBounded",
		},
	},
}

var storeArea = area{
	title: "Stores that processes share",
	intro: "The store in Redis, and the store in memory for tests and single processes.",
	rows: []row{
		{
			what:  "Redis keys of ids that clients choose",
			where: []string{"mcpserver/redisstore.tag"},
			bound: "64 bytes: longer ids are hashed, and an id cannot change the hash tag",
			full:  "different ids still have different keys",
			test:  "mcpserver/redisstore.TestKeysHaveBoundedLengthAndShareSlotOfID",
		},
		{
			what: "Events of a session in Redis", where: []string{"mcpserver/redisstore.Options.MaxEvents"},
			bound: "{mcpserver/redisstore.Options.MaxEvents}, and {bytes mcpserver/redisstore.Options.MaxEventBytes}, as " +
				"long as the session, or {time mcpserver/redisstore.Options.KeepEvents}",
			option: "mcpserver/redisstore.Options.MaxEvents",
			full:   "the oldest are dropped", test: "mcpserver/redisstore.TestAllKeysExpire",
		},
		{
			what: "Messages between processes in Redis", where: []string{"mcpserver/redisstore.Options.MaxMessages"},
			bound: "{mcpserver/redisstore.Options.MaxMessages} a process, and {bytes " +
				"mcpserver/redisstore.Options.MaxMessageBytes}, or the latest alone",
			option: "mcpserver/redisstore.Options.MaxMessages",
			full:   "the oldest are dropped; a process that missed some assumes that everything has changed",
			test:   "mcpserver/redisstore.TestAllKeysExpire",
		},
		{
			what:   "Records of sessions",
			where:  []string{"internal/server/web.maxRecord"},
			bound:  "{bytes internal/server/web.maxRecord}, for the life of the session; a handler has one for each session",
			option: "mcpserver.HTTPLimits.Sessions",
			full:   "the session gets no more values",
			test:   "mcpserver.TestOversizedInitializeGetsNoSession",
		},
		{
			what: "Messages between processes in memory",
			where: []string{"mcpserver/store.topic.messages", "mcpserver/store.memorySessions.topics",
				"mcpserver/store.memorySessions.processes", "mcpserver/store.memorySessions.sessions"},
			bound: "{mcpserver/store.maxMessages} a process, and {bytes mcpserver/store.maxMessageBytes}, or the latest alone",
			full:  "the oldest are dropped",
			test:  "mcpserver/store.TestMemorySessionsPassesConformanceTests",
		},
		{
			what:  "Redis channels to which a process is subscribed",
			where: []string{"mcpserver/redisstore.notifier.topics"},
			bound: "one for each stream that is read or receiver that waits",
			full:  "each subscription ends with its reader", test: "mcpserver/redisstore.TestAllKeysExpire",
		},
	},
}
