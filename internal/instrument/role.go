package instrument

import (
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// role holds the differences between clients and servers: the names of their metrics, events and attributes.
type role struct {
	which  telemetry.Side
	ins    *sideInstruments
	places *places
	keys   *keys
	events *events
}

// keys holds the attributes that both clients and servers have, with different prefixes.
type keys struct {
	corrID, // empty for a server: its requests have no correlation id
	group, // empty for a server, because servers have no groups
	safeToRetry, // empty for a server
	name, instance, duration, errorKind, resultType, requestSize, responseSize, direction, messageKind,
	violationReason, frameSize, frameLimit, frameHash, suppressed, dropReason, dropAge, streamKind,
	flightText, flightEntries, flightOmitted,
	auditOutcome, auditArguments, auditKeyID, auditSequence, auditHash string
}

var clientKeys = keys{
	corrID:          names.KeyMCPClientCorrID,
	group:           names.KeyMCPClientGroup,
	safeToRetry:     names.KeyMCPClientSafeToRetry,
	name:            names.KeyMCPClientName,
	instance:        names.KeyMCPClientInstanceID,
	duration:        names.KeyMCPClientDuration,
	errorKind:       names.KeyMCPClientErrorKind,
	resultType:      names.KeyMCPClientResultType,
	requestSize:     names.KeyMCPClientRequestSize,
	responseSize:    names.KeyMCPClientResponseSize,
	direction:       names.KeyMCPClientDirection,
	messageKind:     names.KeyMCPClientMessageKind,
	violationReason: names.KeyMCPClientViolationReason,
	frameSize:       names.KeyMCPClientFrameSize,
	frameLimit:      names.KeyMCPClientFrameLimit,
	frameHash:       names.KeyMCPClientFrameHeadHash,
	suppressed:      names.KeyMCPClientSuppressed,
	dropReason:      names.KeyMCPClientDropReason,
	dropAge:         names.KeyMCPClientDropAge,
	flightText:      names.KeyMCPClientFlightRecordText,
	flightEntries:   names.KeyMCPClientFlightRecordEntries,
	flightOmitted:   names.KeyMCPClientFlightRecordOmitted,
	auditOutcome:    names.KeyMCPClientAuditOutcome,
	auditArguments:  names.KeyMCPClientAuditArgumentsHash,
	auditKeyID:      names.KeyMCPClientAuditKeyID,
	auditSequence:   names.KeyMCPClientAuditSequence,
	auditHash:       names.KeyMCPClientAuditHash,
	streamKind:      names.KeyMCPClientStreamKind,
}

var serverKeys = keys{
	name:            names.KeyMCPServerName,
	instance:        names.KeyMCPServerInstanceID,
	duration:        names.KeyMCPServerDuration,
	errorKind:       names.KeyMCPServerErrorKind,
	resultType:      names.KeyMCPServerResultType,
	requestSize:     names.KeyMCPServerRequestSize,
	responseSize:    names.KeyMCPServerResponseSize,
	direction:       names.KeyMCPServerDirection,
	messageKind:     names.KeyMCPServerMessageKind,
	violationReason: names.KeyMCPServerViolationReason,
	frameSize:       names.KeyMCPServerFrameSize,
	frameLimit:      names.KeyMCPServerFrameLimit,
	frameHash:       names.KeyMCPServerFrameHeadHash,
	suppressed:      names.KeyMCPServerSuppressed,
	dropReason:      names.KeyMCPServerDropReason,
	dropAge:         names.KeyMCPServerDropAge,
	flightText:      names.KeyMCPServerFlightRecordText,
	flightEntries:   names.KeyMCPServerFlightRecordEntries,
	flightOmitted:   names.KeyMCPServerFlightRecordOmitted,
	auditOutcome:    names.KeyMCPServerAuditOutcome,
	auditArguments:  names.KeyMCPServerAuditArgumentsHash,
	auditKeyID:      names.KeyMCPServerAuditKeyID,
	auditSequence:   names.KeyMCPServerAuditSequence,
	auditHash:       names.KeyMCPServerAuditHash,
	streamKind:      names.KeyMCPServerStreamKind,
}

// requestEvents holds the events of one request. Events that cannot occur are empty.
type requestEvents struct{ start, stop, exception, toolError, inputRequired, reissued string }

// events holds the events that both clients and servers have, with different prefixes.
type events struct {
	sent, handled                                                            requestEvents
	panicked, notificationSent, notification, violation, dropped, sessionEnd string
	notificationDropped, streamOpened, streamClosed, flight, logLost         string
	audit                                                                    string
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
	audit:               names.EventMCPClientAuditCall,
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
	audit:               names.EventMCPServerAuditCall,
}
