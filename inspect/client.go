package inspect

import (
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Client is what a client is doing at one moment: what people want to know who look into a process that does not do
// what it should. It is plain data, and encodes as JSON. What a peer chose, names for example, is cut to 128 bytes.
type Client struct {
	Time   time.Time `json:"time"`
	Number uint64    `json:"number"` // of the client among those that the process has had, from 1
	Name   string    `json:"name"`

	InstanceID string `json:"instance_id"`     // in telemetry, beside the name
	Group      string `json:"group,omitempty"` // likewise

	Transport string `json:"transport,omitempty"` // network.transport: pipe, tcp; empty in memory
	Protocol  string `json:"protocol,omitempty"`  // under MCP: http
	Address   string `json:"address,omitempty"`   // that is dialled
	PID       int    `json:"pid,omitempty"`       // of a server that is a child process

	State   connstate.State  `json:"state"`
	Ended   bool             `json:"ended,omitempty"` // the client has; State stays closing
	Reason  connstate.Reason `json:"reason"`          // why State was entered
	Since   time.Time        `json:"since"`           // when
	InState time.Duration    `json:"in_state_ns"`     // how long ago
	// when State ends by itself: in backoff with the next attempt, else because it takes too long; zero if it does not
	Due      time.Time `json:"due,omitzero"`
	Epoch    uint64    `json:"epoch"`    // numbers the connections, from 1
	Sessions uint64    `json:"sessions"` // how often the client has become ready
	// to connect, since the client was last ready, 0 if a ready connection was lost and none was made yet
	Attempt int    `json:"attempt"`
	Err     string `json:"error,omitempty"` // why the last attempt or connection failed; empty when ready
	GaveUp  string `json:"gave_up,omitempty"`
	Waiting int    `json:"waiting"` // goroutines that wait for a state, calls among them

	// by its own account; empty if the client is not ready, as the next
	Server        string      `json:"server,omitempty"`
	ServerVersion string      `json:"server_version,omitempty"`
	Version       mcp.Version `json:"protocol_version,omitempty"`
	Era           string      `json:"era,omitempty"` // modern or legacy

	InFlight   int    `json:"in_flight"`       // calls
	Calls      []Call `json:"calls,omitempty"` // of those, the [MaxListed] that were made first
	Tombstones int    `json:"tombstones"`      // of calls that ended without an answer
	Answering  int    `json:"answering"`       // requests of the server

	// frames that have not left, as far as the transport knows; a moment later than all else
	SendQueue     int      `json:"send_queue"`
	Notifications int      `json:"notifications"` // that wait for their handlers
	QueueLimit    int      `json:"notification_limit"`
	Subscribed    int      `json:"subscribed"`              // resources whose changes the client wants to hear of
	Subscriptions []string `json:"subscriptions,omitempty"` // of those, the first [MaxListed] URIs
	Listening     bool     `json:"listening,omitempty"`     // to a modern server's changes

	// Tools is what the server listed last, as a whole; nil if the client has got no list yet, or its telemetry is off.
	// Without a meter, it is that of the first list after the process made a debug page or an inspection server, or called
	// Inspect.
	Tools *ToolList `json:"tools,omitempty"`

	// Operations and Recent are what the client's telemetry knows, nil if that is off. They are read when all else has
	// been.
	Operations []telemetry.Operation   `json:"operations,omitempty"`
	Recent     []telemetry.FlightEntry `json:"recent,omitempty"`
}

// ToolList is what the definitions of tools take of the context of a language model: see package mcp/contextcost.
type ToolList struct {
	Tools           int `json:"tools"`
	Bytes           int `json:"bytes"`
	EstimatedTokens int `json:"estimated_tokens"`
}

// Call is a request of a client that has no answer yet.
type Call struct {
	ID       int64         `json:"id"`
	Method   string        `json:"method"`
	Target   string        `json:"target,omitempty"` // tool or prompt
	URI      string        `json:"uri,omitempty"`    // of the resource
	Since    time.Time     `json:"since"`            // waiting for the client to be ready included
	Age      time.Duration `json:"age_ns"`
	Deadline time.Time     `json:"deadline,omitzero"` // zero for none
	CorrID   string        `json:"corr_id,omitempty"`
	TraceID  string        `json:"trace_id,omitempty"` // empty if it has no span
	Retries  int           `json:"retries,omitempty"`  // of sending
	Round    int           `json:"round,omitempty"`    // of a call whose server has asked for input
	Stream   bool          `json:"stream,omitempty"`   // a subscription, which has no other end than its own
}
