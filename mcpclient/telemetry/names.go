package telemetry

// Names of metrics.
const (
	metricClientDuration = "mcp.client.operation.duration"
	metricServerDuration = "mcp.server.operation.duration"
	metricClientSession  = "mcp.client.session.duration"
	metricServerSession  = "mcp.server.session.duration"

	metricClientActive               = "mcp_client.active_requests"
	metricClientHandlers             = "mcp_client.active_handlers"
	metricClientPanics               = "mcp_client.handler.panics"
	metricClientNotifications        = "mcp_client.notifications"
	metricClientNotificationsDropped = "mcp_client.notifications.dropped"
	metricClientViolations           = "mcp_client.protocol.violations"
	metricClientDropped              = "mcp_client.responses.dropped"
	metricClientMessageSize          = "mcp_client.message.size"
	metricClientDecode               = "mcp_client.message.decode.duration"
	metricClientQueueWait            = "mcp_client.send.queue.wait"
	metricClientQueueLength          = "mcp_client.send.queue.length"
	metricClientRetries              = "mcp_client.transport.send.retries"
	metricClientTombstones           = "mcp_client.tombstones"
	metricClientTransitions          = "mcp_client.connection.transitions"
	metricClientState                = "mcp_client.connection.state"
	metricClientAttempt              = "mcp_client.connection.attempt.duration"
	metricClientBackoff              = "mcp_client.connection.backoff"
	metricClientStreams              = "mcp_client.streams.active"
	metricClientStream               = "mcp_client.stream.duration"
	metricClientCache                = "mcp_client.cache.lookups"

	metricServerHandlers             = "mcp_server.active_requests"
	metricServerPanics               = "mcp_server.handler.panics"
	metricServerNotifications        = "mcp_server.notifications"
	metricServerViolations           = "mcp_server.protocol.violations"
	metricServerDropped              = "mcp_server.responses.dropped"
	metricServerMessageSize          = "mcp_server.message.size"
	metricServerDecode               = "mcp_server.message.decode.duration"
	metricServerQueueWait            = "mcp_server.send.queue.wait"
	metricServerQueueLength          = "mcp_server.send.queue.length"
	metricServerAsks                 = "mcp_server.active_asks"
	metricServerSessions             = "mcp_server.sessions.active"
	metricServerStreams              = "mcp_server.streams.active"
	metricServerStream               = "mcp_server.stream.duration"
	metricServerNotificationsDropped = "mcp_server.notifications.dropped"
	metricServerTasks                = "mcp_server.tasks.active"
	metricServerTask                 = "mcp_server.task.duration"
)

