package telemetry

import "time"

// FlightSize is the number of entries in the flight recorder of a client or a server; new entries overwrite the
// oldest.
const FlightSize = 256

// FlightEntry is an entry of a flight recorder: an event, as sizes, names and ids. The fields depend on the kind.
// Names are limited as on metrics: others are _OTHER.
type FlightEntry struct {
	// Time is the time of the event; for a request, the time of sending or arrival.
	Time time.Time `json:"time"`

	// Kind is the kind of the event:
	//
	//	request       a request was sent; it is Pending or has ended
	//	handler       a request of the peer is being answered, or was answered
	//	notification  a notification was sent or received, except progress, log messages and cancellations
	//	attempt       an attempt to connect ended; Attempt is its number
	//	transition    the connection changed its state from From to To; Elapsed is the time in From
	//	backoff       the wait before the next attempt started; Elapsed is its length
	//	violation     a frame of Size broke the protocol; Limit is the exceeded limit, if any
	//	drop          a response arrived that no call waited for, the time Elapsed after the end of its call
	//	lost          a notification reached no handler
	//	panic         a handler panicked
	//	exit          the server's process PID ended, with Code or by the signal in Reason
	//	stream        a stream that does not belong to a single request opened, or was Closed
	//	session       a session ended
	//	task          a task ended, with the status in Reason
	//	failure       a server's connection failed
	Kind string `json:"kind"`

	Direction string `json:"direction,omitempty"` // direction of the message: sent or received
	Method    string `json:"method,omitempty"`
	Target    string `json:"target,omitempty"` // tool or prompt
	ID        string `json:"id,omitempty"`     // id of the request; at most 16 bytes of an id from the peer
	TraceID   string `json:"trace_id,omitempty"`
	CorrID    string `json:"corr_id,omitempty"`

	Pending bool          `json:"pending,omitempty"` // the operation has not ended
	Failed  bool          `json:"failed,omitempty"`
	Reason  string        `json:"reason,omitempty"` // error.type of a failure, or another word
	Elapsed time.Duration `json:"elapsed_ns,omitempty"`
	// Count is the number of equal events in a row, 0 for a single event. The other fields describe the last of them.
	Count int `json:"count,omitempty"`

	BytesSent     int `json:"bytes_sent,omitempty"`
	BytesReceived int `json:"bytes_received,omitempty"`
	Retries       int `json:"retries,omitempty"` // retries of sending
	Round         int `json:"round,omitempty"`   // number of the request that brings input for the server

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

// Operation holds statistics of the requests with one direction, method and target since the client or server
// started.
//
// The quantiles and Max include all ended requests, successful or not, from their sending or arrival, as in the
// metrics of the semantic conventions. The error of a quantile is at most 6.25 % or 1 µs, whichever is larger.
type Operation struct {
	Direction string            `json:"direction"`        // sent or received
	Method    string            `json:"method"`           // method, as on metrics
	Target    string            `json:"target,omitempty"` // tool or prompt, as on metrics
	Count     uint64            `json:"count"`            // ended requests
	Failed    uint64            `json:"failed"`           // failed requests
	Errors    map[string]uint64 `json:"errors,omitempty"` // failed requests by error.type
	P50       time.Duration     `json:"p50_ns"`
	P95       time.Duration     `json:"p95_ns"`
	P99       time.Duration     `json:"p99_ns"`
	Max       time.Duration     `json:"max_ns"`
}
