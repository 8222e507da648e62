package mcpclient

import (
	"net/http"

	"github.com/mcpotel/mcpotel/internal/health"
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
		all := make([]health.Connection, len(clients))
		for i, c := range clients {
			all[i] = c.core.Health(c.name)
		}
		health.Write(w, all)
	})
}

// GroupHealthHandler is like [HealthHandler], for all members of groups. A member with Lazy or Idle whose client is not
// running has the state stopped, and counts as ready, because the next call starts it.
func GroupHealthHandler(groups ...*Group) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var all []health.Connection
		for _, g := range groups {
			for _, m := range g.present() {
				all = append(all, m.health())
			}
		}
		health.Write(w, all)
	})
}

func (m *member) health() health.Connection {
	if m.demand != nil {
		return m.demand.health()
	}
	return m.client.core.Health(m.client.name)
}
