package inflight

// Cause is the reason why a call left without an answer.
type Cause uint8

const (
	// Timeout means that the call's deadline passed.
	Timeout Cause = iota + 1
	// Cancelled means that the caller no longer waits.
	Cancelled
	// Lost means that the connection ended.
	Lost
	// Shutdown means that the client is closing.
	Shutdown
	// Protocol means that the server violated the protocol.
	Protocol
)

var causeWords = [...]string{
	Timeout:   "timeout",
	Cancelled: "cancelled",
	Lost:      "lost",
	Shutdown:  "shutdown",
	Protocol:  "protocol",
}

// String returns the cause as one lower-case word. It is empty for the zero Cause.
func (c Cause) String() string { return causeWords[c] }

// Class is the class of an answer's ID.
type Class uint8

const (
	// Unknown means that no call ever had the ID.
	Unknown Class = iota
	// InFlight means that a call waits for the answer.
	InFlight
	// Late means that the call left without an answer and has a tombstone.
	Late
	// Duplicate means that the ID was used before, but its call was already answered, or the call's tombstone has expired
	// or was evicted.
	Duplicate
)

var classWords = [...]string{
	Unknown:   "unknown",
	InFlight:  "in flight",
	Late:      "late",
	Duplicate: "duplicate",
}

// String returns the class in lower-case words.
func (c Class) String() string { return classWords[c] }
