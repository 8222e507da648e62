package inspect

import (
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Server is what a server is doing.
type Server struct {
	Time   time.Time `json:"time"`
	Number uint64    `json:"number"` // of the server among those that the process has had, from 1
	Name   string    `json:"name"`   // in telemetry

	InstanceID string `json:"instance_id"` // in telemetry, beside the name

	Server   string        `json:"server"` // as clients see it
	Version  string        `json:"server_version"`
	Versions []mcp.Version `json:"protocol_versions"` // that it speaks, the newest first

	Tools     int `json:"tools"`
	Resources int `json:"resources"`
	Templates int `json:"templates"` // of resources
	Prompts   int `json:"prompts"`

	Limits Limits `json:"limits"`
	Places Places `json:"places"`

	Connected     int          `json:"connected"`             // connections, and sessions over HTTP
	Connections   []Connection `json:"connections,omitempty"` // of those, the [MaxListed] with the most requests
	Handlers      []HTTP       `json:"http,omitempty"`        // that are not shut down
	Subscriptions int          `json:"subscriptions"`         // of modern clients
	InFlight      int          `json:"in_flight"`             // requests, those that wait for a place included
	Requests      []Request    `json:"requests,omitempty"`    // of those, the [MaxListed] that came first
	RunningTasks  int          `json:"running_tasks"`         // and calls that may become tasks
	MaxTasks      int          `json:"max_tasks"`
	Tasks         []Task       `json:"tasks,omitempty"` // of those, the [MaxListed] that began first
	Networks      []Network    `json:"networks,omitempty"`
}

// Limits are bounds from a server's options.
type Limits struct {
	MaxConcurrent  int           `json:"max_concurrent"` // of one connection or session
	MaxQueued      int           `json:"max_queued"`     // likewise
	MaxTotal       int           `json:"max_total"`      // zero for none
	RequestTimeout time.Duration `json:"request_timeout_ns"`
	FrameLimit     int           `json:"frame_limit"`
}

// Places are those of its options' MaxTotal. Without that, they are not counted.
type Places struct {
	Used    int  `json:"used"`
	Holders int  `json:"holders"`          // connections that have one, and requests without a connection
	Hungry  int  `json:"hungry"`           // connections with requests that wait for one
	Scarce  bool `json:"scarce,omitempty"` // no account gets more than its share
}

// Connection is a client on a connection of its own, or in a session over HTTP.
type Connection struct {
	Number    uint64 `json:"number"`            // among those of the server, from 1
	Session   string `json:"session,omitempty"` // the beginning of its id, over HTTP
	Transport string `json:"transport,omitempty"`
	Protocol  string `json:"protocol,omitempty"`
	// by its own account; empty for modern clients, which say so with each request
	Client        string        `json:"client,omitempty"`
	ClientVersion string        `json:"client_version,omitempty"`
	Version       mcp.Version   `json:"protocol_version,omitempty"` // agreed on, likewise
	Since         time.Time     `json:"since"`
	Age           time.Duration `json:"age_ns"`
	Running       int           `json:"running"`            // requests
	Waiting       int           `json:"waiting"`            // requests that wait for a place
	Bytes         int           `json:"waiting_bytes"`      // of their frames
	Asking        int           `json:"asking"`             // requests that the client has yet to answer
	Watching      int           `json:"watching,omitempty"` // resources, by resources/subscribe
}

// HTTP is what a handler over HTTP is doing.
type HTTP struct {
	Inside           int  `json:"inside"`   // HTTP requests and responses that are streams
	Requests         int  `json:"requests"` // POSTs of those, without the ones that last
	MaxRequests      int  `json:"max_requests"`
	Sessions         int  `json:"sessions"` // of legacy clients
	MaxSessions      int  `json:"max_sessions"`
	Subscriptions    int  `json:"subscriptions"` // of modern clients
	MaxSubscriptions int  `json:"max_subscriptions"`
	Shared           bool `json:"shared,omitempty"`  // sessions are known in other processes too
	Closing          bool `json:"closing,omitempty"` // no more requests are let in
}

// Request is a request that is being answered, or waits for that.
type Request struct {
	Connection uint64        `json:"connection,omitempty"` // its number; zero for a request that is answered by itself
	ID         string        `json:"id"`                   // up to 16 bytes of it
	Method     string        `json:"method"`
	Target     string        `json:"target,omitempty"` // tool or prompt
	URI        string        `json:"uri,omitempty"`    // of the resource
	Since      time.Time     `json:"since"`
	Age        time.Duration `json:"age_ns"`
	Waiting    bool          `json:"waiting,omitempty"` // for a place
	Cancelled  bool          `json:"cancelled,omitempty"`
	TraceID    string        `json:"trace_id,omitempty"` // empty if it has no span
}

// Task is the handler of a call that has become a task, or may become one.
type Task struct {
	Tool   string         `json:"tool"`
	Status mcp.TaskStatus `json:"status,omitempty"` // empty as long as it is no task
	Since  time.Time      `json:"since,omitzero"`   // of the task
	Age    time.Duration  `json:"age_ns,omitempty"`
}

// Network is what telemetry knows of a server's connections over one kind of network.
type Network struct {
	Transport  string                  `json:"transport,omitempty"` // network.transport; empty in memory
	Protocol   string                  `json:"protocol,omitempty"`
	Version    string                  `json:"protocol_version,omitempty"`
	Operations []telemetry.Operation   `json:"operations,omitempty"`
	Recent     []telemetry.FlightEntry `json:"recent,omitempty"`
}