// Names of events, which are the messages of their log records too.
const (
	eventClientStart               = "mcp_client.request.start"
	eventClientStop                = "mcp_client.request.stop"
	eventClientException           = "mcp_client.request.exception"
	eventClientToolError           = "mcp_client.request.tool_error"
	eventClientInputRequired       = "mcp_client.request.input_required"
	eventClientReissued            = "mcp_client.request.reissued"
	eventClientHandlerStart        = "mcp_client.handler.start"
	eventClientHandlerStop         = "mcp_client.handler.stop"
	eventClientHandlerException    = "mcp_client.handler.exception"
	eventClientPanic               = "mcp_client.handler.panic"
	eventClientNotificationSent    = "mcp_client.notification.sent"
	eventClientNotification        = "mcp_client.notification.received"
	eventClientNotificationDropped = "mcp_client.notification.dropped"
	eventClientViolation           = "mcp_client.protocol.violation"
	eventClientDropped             = "mcp_client.response.dropped"
	eventClientSessionEnd          = "mcp_client.session.end"
	eventClientTransition          = "mcp_client.connection.transition"
	eventClientAttempt             = "mcp_client.connection.attempt"
	eventClientBackoff             = "mcp_client.connection.backoff"
	eventClientRetry               = "mcp_client.send.retry"
	eventClientTombstoneAdded      = "mcp_client.tombstone.added"
	eventClientTombstoneExpired    = "mcp_client.tombstone.expired"
	eventClientExit                = "mcp_client.process.exit"
	eventClientStderr              = "mcp_client.process.stderr"
	eventClientLogLost             = "mcp_client.log.lost"
	eventClientCloseFailed         = "mcp_client.connection.close_failed"
	eventClientUnchecked           = "mcp_client.tool.output_unchecked"
	eventClientToolRejected        = "mcp_client.tool.rejected"
	eventClientIconRejected        = "mcp_client.icon.rejected"
	eventClientSubscriptionLost    = "mcp_client.subscription.lost"
	eventClientStreamOpened        = "mcp_client.stream.opened"
	eventClientStreamClosed        = "mcp_client.stream.closed"
	eventClientStreamRefused       = "mcp_client.stream.refused"
	eventClientMessageRefused      = "mcp_client.message.refused"
	eventClientFlight              = "mcp_client.connection.flight_record"

	eventServerStart               = "mcp_server.request.start"
	eventServerStop                = "mcp_server.request.stop"
	eventServerException           = "mcp_server.request.exception"
	eventServerToolError           = "mcp_server.request.tool_error"
	eventServerInputRequired       = "mcp_server.request.input_required"
	eventServerNotificationDropped = "mcp_server.notification.dropped"
	eventServerStreamOpened        = "mcp_server.stream.opened"
	eventServerStreamClosed        = "mcp_server.stream.closed"
	eventServerAskStart            = "mcp_server.ask.start"
	eventServerAskStop             = "mcp_server.ask.stop"
	eventServerAskException        = "mcp_server.ask.exception"
	eventServerPanic               = "mcp_server.handler.panic"
	eventServerNotificationSent    = "mcp_server.notification.sent"
	eventServerNotification        = "mcp_server.notification.received"
	eventServerViolation           = "mcp_server.protocol.violation"
	eventServerDropped             = "mcp_server.response.dropped"
	eventServerSessionEnd          = "mcp_server.session.end"
	eventServerTaskEnd             = "mcp_server.task.end"
	eventServerNoDeadlines         = "mcp_server.http.no_deadlines"
	eventServerLogLost             = "mcp_server.log.lost"
	eventServerFlight              = "mcp_server.connection.flight_record"
)

// Names of the spans that are not named after their method and target.
const (
	spanConnect  = "mcp_client.connect"
	spanAuthStep = "mcp_client.auth" // and the step
	spanTask     = "mcp_server.task" // and the tool
)

// requestEvents are the events in the life of one request. Those that it cannot meet are empty.
type requestEvents struct{ start, stop, exception, toolError, inputRequired, reissued string }

// events are those that a client and a server both have, each under its own prefix.
type events struct {
	sent, handled                                                            requestEvents
	panicked, notificationSent, notification, violation, dropped, sessionEnd string
	notificationDropped, streamOpened, streamClosed, flight, logLost         string
}

var clientEvents = events{
	sent: requestEvents{
		start: eventClientStart, stop: eventClientStop,
		exception: eventClientException, toolError: eventClientToolError,
		inputRequired: eventClientInputRequired, reissued: eventClientReissued,
	},
	handled: requestEvents{
		start: eventClientHandlerStart, stop: eventClientHandlerStop, exception: eventClientHandlerException,
	},
	panicked:         eventClientPanic,
	notificationSent: eventClientNotificationSent,
	notification:     eventClientNotification,
	violation:        eventClientViolation,
	dropped:          eventClientDropped,
	sessionEnd:       eventClientSessionEnd,
	flight:           eventClientFlight,

	notificationDropped: eventClientNotificationDropped,
	streamOpened:        eventClientStreamOpened,
	streamClosed:        eventClientStreamClosed,
	logLost:             eventClientLogLost,
}

var serverEvents = events{
	sent: requestEvents{start: eventServerAskStart, stop: eventServerAskStop, exception: eventServerAskException},
	handled: requestEvents{
		start: eventServerStart, stop: eventServerStop,
		exception: eventServerException, toolError: eventServerToolError, inputRequired: eventServerInputRequired,
	},
	panicked:         eventServerPanic,
	notificationSent: eventServerNotificationSent,
	notification:     eventServerNotification,
	violation:        eventServerViolation,
	dropped:          eventServerDropped,
	sessionEnd:       eventServerSessionEnd,
	flight:           eventServerFlight,

	notificationDropped: eventServerNotificationDropped,
	streamOpened:        eventServerStreamOpened,
	streamClosed:        eventServerStreamClosed,
	logLost:             eventServerLogLost,
}
