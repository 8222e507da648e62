package bounds

var proxyArea = area{
	title: "The proxy",
	intro: "What a proxy holds of its hosts' messages before it has passed them on. Its ends are a server and a client.",
	rows: []row{
		{
			what: "Messages of a host that wait for a session with the server", where: []string{"mcpproxy.link.waiting"},
			bound: "{mcpproxy.maxWaiting}, and {bytes mcpproxy.maxWaitingBytes} of params, or one that is larger by itself",
			full:  "a request is answered with an error, a notification is dropped",
			test:  "mcpproxy.TestWaitingMessagesAreBounded",
		},
		{
			what:  "Calls of tools that wait for their turn, with Policy.MaxConcurrent: those of all hosts",
			where: []string{"mcpproxy.limiter.waiting", "mcpproxy.pair.due"},
			bound: "{mcpproxy.maxWaiting}, and {bytes mcpproxy.maxWaitingBytes} of params, or one that is larger by itself; " +
				"those whose turn it is are as many as MaxConcurrent",
			full: "the call is answered with an error", test: "mcpproxy.TestWaitingCallsAreBounded",
		},
		{
			what:  "Messages for modern hosts over HTTP that do not read",
			where: []string{"internal/mailbox.Box.queue"},
			bound: "{internal/relay/downstream.unreadFrames} frames of the frame limit for all hosts; " +
				"{bytes internal/relay/downstream.maxUnreadNotices} of notifications for each request, " +
				"{bytes mcpproxy.maxNews} in a gateway",
			full: "a notification is dropped, an answer becomes an error",
			test: "mcpserver.TestUnreadMessagesForModernClientsAreLimited",
		},
		{
			what: "Lines of a recording that wait to be written", where: []string{"internal/recording.Writer.queue"},
			bound: "{bytes internal/recording.maxQueued}, or one that is larger by itself",
			full:  "the recording ends, and says so", test: "internal/recording.TestWriterEndsRecordingAtWriteErrorOrLimit",
		},
		{
			what: "Lists that a gateway puts together, those of all members for all hosts and requests",
			bound: "{bytes mcpproxy.maxListed}, by three times the text of each page and {mcpproxy.listedItem} bytes for each " +
				"thing in it; beyond, one page of each list that is under way. One list of one member has " +
				"{bytes mcpproxy.maxListBytes} and {mcpproxy.maxListPages} pages",
			where: []string{"mcpproxy.list.items"},
			full:  "the host's request is answered with an error, and may be sent again",
			test:  "mcpproxy.TestListMemoryIsBounded",
		},
		{
			what: "Sessions of hosts over HTTP, each with a process or connection to each server, from initialize on; in a " +
				"gateway from the first request behind it",
			where:  []string{"mcpproxy.Proxy.pairs", "mcpproxy.Gateway.groups"},
			bound:  "{mcpproxy.DefaultMaxSessions}; one account has half of them",
			option: "mcpserver.HTTPLimits.Sessions",
			full: "the oldest session ends that has sent nothing but initialize; if there is none, the next is refused " +
				"with 503",
			test: "mcpproxy.TestHostsThatOnlyInitializeStartFewServers",
		},
		{
			what:  "Who of the members has listed which resources and templates, for each host of a gateway",
			where: []string{"mcpproxy.owners.resources", "mcpproxy.owners.templates"},
			bound: "{bytes mcpproxy.maxOwners} of URIs", full: "the members are asked one after the other",
			test: "mcpproxy.TestGatewayMemoryIsBounded",
		},
		{
			what:  "Requests of a host that members of a gateway are answering, and resources that it watches",
			where: []string{"mcpproxy.member.calls", "mcpproxy.hostGroup.watched"},
			bound: "those of the server in front, which refuses more: its rows say how many",
			full:  "the request is answered with an error", test: "mcpserver.TestRunningAndQueuedRequestsShareByteBudget",
		},
	},
}
