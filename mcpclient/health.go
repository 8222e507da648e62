package mcpclient

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// HealthHandler reports over HTTP whether clients are usable, for a readiness probe or a load balancer:
//
//	http.Handle("GET /readyz", mcpclient.HealthHandler(weather, payments))
//
// The handler answers 200 if all clients are ready and none is shutting down, and 503 otherwise; without clients it
// answers 200. The body is a JSON object with an element for each client, whose name is its [Options.Name] or the
// transport's name:
//
//	{"ready":false,"clients":[{"name":"weather","state":"backoff",
//	  "reason":"transport_down","since":"2026-11-23T10:00:00Z","attempt":3}]}
//
// The body contains no error texts, which may name hosts and paths; [Client.Status] returns them. The handler contacts
// no server: [Options.KeepAlive] detects silently broken connections. It may be used concurrently.
func HealthHandler(clients ...*Client) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := health{Ready: true, Clients: make([]clientHealth, 0, len(clients))}
		for _, c := range clients {
			of := c.health()
			h.Ready = h.Ready && of.State == connstate.Ready && !of.Draining
			h.Clients = append(h.Clients, of)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if !h.Ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(h) // an error means that the HTTP client has disconnected
	})
}

type health struct {
	Ready   bool           `json:"ready"`
	Clients []clientHealth `json:"clients"`
}

type clientHealth struct {
	Name     string           `json:"name"`
	State    connstate.State  `json:"state"`
	Reason   connstate.Reason `json:"reason,omitempty"`
	Since    time.Time        `json:"since"`
	Attempt  int              `json:"attempt,omitempty"`
	Draining bool             `json:"draining,omitempty"`
}

func (c *Client) health() clientHealth {
	s := c.Status()
	return clientHealth{
		Name: c.name, State: s.State, Reason: s.Reason, Since: s.Since.UTC(), Attempt: s.Attempt,
		Draining: c.core.Draining(),
	}
}
