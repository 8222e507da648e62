package bounds

// An exception lists growing members that need no row, for one reason. A name that ends with * means all fields of a
// type.
type exception struct {
	reason string
	names  []string
}

var exceptions = []exception{
	{"Grow with what your own code sets up, adds or asks for", []string{
		"mcpclient.answering.handlers", "mcpclient.Client.elicitor", "mcpclient.subscriptions.restoreAll",
		"internal/client/conn.Conn.waiters", "mcpclient.Group.members",
		"mcpclient.DriftOptions.Baseline",
		"mcpclient.feature.*", "mcpclient.walk.options", "mcpclient.watches.all",
		"mcpclient.loopWatch.exempt", "mcpclient.asked.spanAttributes", "mcpclient/transport/chaos.verdict.*",
		"mcpclient/auth.Credentials.RedirectURIs", "mcpclient/auth.Loopback.waiting", "mcpclient/auth.MemoryStore.records",
		"mcpproxy.Gateway.*",
		"mcpproxy.Policy.Timeouts", "mcpproxy.rules.timeouts", "mcpproxy.secrets.*",
		"internal/server/engine.Server.conns", "mcpserver.Server.fleets",
		"internal/server/engine.Server.handlers", "mcpserver.config.*",
		"mcpserver.completions.byKey", "mcpserver.feature.methods",
		"mcpserver.registry.*", "mcpserver.sealer.keys",
		"mcpserver.Session.values", "mcpserver.Session.hosts",
		"mcpserver/store.memoryTasks.watchers", "mcpserver/bearer.Options.*", "mcpserver/bearer.Principal.Claims",
		"internal/running.Set.all", "internal/instrument.gauges.*", "internal/instrument.processTimes.open",
		"mcpclient.Options.Features",
		"internal/instrument/series.Census.all",
	}},
	{"Hold weak references: a referenced value is freed with its last user, and its key at the next sweep",
		[]string{"internal/instrument/series.Commons.all"}},
	{"As many as there are methods and versions of the protocol, kinds of transports and versions of HTTP", []string{
		"internal/server/engine.HTTP.assumed", "internal/server/engine.Server.observers",
		"internal/server/rpc.Observer.Peers",
		"internal/client/conn.Handshake.waiting",
		"mcpclient.decision.*", "internal/jsonrpc.Constant.names", "internal/schema.keywords", "mcpproxy.member.aliases",
	}},
	{"Are the content of an open recording, a file of at most 1 GiB", []string{
		"internal/recording.File.Entries", "internal/recording.Reaction.Steps", "internal/recording.division.*",
		"internal/recording.comparison.found",
	}},
	{"Belong to one call or message in flight, made of one frame, and end with it", []string{
		"internal/client/conn.Sending.Header", "mcpclient.memberTools.tools", "mcpclient.destination.options", "mcpclient/transport.Message.Header",
		"mcpclient/transport.recall.ended",
		"mcpclient/auth.flow.requestedBefore", "mcpclient/auth.registrationRequest.GrantTypes",
		"mcpserver.CompleteRequest.Context", "mcpserver.GetPromptRequest.Arguments",
		"mcpserver.ReadResourceRequest.Variables", "mcpserver.location.variables",
		"mcpserver.inputRequired.asks", "mcpserver.urlRequired.elicitations", "mcpserver/bearer.claims.Scope",
		"internal/server/engine.inspector.calls", "internal/relay/downstream.call.header", "mcpproxy.hiding.*",
		"mcpproxy.hostMessage.args",
		"mcpproxy.rewriter.to", "internal/ndjson.Writer.line",
		"internal/jsonrpc.names.more", "internal/jsonscan.Object.unquote", "internal/mirror.Param.Path",
		"internal/mirror.walk.*",
	}},
	{"Parts of one schema, or of one validation with it, which are bounded as a whole", []string{
		"internal/schema.builder.anchors", "internal/schema.builder.pointers", "internal/schema.builder.refs",
		"internal/schema.builder.resources", "internal/schema.composition.*",
		"internal/schema.document.*", "internal/schema.dynamicRef.to", "internal/schema.filling.added", "internal/schema.inspection.*",
		"internal/schema.node.*", "internal/schema.report.problems",
		"internal/schema.resource.*", "internal/schema.rules.*", "internal/schema.run.scopes",
	}},
	{"Parts of one span, point or record, which are bounded as a whole", []string{
		"internal/otlpsink.Event.*", "internal/otlpsink.Exemplar.*", "internal/otlpsink.Link.*",
		"internal/otlpsink.Origin.*", "internal/otlpsink.Point.*",
		"internal/otlpsink.Record.*", "internal/otlpsink.Span.*", "internal/otlpsink.Snapshot.*",
		"internal/otlpsink.listener.open",
	}},
	{"Pools of small things, which the garbage collector empties", []string{
		"mcpclient.Client.pool", "internal/client/conn.messages", "internal/instrument/propagate.carriers",
		"mcpserver.shownResults",
		"internal/instrument.endBuffers", "internal/instrument.idBlocks",
	}},
	{"Attributes of one measurement, on the stack of the goroutine that takes it", []string{
		"internal/instrument.measured.*",
	}},
}
