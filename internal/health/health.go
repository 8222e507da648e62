// Package health answers the probes of load balancers about connections to servers. Packages mcpclient and mcpproxy use
// it, so that all their handlers answer in the same form.
package health

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Connection is the state of a connection to a server. It contains no error texts, which may name hosts and paths.
type Connection struct {
	Name     string           `json:"name"`
	State    State            `json:"state"`
	Reason   connstate.Reason `json:"reason,omitempty"`
	Since    time.Time        `json:"since"` // time of the last change of State
	Attempt  int              `json:"attempt,omitempty"`
	Draining bool             `json:"draining,omitempty"` // the connection refuses new requests
}

// State is the state of a connection: a word of package connstate, or [Stopped].
type State string

// Stopped is the state of a server that is not running, because it starts on demand.
const Stopped State = "stopped"

// StateOf returns the state of a connection of a client.
func StateOf(s connstate.State) State { return State(s.String()) }

// usable reports whether calls can be made: on the connection, or on the one that the next call opens.
func (s State) usable() bool { return s == StateOf(connstate.Ready) || s == Stopped }

// Write answers a probe: with 200 if all connections are ready, or stopped until they are needed, and none is draining,
// and otherwise with 503. Without
// connections it answers with 200. The body is a JSON object with an element for each connection.
func Write(w http.ResponseWriter, all []Connection) {
	answer := struct {
		Ready   bool         `json:"ready"`
		Clients []Connection `json:"clients"`
	}{true, append([]Connection{}, all...)} // an empty list, and not null
	for _, c := range all {
		answer.Ready = answer.Ready && c.State.usable() && !c.Draining
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !answer.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(answer) // an error means that the HTTP client has disconnected
}
