package transport

import (
	"maps"
	"net/http"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/mirror"
)

// Values of header fields that never change. They are read only.
var (
	jsonOnly     = []string{"application/json"}
	jsonOrEvents = []string{"application/json, text/event-stream"}
	gzipOnly     = []string{"gzip"}
)

// traceFields are those of exchange.trace.
var traceFields = [3]string{"Traceparent", "Tracestate", "Baggage"}

// fields are what makes the header of a request.
type fields interface {
	// header returns the header, with the fields that all requests have. No caller may write to it if the connection is
	// private.
	header(q *requester) http.Header
}

// only are fields that all have one value. Those without a value, or with one that cannot be sent, are left out.
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

// newHeader returns a new header with the fields that all requests have.
func (q *requester) newHeader() http.Header {
	h := make(http.Header, len(q.own.fields)+7)
	maps.Copy(h, q.own.fields)
	if q.asksGzip() {
		h["Accept-Encoding"] = gzipOnly
	}
	return h
}

// header returns the header of the message's POST. Other code than net/http may change what it gets, so that shares no
// value with another request.
func (ex *exchange) header(q *requester) http.Header {
	h := q.newHeader()
	ex.fill(h)
	if !q.private() {
		h = h.Clone()
	}
	ex.fillOwn(h)
	return h
}

// fill fills in the fields of the protocol. Values that come from elsewhere are encoded, or left out if they could be
// anything but values. (specification 2026-07-28, basic/transports/streamable-http, "Request Metadata")
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

// fillOwn fills in what is the message's alone.
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

// mayPropagate reports whether a propagator may set the field of this name: it is none of the protocol's, and says
// nothing about the connection or who the client is.
func mayPropagate(name string) bool {
	switch name {
	case "Authorization", "Connection", "Content-Encoding", "Content-Length", "Cookie", "Dpop", "Expect", "Host",
		"Last-Event-Id", "Origin", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return false
	}
	return !strings.HasPrefix(name, "Mcp-") && hostname.Token(name)
}

// values are those of several fields, in one piece of memory.
type values []string

// add sets a field that has a value and can be sent.
func (v *values) add(h http.Header, name, value string) {
	if value != "" && headerValue(value) {
		n := len(*v)
		*v = append(*v, value)
		h[name] = (*v)[n : n+1 : n+1]
	}
}
