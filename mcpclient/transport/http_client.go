package transport

import (
	"cmp"
	"net/http"
	"net/url"
	"sync"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// idleConns is how many network connections to a server wait for more requests, of all who share them: as many as one
// of them may have in flight. Fewer would be closed and opened again where many call at once.
const idleConns = maxInFlight

// maxHeader bounds the header of an answer, in bytes, unless the program's default transport has a bound: it is read at
// once.
const maxHeader = 1 << 20

// clientOf returns the user's client as it is, but that it follows no redirects.
func clientOf(user *http.Client) *http.Client {
	client := *user
	client.CheckRedirect = stay
	return &client
}

// knownOf returns the transport of a user's client if it is one of net/http and all there is, nil otherwise. That code
// is known: it changes nothing of a request, neither of its header nor of its URL.
func knownOf(client *http.Client) *http.Transport {
	known, ok := client.Transport.(*http.Transport)
	if !ok || known == nil || !isBare(client) {
		return nil
	}
	return known
}

// isBare reports whether a client that follows no redirects does no more than its transport.
func isBare(client *http.Client) bool { return client.Jar == nil && client.Timeout <= 0 }

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// originClient is the client of all connections to one origin that were given none: a transport of net/http takes more
// memory than all else of a connection, and a server need not have a network connection for each client that waits.
type originClient struct {
	origin
	client http.Client
	pool   *http.Transport // nil if the program has put something else in the place of net/http's
	idle   keepAlive       // of the network connections in pool
	users  int             // guarded by origins.mu
	target *url.URL        // guarded by origins.mu; of the latest user: mostly the next one has the same

	workers *pool // guarded by origins.mu; for the exchanges of its users, nil for none
}

type origin struct {
	like http.RoundTripper // what the program's default transport is
	site string            // scheme, host and port
}

var origins struct {
	mu      sync.Mutex
	clients map[origin]*originClient // guarded by mu; those that have users
}

// joinOrigin returns the client for the origin of a URL, which the caller has to leave, and that URL, which is not to
// be changed.
func joinOrigin(u *url.URL) (*originClient, *url.URL) {
	like, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return &originClient{client: http.Client{CheckRedirect: stay}}, u
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
	if o.target == nil || *o.target != *u { // one with a password is never the same
		o.target = u
	}
	return o, o.target
}

func newOriginClient(at origin, like *http.Transport) *originClient {
	pool := like.Clone()
	pool.MaxIdleConns, pool.MaxIdleConnsPerHost = 0, idleConns
	pool.MaxResponseHeaderBytes = cmp.Or(pool.MaxResponseHeaderBytes, maxHeader)
	return &originClient{origin: at, client: http.Client{Transport: pool, CheckRedirect: stay}, pool: pool}
}

// leave says that one user less has requests for o. With the last one the network connections are closed.
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
