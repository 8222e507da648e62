package bounds

var proxyArea = area{
	title: "The proxy",
	intro: "What a proxy holds of its hosts' messages before it has passed them on. Its ends are a server and a client.",
	rows: []row{
		{
			what: "Messages of a host that wait for a session with the server", where: []string{"mcpproxy.link.waiting"},
			bound: "{mcpproxy.maxWaiting}, and {bytes mcpproxy.maxWaitingBytes} of params, or one that is larger by itself",
			full:  "a request is answered with an error, a notification is dropped",
			test:  "mcpproxy.TestWhatWaitsIsBounded",
		},
		{
			what:  "Calls of tools that wait for their turn, with Policy.MaxConcurrent: those of all hosts",
			where: []string{"mcpproxy.limiter.waiting", "mcpproxy.pair.due"},
			bound: "{mcpproxy.maxWaiting}, and {bytes mcpproxy.maxWaitingBytes} of params, or one that is larger by itself; " +
				"those whose turn it is are as many as MaxConcurrent",
			full: "the call is answered with an error", test: "mcpproxy.TestWhatWaitsForItsTurnIsBounded",
		},
		{
			what: "Lines of a recording that wait to be written", where: []string{"internal/recording.Writer.queue"},
			bound: "{bytes internal/recording.maxQueued}, or one that is larger by itself",
			full:  "the recording ends, and says so", test: "internal/recording.TestARecordingEndsWhereItCannotBeWritten",
		},
		{
			what:  "Who of the members has listed which resources and templates, for each host of a gateway",
			where: []string{"mcpproxy.owners.resources", "mcpproxy.owners.templates"},
			bound: "{bytes mcpproxy.maxOwners} of URIs", full: "the members are asked one after the other",
			test: "mcpproxy.TestWhatAGatewayRemembersIsBounded",
		},
		{
			what:  "Requests of a host that members of a gateway are answering, and resources that it watches",
			where: []string{"mcpproxy.member.calls", "mcpproxy.hostGroup.watched"},
			bound: "those of the server in front, which refuses more: its rows say how many",
			full:  "the request is answered with an error", test: "mcpserver.TestRequestsThatRunAndWaitHaveOneBudgetInBytes",
		},
	},
}
