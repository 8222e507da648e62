package names

// Names of metrics.
const (
	// Duration of a request or notification from the sender's view, from sending to the answer. In s.
	MetricMCPClientOperationDuration = "mcp.client.operation.duration"
	// Duration of a request or notification from the receiver's view, from its arrival to the answer. In s.
	MetricMCPServerOperationDuration = "mcp.server.operation.duration"
	// Duration of a tool call, for dashboards of the GenAI conventions: see telemetry.WithExecuteToolDuration. In s.
	MetricGenAIExecuteToolDuration = "gen_ai.execute_tool.duration"
	// Duration of a session from the client's view. Sessions may be much longer than the largest bucket: a View with
	// an exponential histogram suits them better. In s.
	MetricMCPClientSessionDuration = "mcp.client.session.duration"
	// Duration of a session from the server's view. In s.
	MetricMCPServerSessionDuration = "mcp.server.session.duration"
	// Time at which this process created its first client or server and started to count, in seconds since 1970.
	// With it, queries distinguish a counter that has just started from an older counter that Prometheus scrapes for
	// the first time. In s.
	MetricMCPClientStartTime = "mcp_client.start_time"
	// Requests that wait for a connection or for their answer. In {request}.
	MetricMCPClientActiveRequests = "mcp_client.active_requests"
	// Requests of the server that the client is answering. In {request}.
	MetricMCPClientActiveHandlers = "mcp_client.active_handlers"
	// Panics of handlers. In {panic}.
	MetricMCPClientHandlerPanics = "mcp_client.handler.panics"
	// Notifications sent and received. Dropped notifications are not included. In {notification}.
	MetricMCPClientNotificationMessages = "mcp_client.notification.messages"
	// Received notifications that did not reach their handlers. In {notification}.
	MetricMCPClientNotificationDrops = "mcp_client.notification.drops"
	// Frames that violated the protocol. In {violation}.
	MetricMCPClientProtocolViolations = "mcp_client.protocol.violations"
	// Responses for which no call waited. In {response}.
	MetricMCPClientResponseDrops = "mcp_client.response.drops"
	// Sizes of frames. In By.
	MetricMCPClientMessageSize = "mcp_client.message.size"
	// Time to decode a result. In s.
	MetricMCPClientMessageDecodeDuration = "mcp_client.message.decode.duration"
	// Time for which a message waited before it was written. In s.
	MetricMCPClientSendQueueWait = "mcp_client.send.queue.wait"
	// Messages that wait to be written. In {message}.
	MetricMCPClientSendQueueLength = "mcp_client.send.queue.length"
	// Resident memory of a stdio server: of its process, the processes that it has started, and its process group.
	// Only on Linux, as all metrics of processes. Memory that processes share counts for each of them. In By.
	MetricProcessMemoryUsage = "process.memory.usage"
	// CPU time of a stdio server's processes, over all its starts. The time between the last collection and the end
	// of a process is missing. In s.
	MetricProcessCpuTime = "process.cpu.time"
	// Time since the start of a stdio server's process. For several clients with the same name, the time since the
	// latest start. The restarts are the transitions with the reason transport_up. In s.
	MetricProcessUptime = "process.uptime"
	// Processes of a stdio server: its process, the processes that it has started, and its process group. In
	// {process}.
	MetricMCPClientProcessActive = "mcp_client.process.active"
	// Retries of sending a message. In {retry}.
	MetricMCPClientTransportSendRetries = "mcp_client.transport.send.retries"
	// Ids of calls that ended without an answer, kept to recognize late answers. In {tombstone}.
	MetricMCPClientTombstoneKept = "mcp_client.tombstone.kept"
	// Transitions of the connection between states. In {transition}.
	MetricMCPClientConnectionTransitions = "mcp_client.connection.transitions"
	// Clients in each state: 0 or 1 if each client has its own name. In {connection}.
	MetricMCPClientConnectionState = "mcp_client.connection.state"
	// Ready clients, by the name and version of their servers and the negotiated protocol version. In {connection}.
	MetricMCPClientServerInfo = "mcp_client.server.info"
	// Duration of an attempt to connect, including the negotiation. In s.
	MetricMCPClientConnectionAttemptDuration = "mcp_client.connection.attempt.duration"
	// Delay before an attempt to connect. In s.
	MetricMCPClientConnectionBackoff = "mcp_client.connection.backoff"
	// Open streams that do not belong to a single request. In {stream}.
	MetricMCPClientStreamActive = "mcp_client.stream.active"
	// Lifetime of a stream that does not belong to a single request. In s.
	MetricMCPClientStreamDuration = "mcp_client.stream.duration"
	// Lookups of results in the client's cache. A hit sends no request, and no other metric counts it. In {lookup}.
	MetricMCPClientCacheLookups = "mcp_client.cache.lookups"
	// Total size of the tools in the server's latest list: name, description and inputSchema, as compact JSON. For
	// several clients with the same name, the largest list. In By.
	MetricMCPClientToolListSize = "mcp_client.tool.list.size"
	// Total size of the tools in the server's latest list, in estimated tokens of o200k_base: see package
	// mcp/contextcost. In {token}.
	MetricMCPClientToolListTokenEstimate = "mcp_client.tool.list.token.estimate"
	// Size of a tool's definition in the server's latest list, as compact JSON: see telemetry.WithContextCost. In
	// By.
	MetricMCPClientToolDefinitionSize = "mcp_client.tool.definition.size"
	// Size of a tool's definition in the server's latest list, in estimated tokens of o200k_base: see package
	// mcp/contextcost. In {token}.
	MetricMCPClientToolDefinitionTokenEstimate = "mcp_client.tool.definition.token.estimate"
	// Tools that differ from the previous list, or from the baseline: see mcpclient.UseDriftDetection. In {change}.
	MetricMCPClientToolChanges = "mcp_client.tool.changes"
	// Size of tool results, including errors that tools report, as JSON: see telemetry.WithContextCost. Calls that
	// became tasks are not included. In By.
	MetricMCPClientToolResultSize = "mcp_client.tool.result.size"
	// Tool calls in a loop of calls that return nothing new: see mcpclient.UseLoopDetection. Calls that were not
	// sent because of the loop are not included. In {call}.
	MetricMCPClientToolLoops = "mcp_client.tool.loops"
	// Gaps in which the client may have missed changes of lists or resources. After a gap, the client clears its
	// caches and calls the handlers of changes. In {gap}.
	MetricMCPClientChangeGap = "mcp_client.change.gap"
	// Audit records of calls that could not be written to the audit file: see telemetry.WithAudit. In {record}.
	MetricMCPClientAuditLosses = "mcp_client.audit.losses"
	// Time at which this process created its first client or server, in seconds since 1970; no counter is older.
	// Reported once the process has created a server. In s.
	MetricMCPServerStartTime = "mcp_server.start_time"
	// Requests that the server is answering. In {request}.
	MetricMCPServerActiveRequests = "mcp_server.active_requests"
	// Panics of handlers. In {panic}.
	MetricMCPServerHandlerPanics = "mcp_server.handler.panics"
	// Notifications sent and received. In {notification}.
	MetricMCPServerNotificationMessages = "mcp_server.notification.messages"
	// Frames that violated the protocol. In {violation}.
	MetricMCPServerProtocolViolations = "mcp_server.protocol.violations"
	// Responses for which no request waited. In {response}.
	MetricMCPServerResponseDrops = "mcp_server.response.drops"
	// Notifications that were not sent, for example because the client accepts no notifications or because an equal
	// notification was waiting. In {notification}.
	MetricMCPServerNotificationDrops = "mcp_server.notification.drops"
	// Requests to clients that are not answered yet. In {request}.
	MetricMCPServerActiveAsks = "mcp_server.active_asks"
	// Open sessions in this process. Protocol versions from 2026-07-28 have none. In {session}.
	MetricMCPServerSessionActive = "mcp_server.session.active"
	// Open streams that do not belong to a single request. In {stream}.
	MetricMCPServerStreamActive = "mcp_server.stream.active"
	// Lifetime of a stream that does not belong to a single request. In s.
	MetricMCPServerStreamDuration = "mcp_server.stream.duration"
	// Sizes of frames. In By.
	MetricMCPServerMessageSize = "mcp_server.message.size"
	// Time to decode the params of a request, without the arguments of a tool, or the client's answer to a request
	// of the server. In s.
	MetricMCPServerMessageDecodeDuration = "mcp_server.message.decode.duration"
	// Running tasks, including tasks that wait for input. In {task}.
	MetricMCPServerTaskActive = "mcp_server.task.active"
	// Time from the creation of a task to its end. In s.
	MetricMCPServerTaskDuration = "mcp_server.task.duration"
	// Messages that a proxy's policy changed or blocked, by decision, with the tool if the message names one: see
	// mcpproxy.Policy. In {decision}.
	MetricMCPServerPolicyDecisions = "mcp_server.policy.decisions"
	// Time for which a message waited before it was written. HTTP has no queue. In s.
	MetricMCPServerSendQueueWait = "mcp_server.send.queue.wait"
	// Requests received, by the name and version of the client. In {request}.
	MetricMCPServerClientRequests = "mcp_server.client.requests"
	// Messages that wait to be written, over all connections. HTTP has no queue. In {message}.
	MetricMCPServerSendQueueLength = "mcp_server.send.queue.length"
	// Requests that the server refused before they reached a handler, by reason. A refused MCP request also has a
	// span and a duration. In {request}.
	MetricMCPServerRequestRefused = "mcp_server.request.refused"
	// Used amount of a limited resource. Of several connections, sessions or handlers, the fullest counts. In
	// {item}.
	MetricMCPServerCapacityUsage = "mcp_server.capacity.usage"
	// Limit of a resource: the maximum of mcp_server.capacity.usage. In {item}.
	MetricMCPServerCapacityLimit = "mcp_server.capacity.limit"
	// Used amount of limited memory. Of several connections, sessions or handlers, the fullest counts. In By.
	MetricMCPServerMemoryUsage = "mcp_server.memory.usage"
	// Limit of memory: the maximum of mcp_server.memory.usage. In By.
	MetricMCPServerMemoryLimit = "mcp_server.memory.limit"
	// Audit records of calls that could not be written to the audit file: see telemetry.WithAudit. In {record}.
	MetricMCPServerAuditLosses = "mcp_server.audit.losses"
)
