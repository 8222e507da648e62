package inspect

import "time"

// Member is a snapshot of a member of a group of clients. It encodes as JSON.
type Member struct {
	Name     string        `json:"name"`
	OnDemand bool          `json:"on_demand,omitempty"` // the server starts at its first use, or stops when it is idle
	Idle     time.Duration `json:"idle_ns,omitempty"`   // time without use after which the server stops; zero for never
	Client   uint64        `json:"client,omitempty"`    // number of the client, see [Client]; zero if the server does not run
	Starts   int           `json:"starts"`              // number of starts of the client by the group
	Since    time.Time     `json:"since,omitzero"`      // time of the latest start or stop; zero before the first
	Users    int           `json:"users"`               // number of calls that hold the client
}
