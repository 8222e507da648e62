package transport

import (
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/version"
)

// maxUnreachable is how many failures in a row end a connection that still has open network connections.
const maxUnreachable = 3

// requester sends the HTTP requests of one connection: the POSTs of its exchanges, the GETs of its streams and the
// DELETE of its session. It adds the user's header and credentials, and repeats requests where that is safe
// (http_request.go, http_do.go, http_gzip.go). It has no knowledge of messages or sessions. Its counters show
// whether the server is reachable. Its fields are set once and its counters are atomic, so any goroutine may call
// its methods.
type requester struct {
	target     *url.URL
	client     *http.Client
	joined     *originClient   // nil if the user provides the client
	known      *http.Transport // transport of client if client adds nothing to it, nil otherwise
	own        *ownHeader
	authorizer Authorizer // nil for none
	hooks      hooks

	connected   atomic.Int32 // requests that have a network connection
	unreachable atomic.Int32 // failures to connect since the latest response
	version     atomic.Int32 // HTTP version of the latest response, times ten
	reporting   atomic.Bool  // the latest request was reported; see reports
}

// hooks are the functions of a [Config]. An idle connection keeps only these and not the whole Config.
type hooks struct {
	queueWait   func(time.Duration)
	stream      func(kind string) (ended func(error))
	missed      func(cause string)
	authorizing func(bool)
	authorized  func()
	failed      failed
}

// ownHeader is the part of the header that the user sets for all requests.
type ownHeader struct {
	fields http.Header // without Host; with canonical names
	host   string
}

// noHeader is the header of all connections whose user sets none.
var noHeader = ownHeader{fields: http.Header{"User-Agent": {userAgent}}}

// userAgent is the default User-Agent.
const userAgent = "mcpotel/" + version.Version

// ownHeaderOf returns a copy of h, with a User-Agent.
func ownHeaderOf(h http.Header) *ownHeader {
	if len(h) == 0 {
		return &noHeader
	}
	fields := make(http.Header, len(h)+1)
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		fields[name] = append(fields[name], values...)
	}
	if len(fields["User-Agent"]) == 0 {
		fields["User-Agent"] = noHeader.fields["User-Agent"]
	}
	own := &ownHeader{fields, fields.Get("Host")}
	delete(fields, "Host")
	return own
}

// init prepares q to send requests to target with the settings of h and cfg.
func (q *requester) init(h *HTTP, cfg *Config, target *url.URL) {
	q.target, q.authorizer, q.own = target, h.Authorizer, ownHeaderOf(h.Header)
	q.hooks = hooks{cfg.QueueWait, cfg.Stream, cfg.Missed, cfg.Authorizing, cfg.Authorized, cfg.Failed}
	if h.Client != nil {
		q.client = clientOf(h.Client)
		q.known = knownOf(q.client)
	} else {
		q.joined, q.target = joinOrigin(target)
		q.client, q.known = &q.joined.client, q.joined.pool
	}
}

// leave leaves the client that connections to the same origin share. It is called once.
func (q *requester) leave() {
	if q.joined != nil {
		q.joined.leave()
	}
}

// answered records a response.
func (q *requester) answered(resp *http.Response) {
	q.unreachable.Store(0)
	q.version.Store(int32(10*resp.ProtoMajor + resp.ProtoMinor))
}

// missed records a failure to connect, and reports whether the connection to the server is over. The connection is over
// after maxUnreachable failures in a row. A single failure is enough if a caller waits for an answer (awaited) and no
// other request has a network connection.
func (q *requester) missed(awaited bool) bool {
	return q.unreachable.Add(1) >= maxUnreachable || awaited && q.connected.Load() == 0
}

// isReachable reports whether no attempt to connect has failed since the latest response.
func (q *requester) isReachable() bool { return q.unreachable.Load() == 0 }

// httpVersion returns the HTTP version of the latest response, "" if there was none.
func (q *requester) httpVersion() string {
	switch v := q.version.Load(); {
	case v >= 20:
		return fmt.Sprint(v / 10)
	case v > 0:
		return fmt.Sprintf("%d.%d", v/10, v%10)
	}
	return ""
}
