package instrument

import "github.com/mcpotel/mcpotel/mcpclient/telemetry/names"

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
		start: names.EventMCPClientRequestStart, stop: names.EventMCPClientRequestStop,
		exception: names.EventMCPClientRequestException, toolError: names.EventMCPClientRequestToolError,
		inputRequired: names.EventMCPClientRequestInputRequired, reissued: names.EventMCPClientRequestReissued,
	},
	handled: requestEvents{
		start: names.EventMCPClientHandlerStart, stop: names.EventMCPClientHandlerStop,
		exception: names.EventMCPClientHandlerException,
	},
	panicked:         names.EventMCPClientHandlerPanic,
	notificationSent: names.EventMCPClientNotificationSent,
	notification:     names.EventMCPClientNotificationReceived,
	violation:        names.EventMCPClientProtocolViolation,
	dropped:          names.EventMCPClientResponseDropped,
	sessionEnd:       names.EventMCPClientSessionEnd,
	flight:           names.EventMCPClientConnectionFlightRecord,

	notificationDropped: names.EventMCPClientNotificationDropped,
	streamOpened:        names.EventMCPClientStreamOpened,
	streamClosed:        names.EventMCPClientStreamClosed,
	logLost:             names.EventMCPClientLogLost,
}

var serverEvents = events{
	sent: requestEvents{start: names.EventMCPServerAskStart, stop: names.EventMCPServerAskStop,
		exception: names.EventMCPServerAskException},
	handled: requestEvents{
		start: names.EventMCPServerRequestStart, stop: names.EventMCPServerRequestStop,
		exception: names.EventMCPServerRequestException, toolError: names.EventMCPServerRequestToolError,
		inputRequired: names.EventMCPServerRequestInputRequired,
	},
	panicked:         names.EventMCPServerHandlerPanic,
	notificationSent: names.EventMCPServerNotificationSent,
	notification:     names.EventMCPServerNotificationReceived,
	violation:        names.EventMCPServerProtocolViolation,
	dropped:          names.EventMCPServerResponseDropped,
	sessionEnd:       names.EventMCPServerSessionEnd,
	flight:           names.EventMCPServerConnectionFlightRecord,

	notificationDropped: names.EventMCPServerNotificationDropped,
	streamOpened:        names.EventMCPServerStreamOpened,
	streamClosed:        names.EventMCPServerStreamClosed,
	logLost:             names.EventMCPServerLogLost,
}
