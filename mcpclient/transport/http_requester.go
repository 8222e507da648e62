package transport

import (
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/version"
)

// maxUnreachable is how many failures in a row end a connection of which something is still connected.
const maxUnreachable = 3

// requester makes the HTTP requests of one connection: the POSTs of its exchanges, the GETs of its streams and the
// DELETE of its session, each with the user's header and credentials, and repeated where that is safe
// (http_request.go, http_do.go, http_gzip.go). It knows no message and no session. What it counts tells whether the
// server can still be reached. Its fields are set once and the counters are atomic, so any goroutine may call its
// methods.
type requester struct {
	target     *url.URL
	client     *http.Client
	joined     *originClient   // nil if the client is the user's
	known      *http.Transport // all that client adds to is that, nil if it may be more
	own        *ownHeader
	authorizer Authorizer // nil for none
	hooks      hooks

	connected   atomic.Int32 // requests that have a network connection
	unreachable atomic.Int32 // failures to connect since the last answer
	version     atomic.Int32 // of HTTP, times ten
	reporting   atomic.Bool  // see reports
}

// hooks are the functions of a [Config], whose other fields a connection that waits need not keep.
type hooks struct {
	queueWait   func(time.Duration)
	stream      func(kind string) (ended func(error))
	missed      func(cause string)
	authorizing func(bool)
	authorized  func()
	failed      failed
}

// ownHeader is the header of the user's that all requests have.
type ownHeader struct {
	fields http.Header // with canonical names, but for Host
	host   string
}

// noHeader is the header of all connections whose user gives none.
var noHeader = ownHeader{fields: http.Header{"User-Agent": {userAgent}}}

// userAgent names the client to servers, unless the user's header does.
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

// init prepares q for the requests of a connection with these settings to target.
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

// leave gives up the client that connections to the same origin share. It is called once.
func (q *requester) leave() {
	if q.joined != nil {
		q.joined.leave()
	}
}

// answered notes that there was an answer.
func (q *requester) answered(resp *http.Response) {
	q.unreachable.Store(0)
	q.version.Store(int32(10*resp.ProtoMajor + resp.ProtoMinor))
}

// missed notes that no connection could be made, and reports whether that ends the connection to the server: if there
// have been too many such failures without an answer between, or, if a caller waits for an answer, if nothing else of
// it is connected.
func (q *requester) missed(awaited bool) bool {
	return q.unreachable.Add(1) >= maxUnreachable || awaited && q.connected.Load() == 0
}

// isReachable reports whether the latest request found its server.
func (q *requester) isReachable() bool { return q.unreachable.Load() == 0 }

// httpVersion returns the version of HTTP of the latest answer, "" if there was none.
func (q *requester) httpVersion() string {
	switch v := q.version.Load(); {
	case v >= 20:
		return fmt.Sprint(v / 10)
	case v > 0:
		return fmt.Sprintf("%d.%d", v/10, v%10)
	}
	return ""
}
