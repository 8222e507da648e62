package connstate

import "log/slog"

// Reason says why the connection moved from one state to another. The set is closed: a reason's word is the value of
// the metric attribute mcp_client.connection.reason.
type Reason uint8

const (
	// Other is the zero value and stands for every reason that is not listed here.
	Other Reason = iota
	// TransportUp: the transport opened a connection.
	TransportUp
	// OpenFailed: the transport could not open a connection; another attempt may succeed.
	OpenFailed
	// Refused: no further attempt can help, such as an executable that does not exist, credentials that are not
	// accepted, or no protocol version in common; or the attempts allowed before the first success are used up.
	Refused
	// Negotiated: version and capabilities are agreed on and valid.
	Negotiated
	// NegotiationFailed: the server answered the handshake with an error or with something unusable.
	NegotiationFailed
	// ProbeLost: the connection ended on the modern era's probe, as servers do that know only the legacy era.
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
	// TransportClosed: after a stop or a refusal nothing is open any more.
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

// Reasons lists every reason, [Other] first.
func Reasons() []Reason { return list[Reason](len(reasonWords)) }

// String returns the reason's stable word, such as "transport_down", or "_OTHER" for a value that is not listed.
func (r Reason) String() string { return word(reasonWords[:], int(r)) }

// MarshalText returns the word of [Reason.String]. It never fails.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the word of [Reason.String]. A word that is not listed is [Other], as a later version may have
// it.
func (r *Reason) UnmarshalText(text []byte) error {
	i, err := lookup(reasonWords[:], "reason", text)
	if err != nil {
		i = uint8(Other)
	}
	*r = Reason(i)
	return nil
}

// LogValue makes a log record show the word of [Reason.String].
func (r Reason) LogValue() slog.Value { return slog.StringValue(r.String()) }
