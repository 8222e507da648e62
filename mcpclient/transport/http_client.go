package transport

import (
	"cmp"
	"net/http"
	"net/url"
	"sync"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// idleConns is the maximum of idle network connections to one origin, shared by all of its users. It equals the number
// of requests that one user may have in flight; with a lower maximum, concurrent callers would close and reopen
// connections.
const idleConns = maxInFlight

// maxHeader bounds the header of a response, in bytes, because net/http reads it into memory at once. A limit of
// the program's default transport takes precedence.
const maxHeader = 1 << 20

// clientOf returns a copy of the user's client that follows no redirects.
func clientOf(user *http.Client) *http.Client {
	client := *user
	client.CheckRedirect = noRedirect
	return &client
}

// knownOf returns the user's *http.Transport if the client passes requests to it unchanged, and nil otherwise. An
// http.Transport changes neither the header nor the URL of a request.
func knownOf(client *http.Client) *http.Transport {
	known, ok := client.Transport.(*http.Transport)
	if !ok || known == nil || !isBare(client) {
		return nil
	}
	return known
}

// isBare reports whether the client adds nothing to its transport: no cookies and no timeout. Redirects are never
// followed.
func isBare(client *http.Client) bool { return client.Jar == nil && client.Timeout <= 0 }

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// originClient is the HTTP client that all connections to one origin share unless the user provides a client. Sharing
// saves memory, because an http.Transport takes more memory than the rest of a connection. Sharing also saves network
// connections, because idle clients do not each need one.
type originClient struct {
	origin
	client http.Client
	pool   *http.Transport // nil if the program has replaced http.DefaultTransport by another type
	idle   keepAlive       // keep-alive time of the network connections in pool
	users  int             // number of connections that use this client; guarded by origins.mu
	target *url.URL        // URL of the latest user, to share it with the next; guarded by origins.mu

	workers *pool // goroutines for the exchanges of all users, nil before the first; guarded by origins.mu
}

type origin struct {
	like http.RoundTripper // http.DefaultTransport when the first connection was dialled
	site string            // scheme, host and port
}

var origins struct {
	mu      sync.Mutex
	clients map[origin]*originClient // the shared clients that have at least one user; guarded by mu
}

// joinOrigin returns the shared client for the origin of u, and a URL that equals u. Connections may share that URL, so
// it must not be changed. The caller must call leave.
func joinOrigin(u *url.URL) (*originClient, *url.URL) {
	like, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return &originClient{client: http.Client{CheckRedirect: noRedirect}}, u
	}
	at := origin{like, hostname.Origin(u)}
	origins.mu.Lock()
	defer origins.mu.Unlock()
	o := origins.clients[at]
	if o == nil {
		o = newOriginClient(at, like)
		if origins.clients == nil {
			origins.clients = map[origin]*originClient{}
		}
		origins.clients[at] = o
	}
	o.users++
	if o.target == nil || *o.target != *u { // URLs with a password always differ, by their User pointer
		o.target = u
	}
	return o, o.target
}

func newOriginClient(at origin, like *http.Transport) *originClient {
	pool := like.Clone()
	pool.MaxIdleConns, pool.MaxIdleConnsPerHost = 0, idleConns
	pool.MaxResponseHeaderBytes = cmp.Or(pool.MaxResponseHeaderBytes, maxHeader)
	return &originClient{origin: at, client: http.Client{Transport: pool, CheckRedirect: noRedirect}, pool: pool}
}

// leave removes one user of o. The last one closes the idle network connections.
func (o *originClient) leave() {
	if o.pool == nil {
		return
	}
	origins.mu.Lock()
	if o.users--; o.users > 0 {
		origins.mu.Unlock()
		return
	}
	delete(origins.clients, o.origin)
	origins.mu.Unlock()
	o.pool.CloseIdleConnections()
}
