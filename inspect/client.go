package inspect

import (
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Client is a snapshot of a client, for people who debug a process. It is plain data and encodes as JSON. Names and
// other texts that a peer chose are truncated to 128 bytes.
type Client struct {
	Time   time.Time `json:"time"`
	Number uint64    `json:"number"` // number of the client among all clients of the process, from 1
	Name   string    `json:"name"`

	InstanceID string `json:"instance_id"`     // instance id in telemetry
	Group      string `json:"group,omitempty"` // group in telemetry

	Transport string `json:"transport,omitempty"` // network.transport: pipe or tcp; empty in memory
	Protocol  string `json:"protocol,omitempty"`  // network.protocol.name: http; else empty
	Address   string `json:"address,omitempty"`   // address of the server
	PID       int    `json:"pid,omitempty"`       // process id of a server that is a child process

	State   connstate.State  `json:"state"`
	Ended   bool             `json:"ended,omitempty"` // the client has ended; State stays closing
	Reason  connstate.Reason `json:"reason"`          // why State was entered
	Since   time.Time        `json:"since"`           // time of the last change of State
	InState time.Duration    `json:"in_state_ns"`     // time since the last change of State
	// Due is the time at which State ends by itself: backoff ends with the next attempt, and other states end with a
	// timeout. Due is zero if State has no limit.
	Due      time.Time `json:"due,omitzero"`
	Epoch    uint64    `json:"epoch"`    // number of the current connection, from 1
	Sessions uint64    `json:"sessions"` // number of times the client has become ready
	// Attempt counts the attempts to connect since the client was last ready. It is 0 after a ready connection was lost,
	// before the first attempt.
	Attempt int    `json:"attempt"`
	Err     string `json:"error,omitempty"`   // why the last attempt or connection failed; empty when ready
	GaveUp  string `json:"gave_up,omitempty"` // why the client has given up connecting; empty if it has not
	Waiting int    `json:"waiting"`           // number of goroutines that wait for a state, including calls

	Server        string      `json:"server,omitempty"`           // the server's own name; empty if not ready
	ServerVersion string      `json:"server_version,omitempty"`   // the server's own version; empty if not ready
	Version       mcp.Version `json:"protocol_version,omitempty"` // negotiated revision; empty if not ready
	Era           string      `json:"era,omitempty"`              // modern or legacy; empty if not ready

	InFlight   int    `json:"in_flight"`       // number of calls in flight
	Calls      []Call `json:"calls,omitempty"` // the [MaxListed] oldest calls in flight
	Tombstones int    `json:"tombstones"`      // number of remembered calls that ended without an answer
	Answering  int    `json:"answering"`       // number of the server's requests that the client is answering

	// SendQueue is the number of frames that the transport has not sent yet. It is read a moment after the other fields.
	SendQueue     int      `json:"send_queue"`
	Notifications int      `json:"notifications"`           // number of notifications that wait for their handlers
	QueueLimit    int      `json:"notification_limit"`      // limit of Notifications
	Subscribed    int      `json:"subscribed"`              // number of resources that the client is subscribed to
	Subscriptions []string `json:"subscriptions,omitempty"` // the first [MaxListed] URIs of subscribed resources
	// Listening reports whether a subscription to list changes of a modern server is open.
	Listening bool `json:"listening,omitempty"`

	// Tools is the size of the latest complete list of tools. It is nil before the first list, or if telemetry is off.
	// Without a meter, Tools is the size of the first list after the process created a debug page or an inspection server,
	// or called Inspect.
	Tools *ToolList `json:"tools,omitempty"`

	// Operations are the statistics of the client's operations. They are read after all other fields, and nil if
	// telemetry is off.
	Operations []telemetry.Operation `json:"operations,omitempty"`

	// Recent are the entries of the client's flight recorder. They are read after all other fields, and nil if
	// telemetry is off.
	Recent []telemetry.FlightEntry `json:"recent,omitempty"`
}

// ToolList is the size of tool definitions in the context of a language model: see package mcp/contextcost.
type ToolList struct {
	Tools           int `json:"tools"`
	Bytes           int `json:"bytes"`
	EstimatedTokens int `json:"estimated_tokens"`
}

// Call is a request in flight.
type Call struct {
	ID       int64         `json:"id"`
	Method   string        `json:"method"`
	Target   string        `json:"target,omitempty"` // name of the tool or prompt
	URI      string        `json:"uri,omitempty"`    // URI of the resource
	Since    time.Time     `json:"since"`            // start, including the wait for the client to be ready
	Age      time.Duration `json:"age_ns"`
	Deadline time.Time     `json:"deadline,omitzero"` // zero for no deadline
	CorrID   string        `json:"corr_id,omitempty"`
	TraceID  string        `json:"trace_id,omitempty"` // empty if the call has no span
	Retries  int           `json:"retries,omitempty"`  // number of times the request was sent again
	Round    int           `json:"round,omitempty"`    // round of a call whose server requests input
	Stream   bool          `json:"stream,omitempty"`   // a subscription, which stays open until it is cancelled
}
