package instrument

import "github.com/mcpotel/mcpotel/mcpclient/telemetry/names"

// keys are the attributes that a client and a server both have, each under its own prefix.
type keys struct {
	corrID, // empty for a server, whose requests have none
	group, // empty for a server, which is in none
	safeToRetry, // empty for a server
	name, instance, duration, errorKind, resultType, requestSize, responseSize, direction, messageKind,
	violationReason, frameSize, frameLimit, frameHash, suppressed, dropReason, dropAge, streamKind,
	flightText, flightEntries, flightOmitted string
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
	streamKind:      names.KeyMCPServerStreamKind,
}
