package inspect

import (
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Server is a snapshot of a server.
type Server struct {
	Time   time.Time `json:"time"`
	Number uint64    `json:"number"` // number of the server among all servers of the process, from 1
	Name   string    `json:"name"`   // name in telemetry

	InstanceID string `json:"instance_id"` // instance id in telemetry

	Server   string        `json:"server"`            // name in the handshake
	Version  string        `json:"server_version"`    // version in the handshake
	Versions []mcp.Version `json:"protocol_versions"` // supported revisions, the newest first

	Tools     int `json:"tools"`
	Resources int `json:"resources"`
	Templates int `json:"templates"` // number of resource templates
	Prompts   int `json:"prompts"`

	Limits Limits `json:"limits"`
	Places Places `json:"places"`

	Connected     int          `json:"connected"`             // number of connections, and of sessions over HTTP
	Connections   []Connection `json:"connections,omitempty"` // the [MaxListed] connections with the most requests
	Handlers      []HTTP       `json:"http,omitempty"`        // HTTP handlers that are not shut down
	Subscriptions int          `json:"subscriptions"`         // number of subscriptions of modern clients
	InFlight      int          `json:"in_flight"`             // number of requests in progress, including queued requests
	Requests      []Request    `json:"requests,omitempty"`    // the [MaxListed] oldest requests
	RunningTasks  int          `json:"running_tasks"`         // number of running tasks and of calls that may become tasks
	MaxTasks      int          `json:"max_tasks"`
	Tasks         []Task       `json:"tasks,omitempty"` // the [MaxListed] oldest tasks
	Networks      []Network    `json:"networks,omitempty"`
}

// Limits are limits from the server's options.
type Limits struct {
	MaxConcurrent  int           `json:"max_concurrent"` // running requests of one connection or session
	MaxQueued      int           `json:"max_queued"`     // queued requests of one connection or session
	MaxTotal       int           `json:"max_total"`      // running requests of all connections; zero for no limit
	RequestTimeout time.Duration `json:"request_timeout_ns"`
	FrameLimit     int           `json:"frame_limit"`
}

// Places describes the use of Options.Limits.Total. A place is room for one running request. All fields are zero
// without that option.
type Places struct {
	Used    int  `json:"used"`             // number of places in use
	Holders int  `json:"holders"`          // connections that hold a place, and requests without a connection
	Hungry  int  `json:"hungry"`           // connections with requests that wait for a place
	Scarce  bool `json:"scarce,omitempty"` // places are scarce: each connection is limited to its share
}

// Connection is one client: a connection of its own, or a session over HTTP.
type Connection struct {
	Number    uint64 `json:"number"`            // number of the connection at this server, from 1
	Session   string `json:"session,omitempty"` // beginning of the session id, over HTTP
	Transport string `json:"transport,omitempty"`
	Protocol  string `json:"protocol,omitempty"`
	// Client is the client's own name. It is empty for modern clients, which send it with each request.
	Client        string        `json:"client,omitempty"`
	ClientVersion string        `json:"client_version,omitempty"`   // the client's own version; empty like Client
	Version       mcp.Version   `json:"protocol_version,omitempty"` // negotiated revision; empty like Client
	Since         time.Time     `json:"since"`
	Age           time.Duration `json:"age_ns"`
	Running       int           `json:"running"`       // number of running requests
	Waiting       int           `json:"waiting"`       // number of requests that wait for a place
	Bytes         int           `json:"waiting_bytes"` // size of the frames of waiting requests, in bytes
	Asking        int           `json:"asking"`        // number of requests to the client that have no answer yet
	// Watching is the number of resources subscribed with resources/subscribe.
	Watching int `json:"watching,omitempty"`
}

// HTTP is a snapshot of an HTTP handler.
type HTTP struct {
	Inside           int  `json:"inside"`   // number of HTTP requests, including open streams
	Requests         int  `json:"requests"` // number of POST requests, without open streams
	MaxRequests      int  `json:"max_requests"`
	Sessions         int  `json:"sessions"` // number of sessions of legacy clients
	MaxSessions      int  `json:"max_sessions"`
	Subscriptions    int  `json:"subscriptions"` // number of subscriptions of modern clients
	MaxSubscriptions int  `json:"max_subscriptions"`
	Shared           bool `json:"shared,omitempty"`  // sessions are shared with other processes
	Closing          bool `json:"closing,omitempty"` // the handler accepts no more requests
}

// Request is a request that is running or waiting.
type Request struct {
	// Connection is the number of the connection, or zero for a request without a connection.
	Connection uint64        `json:"connection,omitempty"`
	ID         string        `json:"id"` // the first 16 bytes of the request id
	Method     string        `json:"method"`
	Target     string        `json:"target,omitempty"` // name of the tool or prompt
	URI        string        `json:"uri,omitempty"`    // URI of the resource
	Since      time.Time     `json:"since"`
	Age        time.Duration `json:"age_ns"`
	Waiting    bool          `json:"waiting,omitempty"` // waits for a place
	Cancelled  bool          `json:"cancelled,omitempty"`
	TraceID    string        `json:"trace_id,omitempty"` // empty if the request has no span
}

// Task is the handler of a call that has become a task, or may become one.
type Task struct {
	Tool   string         `json:"tool"`
	Status mcp.TaskStatus `json:"status,omitempty"` // empty before the call becomes a task
	Since  time.Time      `json:"since,omitzero"`   // start of the task
	Age    time.Duration  `json:"age_ns,omitempty"`
}

// Network is the telemetry of a server's connections over one kind of network.
type Network struct {
	Transport  string                  `json:"transport,omitempty"` // network.transport; empty in memory
	Protocol   string                  `json:"protocol,omitempty"`
	Version    string                  `json:"protocol_version,omitempty"`
	Operations []telemetry.Operation   `json:"operations,omitempty"`
	Recent     []telemetry.FlightEntry `json:"recent,omitempty"`
}
