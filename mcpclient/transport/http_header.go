package transport

import (
	"maps"
	"net/http"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/mirror"
)

// Shared values of header fields. They are read-only.
var (
	jsonOnly     = []string{"application/json"}
	jsonOrEvents = []string{"application/json, text/event-stream"}
	gzipOnly     = []string{"gzip"}
)

// traceFields are the names of the fields in exchange.trace.
var traceFields = [3]string{"Traceparent", "Tracestate", "Baggage"}

// fields builds the header of a request.
type fields interface {
	// header returns the header, including the fields that every request has. The header of a private connection must
	// not be modified.
	header(q *requester) http.Header
}

// only is a header with one value for each field. Fields with an empty or invalid value are left out.
type only map[string]string

func (f only) header(q *requester) http.Header {
	h := q.newHeader()
	for name, value := range f {
		if value != "" && headerValue(value) {
			h[name] = []string{value}
		}
	}
	if !q.private() {
		return h.Clone()
	}
	return h
}

// newHeader returns a new header with the fields that every request has.
func (q *requester) newHeader() http.Header {
	h := make(http.Header, len(q.own.fields)+7)
	maps.Copy(h, q.own.fields)
	if q.asksGzip() {
		h["Accept-Encoding"] = gzipOnly
	}
	return h
}

// header returns the header of the message's POST. Unless the connection is private, user code may change the
// header, so it shares no values with other requests.
func (ex *exchange) header(q *requester) http.Header {
	h := q.newHeader()
	ex.fill(h)
	if !q.private() {
		h = h.Clone()
	}
	ex.fillOwn(h)
	return h
}

// fill sets the fields of the protocol. Values from outside the client are encoded, or left out if they are
// invalid.
// (specification 2026-07-28, basic/transports/streamable-http, "Request Metadata")
func (ex *exchange) fill(h http.Header) {
	h["Content-Type"], h["Accept"] = jsonOnly, jsonOrEvents
	m := &ex.m
	values := make(values, 0, 4)
	values.add(h, "Mcp-Session-Id", ex.sessionID)
	if !ex.initialize {
		values.add(h, "Mcp-Protocol-Version", m.ProtocolVersion)
	}
	if !ex.modern {
		return
	}
	values.add(h, "Mcp-Method", mirror.Encode(m.Method))
	if m.Name != "" {
		values.add(h, "Mcp-Name", mirror.Encode(m.Name))
	}
}

// fillOwn sets the fields that only this message has: trace context, propagated fields and mirrored parameters.
func (ex *exchange) fillOwn(h http.Header) {
	for i, name := range traceFields {
		if value := ex.trace[i]; value != "" && headerValue(value) {
			h[name] = ex.trace[i : i+1 : i+1]
		}
	}
	for name, value := range ex.m.Propagated {
		name = http.CanonicalHeaderKey(name)
		if _, taken := h[name]; !taken && value != "" && headerValue(value) && mayPropagate(name) {
			h[name] = []string{value}
		}
	}
	if !ex.modern {
		return
	}
	for name, value := range ex.m.Header {
		name = http.CanonicalHeaderKey(name)
		if strings.HasPrefix(name, "Mcp-Param-") && hostname.Token(name) {
			h[name] = []string{mirror.Encode(value)}
		}
	}
}

// mayPropagate reports whether a propagator may set the field with this name. Fields of the protocol, of the
// connection and of the client's identity are excluded.
func mayPropagate(name string) bool {
	switch name {
	case "Authorization", "Connection", "Content-Encoding", "Content-Length", "Cookie", "Dpop", "Expect", "Host",
		"Last-Event-Id", "Origin", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return false
	}
	return !strings.HasPrefix(name, "Mcp-") && hostname.Token(name)
}

// values stores the values of several fields in one allocation.
type values []string

// add sets a field if its value is valid and not empty.
func (v *values) add(h http.Header, name, value string) {
	if value != "" && headerValue(value) {
		n := len(*v)
		*v = append(*v, value)
		h[name] = (*v)[n : n+1 : n+1]
	}
}
