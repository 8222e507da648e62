package connstate

import "log/slog"

// Reason is the reason why the connection moved from one state to another. The set of reasons is closed: a reason's
// string is the value of the metric attribute mcp_client.connection.reason.
type Reason uint8

const (
	// ReasonOther is the zero value. It represents every reason that is not listed here.
	ReasonOther Reason = iota
	// ReasonTransportUp: the transport opened a connection.
	ReasonTransportUp
	// ReasonOpenFailed: the transport could not open a connection; another attempt may succeed.
	ReasonOpenFailed
	// ReasonRefused: further attempts cannot succeed, for example because an executable does not exist, the server rejects
	// the credentials, or there is no common protocol version. The reason also applies if the client was never ready and
	// all allowed attempts have failed.
	ReasonRefused
	// ReasonNegotiated: version and capabilities are agreed on and valid.
	ReasonNegotiated
	// ReasonNegotiationFailed: the server answered the handshake with an error or an unusable response.
	ReasonNegotiationFailed
	// ReasonProbeLost: the connection ended during the probe for the modern era. Servers that support only the legacy era
	// may react to the probe in this way.
	ReasonProbeLost
	// ReasonInitTimeout: the connection was not opened, or not negotiated, within the init timeout.
	ReasonInitTimeout
	// ReasonTransportDown: the connection ended.
	ReasonTransportDown
	// ReasonSessionGone: the server no longer knows the session.
	ReasonSessionGone
	// ReasonInvalidStreak: there were too many consecutive invalid frames.
	ReasonInvalidStreak
	// ReasonFrameTooLarge: a frame exceeded the limit.
	ReasonFrameTooLarge
	// ReasonDelayElapsed: the backoff delay is over.
	ReasonDelayElapsed
	// ReasonStopRequested: the user closed the client.
	ReasonStopRequested
	// ReasonTransportClosed: the client was closed or refused, and its connection has been closed.
	ReasonTransportClosed
	// ReasonCloseTimeout: the client was closed or refused, and its connection took too long to close.
	ReasonCloseTimeout
	// ReasonIdle: a group stopped the client of a member, because nothing had used it for a time.
	ReasonIdle
)

var reasonWords = [...]string{
	ReasonOther:             other,
	ReasonTransportUp:       "transport_up",
	ReasonOpenFailed:        "open_failed",
	ReasonRefused:           "refused",
	ReasonNegotiated:        "negotiated",
	ReasonNegotiationFailed: "negotiation_failed",
	ReasonProbeLost:         "probe_lost",
	ReasonInitTimeout:       "init_timeout",
	ReasonTransportDown:     "transport_down",
	ReasonSessionGone:       "session_gone",
	ReasonInvalidStreak:     "invalid_streak",
	ReasonFrameTooLarge:     "frame_too_large",
	ReasonDelayElapsed:      "delay_elapsed",
	ReasonStopRequested:     "stop_requested",
	ReasonTransportClosed:   "transport_closed",
	ReasonCloseTimeout:      "close_timeout",
	ReasonIdle:              "idle",
}

// Reasons returns all reasons. [ReasonOther] is the first.
func Reasons() []Reason { return list[Reason](len(reasonWords)) }

// String returns the reason's stable string, such as "transport_down", or "_OTHER" for a value that is not listed.
func (r Reason) String() string { return word(reasonWords[:], int(r)) }

// MarshalText returns the result of [Reason.String]. It never fails.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses the result of [Reason.String]. It reads an unknown string as [ReasonOther], because a later
// version may have more reasons.
func (r *Reason) UnmarshalText(text []byte) error {
	i, err := lookup(reasonWords[:], "reason", text)
	if err != nil {
		i = uint8(ReasonOther)
	}
	*r = Reason(i)
	return nil
}

// LogValue makes a log record show the result of [Reason.String].
func (r Reason) LogValue() slog.Value { return slog.StringValue(r.String()) }
