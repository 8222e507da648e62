package names

// Names of metrics.
const (
	// Duration of a request or notification as its sender sees it, from sending to the answer. In s.
	MetricMCPClientOperationDuration = "mcp.client.operation.duration"
	// Duration of a request or notification as its receiver sees it, from its arrival to the answer. In s.
	MetricMCPServerOperationDuration = "mcp.server.operation.duration"
	// Duration of a tool call, for dashboards of the GenAI conventions: see telemetry.WithExecuteToolDuration. In s.
	MetricGenAIExecuteToolDuration = "gen_ai.execute_tool.duration"
	// Duration of a session as the client sees it. Sessions may outlast the buckets by far: a View with an
	// exponential histogram serves them better. In s.
	MetricMCPClientSessionDuration = "mcp.client.session.duration"
	// Duration of a session as the server sees it. In s.
	MetricMCPServerSessionDuration = "mcp.server.session.duration"
	// When this process began to count, as seconds since 1970: with its first client or server. A query tells by it
	// a counter that has just begun from one that Prometheus sees for the first time. In s.
	MetricMCPClientStartTime = "mcp_client.start_time"
	// Requests that wait for a connection or for their answer. In {request}.
	MetricMCPClientActiveRequests = "mcp_client.active_requests"
	// Requests of the server that the client is answering. In {request}.
	MetricMCPClientActiveHandlers = "mcp_client.active_handlers"
	// Panics of handlers. In {panic}.
	MetricMCPClientHandlerPanics = "mcp_client.handler.panics"
	// Notifications sent, and notifications received that were handled or had no handler. In {notification}.
	MetricMCPClientNotificationMessages = "mcp_client.notification.messages"
	// Notifications received that did not reach their handlers. In {notification}.
	MetricMCPClientNotificationDrops = "mcp_client.notification.drops"
	// Frames that broke the protocol. In {violation}.
	MetricMCPClientProtocolViolations = "mcp_client.protocol.violations"
	// Responses for which no call waited. In {response}.
	MetricMCPClientResponseDrops = "mcp_client.response.drops"
	// Sizes of frames. In By.
	MetricMCPClientMessageSize = "mcp_client.message.size"
	// Time to decode a result. In s.
	MetricMCPClientMessageDecodeDuration = "mcp_client.message.decode.duration"
	// Time a message waited before it was written. In s.
	MetricMCPClientSendQueueWait = "mcp_client.send.queue.wait"
	// Messages that wait to be written. In {message}.
	MetricMCPClientSendQueueLength = "mcp_client.send.queue.length"
	// Further tries to send a message. In {retry}.
	MetricMCPClientTransportSendRetries = "mcp_client.transport.send.retries"
	// Ids of calls that ended without an answer, kept to know a late one by. In {tombstone}.
	MetricMCPClientTombstoneKept = "mcp_client.tombstone.kept"
	// Moves of the connection from state to state. In {transition}.
	MetricMCPClientConnectionTransitions = "mcp_client.connection.transitions"
	// Clients in each state: 0 or 1 where each has a name of its own. In {connection}.
	MetricMCPClientConnectionState = "mcp_client.connection.state"
	// Clients that are ready, by what their servers call themselves and the version that was agreed on. In
	// {connection}.
	MetricMCPClientServerInfo = "mcp_client.server.info"
	// Duration of an attempt to connect, negotiation included. In s.
	MetricMCPClientConnectionAttemptDuration = "mcp_client.connection.attempt.duration"
	// Delay before an attempt to connect. In s.
	MetricMCPClientConnectionBackoff = "mcp_client.connection.backoff"
	// Streams that are open and serve no single request. In {stream}.
	MetricMCPClientStreamActive = "mcp_client.stream.active"
	// Time a stream was open that served no single request. In s.
	MetricMCPClientStreamDuration = "mcp_client.stream.duration"
	// Results that were looked for in the client's cache. A hit is no request: nothing is sent, and no other metric
	// counts it. In {lookup}.
	MetricMCPClientCacheLookups = "mcp_client.cache.lookups"
	// Sizes of all tools that the server listed last, together: name, description and inputSchema, as compact JSON.
	// Of clients of one name, the largest. In By.
	MetricMCPClientToolListSize = "mcp_client.tool.list.size"
	// The same in tokens of o200k_base, estimated: see package mcp/contextcost. In {token}.
	MetricMCPClientToolListTokenEstimate = "mcp_client.tool.list.token.estimate"
	// Sizes of the definition of a tool that the server listed last, as compact JSON: see telemetry.WithContextCost.
	// In By.
	MetricMCPClientToolDefinitionSize = "mcp_client.tool.definition.size"
	// The same in tokens of o200k_base, estimated: see package mcp/contextcost. In {token}.
	MetricMCPClientToolDefinitionTokenEstimate = "mcp_client.tool.definition.token.estimate"
	// Tools that a list has otherwise than the list before, or than the baseline: see mcpclient.UseDriftDetection.
	// In {change}.
	MetricMCPClientToolChanges = "mcp_client.tool.changes"
	// Sizes of the results of tools, errors that tools report among them, as JSON: see telemetry.WithContextCost.
	// Not those of calls that became tasks. In By.
	MetricMCPClientToolResultSize = "mcp_client.tool.result.size"
	// Calls of tools that have brought nothing new so often that they are a loop, each from then on: see
	// mcpclient.UseLoopDetection. Calls that were not sent for that reason are not among them. In {call}.
	MetricMCPClientToolLoops = "mcp_client.tool.loops"
	// Times at which the client may have missed changes of lists or resources. It forgets its caches then, and calls
	// the handlers of changes. In {gap}.
	MetricMCPClientChangeGap = "mcp_client.change.gap"
	// The same of a process with servers. In s.
	MetricMCPServerStartTime = "mcp_server.start_time"
	// Requests that the server is answering. In {request}.
	MetricMCPServerActiveRequests = "mcp_server.active_requests"
	// Panics of handlers. In {panic}.
	MetricMCPServerHandlerPanics = "mcp_server.handler.panics"
	// Notifications sent and received. In {notification}.
	MetricMCPServerNotificationMessages = "mcp_server.notification.messages"
	// Frames that broke the protocol. In {violation}.
	MetricMCPServerProtocolViolations = "mcp_server.protocol.violations"
	// Responses for which no call waited. In {response}.
	MetricMCPServerResponseDrops = "mcp_server.response.drops"
	// Notifications that were not sent: the client took none, or one like it was waiting. In {notification}.
	MetricMCPServerNotificationDrops = "mcp_server.notification.drops"
	// Requests to clients that wait for their answers. In {request}.
	MetricMCPServerActiveAsks = "mcp_server.active_asks"
	// Sessions that are open in this process. Versions of the protocol from 2026-07-28 on have none. In {session}.
	MetricMCPServerSessionActive = "mcp_server.session.active"
	// Streams that are open and serve no single request. In {stream}.
	MetricMCPServerStreamActive = "mcp_server.stream.active"
	// Time a stream was open that served no single request. In s.
	MetricMCPServerStreamDuration = "mcp_server.stream.duration"
	// Sizes of frames. In By.
	MetricMCPServerMessageSize = "mcp_server.message.size"
	// Time to decode the params of a request, without the arguments of a tool, or the client's answer to a request
	// of the server. In s.
	MetricMCPServerMessageDecodeDuration = "mcp_server.message.decode.duration"
	// Tasks that run, those that wait for input included. In {task}.
	MetricMCPServerTaskActive = "mcp_server.task.active"
	// Time from the creation of a task to its outcome. In s.
	MetricMCPServerTaskDuration = "mcp_server.task.duration"
	// Messages that the policy of a proxy has not passed on as they were, by what it did; with the tool, if they are
	// about one: see mcpproxy.Policy. In {decision}.
	MetricMCPServerPolicyDecisions = "mcp_server.policy.decisions"
	// Time a message waited before it was written. HTTP has no queue. In s.
	MetricMCPServerSendQueueWait = "mcp_server.send.queue.wait"
	// Requests received, by what clients call themselves. In {request}.
	MetricMCPServerClientRequests = "mcp_server.client.requests"
	// Messages that wait to be written, over all connections. HTTP has no queue. In {message}.
	MetricMCPServerSendQueueLength = "mcp_server.send.queue.length"
	// Requests that the server refused before a handler saw them, by reason. Those that reached the server as MCP
	// requests have a span and a duration besides. In {request}.
	MetricMCPServerRequestRefused = "mcp_server.request.refused"
	// How much of a limited resource is in use. Of several connections, sessions and handlers, the fullest. In
	// {item}.
	MetricMCPServerCapacityUsage = "mcp_server.capacity.usage"
	// How much of a limited resource there is: the limit that mcp_server.capacity.usage approaches. In {item}.
	MetricMCPServerCapacityLimit = "mcp_server.capacity.limit"
	// Limited memory that is in use. Of several connections, sessions and handlers, the fullest. In By.
	MetricMCPServerMemoryUsage = "mcp_server.memory.usage"
	// The limit that mcp_server.memory.usage approaches. In By.
	MetricMCPServerMemoryLimit = "mcp_server.memory.limit"
)
