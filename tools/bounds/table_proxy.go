package bounds

var proxyArea = area{
	title: "The proxy",
	intro: "Messages of hosts in a proxy, before the proxy has sent them to the server. The two ends of a proxy are " +
		"a server and a client.",
	rows: []row{
		{
			what: "Messages of a host that wait for a session with the server", where: []string{"mcpproxy.link.waiting"},
			bound: "{mcpproxy.maxWaiting}, and {bytes mcpproxy.maxWaitingBytes} of params, or one larger message alone",
			full:  "a request gets an error; a notification is dropped",
			test:  "mcpproxy.TestWaitingMessagesAreBounded",
		},
		{
			what:  "Tool calls of all hosts that wait for their turn, with Policy.MaxConcurrent",
			where: []string{"mcpproxy.limiter.waiting", "mcpproxy.pair.due"},
			bound: "{mcpproxy.maxWaiting}, and {bytes mcpproxy.maxWaitingBytes} of params, or one larger message alone; " +
				"MaxConcurrent further calls run",
			full: "the call gets an error", test: "mcpproxy.TestWaitingCallsAreBounded",
		},
		{
			what:  "Unread messages for modern hosts over HTTP",
			where: []string{"internal/mailbox.Box.queue"},
			bound: "{internal/relay/downstream.unreadFrames} frame limits for all hosts together; " +
				"{bytes internal/relay/downstream.maxUnreadNotices} of notifications for each request, " +
				"{bytes mcpproxy.maxNews} in a gateway",
			full: "a notification is dropped; an answer becomes an error",
			test: "mcpserver.TestUnreadMessagesForModernClientsAreLimited",
		},
		{
			what: "Lines of a recording that wait to be written", where: []string{"internal/recording.Writer.queue"},
			bound: "{bytes internal/recording.maxQueued}, or one larger message alone",
			full:  "the recording ends, and its last line has the reason",
			test:  "internal/recording.TestWriterEndsRecordingAtWriteErrorOrLimit",
		},
		{
			what: "Lists of all members that a gateway merges, for all hosts and requests together",
			bound: "{bytes mcpproxy.maxListed}; a page counts three times its text, and {mcpproxy.listedItem} bytes for each " +
				"item; in addition, one page of each list in progress. One list of one member has " +
				"{bytes mcpproxy.maxListBytes} and {mcpproxy.maxListPages} pages",
			where: []string{"mcpproxy.list.items"},
			full:  "the host's request gets an error, and can be sent again",
			test:  "mcpproxy.TestListMemoryIsBounded",
		},
		{
			what: "Sessions of hosts over HTTP; each has a process or connection for each server, from initialize on, or in a " +
				"gateway from the first request after initialize",
			where:  []string{"mcpproxy.Proxy.pairs", "mcpproxy.Gateway.groups"},
			bound:  "{mcpproxy.DefaultMaxSessions}; one account has at most half of the sessions",
			option: "mcpserver.HTTPLimits.Sessions",
			full: "the oldest session that only sent initialize ends; without such a session, a new session is " +
				"refused with 503",
			test: "mcpproxy.TestHostsThatOnlyInitializeStartFewServers",
		},
		{
			what:  "Owners of the listed resources and templates, for each host of a gateway",
			where: []string{"mcpproxy.owners.resources", "mcpproxy.owners.templates"},
			bound: "{bytes mcpproxy.maxOwners} of URIs", full: "the gateway asks one member after the other",
			test: "mcpproxy.TestGatewayMemoryIsBounded",
		},
		{
			what:  "Requests of a host that members of a gateway are answering, and resources that the host watches",
			where: []string{"mcpproxy.member.calls", "mcpproxy.hostGroup.watched"},
			bound: "the bounds of the gateway's own server, which refuses further requests",
			full:  "the request gets an error", test: "mcpserver.TestRunningAndQueuedRequestsShareByteBudget",
		},
		{
			what: "Concurrent scrapes of the metrics of a command, with --metrics", where: []string{"internal/scrape.maxScrapes"},
			bound: "{internal/scrape.maxScrapes}", full: "a scrape gets 503",
			test: "internal/scrape.TestConcurrentScrapesAreBounded",
		},
	},
}
