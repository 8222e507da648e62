package connstate

import "log/slog"

// Reason is the reason why the connection moved from one state to another. The set is closed: a reason's string is the
// value of the metric attribute mcp_client.connection.reason.
type Reason uint8

const (
	// Other is the zero value and represents every reason that is not listed here.
	Other Reason = iota
	// TransportUp: the transport opened a connection.
	TransportUp
	// OpenFailed: the transport could not open a connection; another attempt may succeed.
	OpenFailed
	// Refused: further attempts cannot succeed, for example because an executable does not exist, the server rejects the
	// credentials, or there is no common protocol version; or all attempts allowed before the first success have failed.
	Refused
	// Negotiated: version and capabilities are agreed on and valid.
	Negotiated
	// NegotiationFailed: the server answered the handshake with an error or an unusable response.
	NegotiationFailed
	// ProbeLost: the connection ended during the modern era's probe, which is how servers react that know only the legacy
	// era.
	ProbeLost
	// InitTimeout: the connection was not opened, or not negotiated, within the init timeout.
	InitTimeout
	// TransportDown: the connection ended.
	TransportDown
	// SessionGone: the server no longer knows the session.
	SessionGone
	// InvalidStreak: too many invalid frames came in a row.
	InvalidStreak
	// FrameTooLarge: a frame exceeded the limit.
	FrameTooLarge
	// DelayElapsed: the backoff delay is over.
	DelayElapsed
	// StopRequested: the user stopped the client.
	StopRequested
	// TransportClosed: after a stop or a refusal, everything has been closed.
	TransportClosed
	// CloseTimeout: after a stop or a refusal the connection took too long to close.
	CloseTimeout
)

var reasonWords = [...]string{
	Other:             other,
	TransportUp:       "transport_up",
	OpenFailed:        "open_failed",
	Refused:           "refused",
	Negotiated:        "negotiated",
	NegotiationFailed: "negotiation_failed",
	ProbeLost:         "probe_lost",
	InitTimeout:       "init_timeout",
	TransportDown:     "transport_down",
	SessionGone:       "session_gone",
	InvalidStreak:     "invalid_streak",
	FrameTooLarge:     "frame_too_large",
	DelayElapsed:      "delay_elapsed",
	StopRequested:     "stop_requested",
	TransportClosed:   "transport_closed",
	CloseTimeout:      "close_timeout",
}

// Reasons returns all reasons, [Other] first.
func Reasons() []Reason { return list[Reason](len(reasonWords)) }

// String returns the reason's stable string, such as "transport_down", or "_OTHER" for a value that is not listed.
func (r Reason) String() string { return word(reasonWords[:], int(r)) }

// MarshalText returns the result of [Reason.String]. It never fails.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses the result of [Reason.String]. It reads an unknown string as [Other], because a later version
// may have more reasons.
func (r *Reason) UnmarshalText(text []byte) error {
	i, err := lookup(reasonWords[:], "reason", text)
	if err != nil {
		i = uint8(Other)
	}
	*r = Reason(i)
	return nil
}

// LogValue makes a log record show the result of [Reason.String].
func (r Reason) LogValue() slog.Value { return slog.StringValue(r.String()) }
