package telemetry

import "time"

// FlightSize is how many entries the flight recorder of a client or a server holds; the oldest makes room.
const FlightSize = 256

// FlightEntry is an entry of a flight recorder: something that happened, as sizes, names and ids. Which fields are
// there depends on the kind. Names are those that metrics have, of which there are so many: others are _OTHER.
type FlightEntry struct {
	// Time is when it happened, for a request when it was sent or arrived.
	Time time.Time `json:"time"`

	// Kind is what happened:
	//
	//	request       was sent, and Pending or ended
	//	handler       answers a request of the peer, or did
	//	notification  was sent or received; not those of progress, log messages and cancellation
	//	attempt       to connect ended; Attempt numbers it
	//	transition    of the connection, From a state To another, in which it was for the time Elapsed
	//	backoff       began, to last for the time Elapsed
	//	violation     of the protocol by a frame of Size, above the Limit if that was the rule
	//	drop          of a response that no call waited for, which came the time Elapsed after the end of its call
	//	lost          notification, which reached no handler
	//	panic         of a handler
	//	exit          of the server's process, PID, with Code or by the signal that is the Reason
	//	stream        that serves no single request opened, or was Closed
	//	session       ended
	//	task          ended, with the status that is the Reason
	//	failure       of a server's connection
	Kind string `json:"kind"`

	Direction string `json:"direction,omitempty"` // of the message: sent or received
	Method    string `json:"method,omitempty"`
	Target    string `json:"target,omitempty"` // tool or prompt
	ID        string `json:"id,omitempty"`     // of the request; of one that the peer gave, up to 16 bytes
	TraceID   string `json:"trace_id,omitempty"`
	CorrID    string `json:"corr_id,omitempty"`

	Pending bool          `json:"pending,omitempty"` // it has not ended
	Failed  bool          `json:"failed,omitempty"`
	Reason  string        `json:"reason,omitempty"` // error.type if it failed, or another word
	Elapsed time.Duration `json:"elapsed_ns,omitempty"`
	// how often it happened in a row, if more than once; the rest is of the last time
	Count int `json:"count,omitempty"`

	BytesSent     int `json:"bytes_sent,omitempty"`
	BytesReceived int `json:"bytes_received,omitempty"`
	Retries       int `json:"retries,omitempty"` // of sending
	Round         int `json:"round,omitempty"`   // of a call that brings the server what it asked for

	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Epoch   int64  `json:"epoch,omitempty"`
	Attempt int64  `json:"attempt,omitempty"`
	Size    int64  `json:"size,omitempty"`
	Limit   int64  `json:"limit,omitempty"`
	PID     int64  `json:"pid,omitempty"`
	Code    int64  `json:"code,omitempty"`
	Closed  bool   `json:"closed,omitempty"`
}

// Operation is what a client or a server has seen of the requests of one method and target since it began: those that
// it has sent, or those that it has answered.
//
// The quantiles and Max are of all requests that have ended, however they did, from their sending or arrival, as in the
// metrics of the conventions. A quantile is at most 6.25 % or 1 µs off, whichever is more.
type Operation struct {
	Direction string            `json:"direction"`        // sent or received
	Method    string            `json:"method"`           // as metrics have it
	Target    string            `json:"target,omitempty"` // tool or prompt, likewise
	Count     uint64            `json:"count"`            // that have ended
	Failed    uint64            `json:"failed"`           // of those
	Errors    map[string]uint64 `json:"errors,omitempty"` // of those, by error.type
	P50       time.Duration     `json:"p50_ns"`
	P95       time.Duration     `json:"p95_ns"`
	P99       time.Duration     `json:"p99_ns"`
	Max       time.Duration     `json:"max_ns"`
}
