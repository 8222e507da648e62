package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// HTTPMode selects between the two HTTP transports of the protocol.
type HTTPMode uint8

// The modes.
const (
	// ModeAuto is Streamable HTTP, with a fallback to HTTP+SSE for servers that speak only HTTP+SSE.
	// (specification 2026-07-28, basic/transports/streamable-http, "Backward Compatibility")
	ModeAuto HTTPMode = iota

	// ModeStreamable is Streamable HTTP without a fallback, in all revisions from 2025-03-26 on.
	ModeStreamable

	// ModeSSE is HTTP+SSE, the transport of revision 2024-11-05, without Streamable HTTP.
	ModeSSE
)

// HTTP connects to a server at a URL. Use it as &HTTP{URL: "https://example.com/mcp"}, and set its fields before
// the first Dial. Its methods may be called from any goroutine.
// (specification 2026-07-28 and 2025-11-25, basic/transports, "Streamable HTTP"; 2024-11-05, "HTTP with SSE")
//
// Every message is a POST request of its own. Messages are independent and may overtake each other, with one
// exception: no message is sent between notifications/initialized and its response. The POST of a request lasts
// until the answer arrives, [Conn.Cancel] is called with its id, or initialize is sent again, which drops the
// previous session with all its streams. A failure of one request is reported in [Frame.Err] and affects no other
// request. An answer always has its [Frame.Request], except in HTTP+SSE.
//
// A legacy session may have a GET stream for requests and notifications of the server. It is opened in the
// background, and reopened whenever it ends. If the stream of a request breaks before the answer, the client resumes
// the stream, provided that the server sends event ids.
//
// The connection is over when the server is unreachable: after the first failure to connect if no other request
// has a network connection, otherwise after three failures in a row. [Conn.Close] ends the session on the server
// with DELETE, which takes at most 40 % of the time for Close.
//
// The client sends a request again only if the server has not acted on it:
//
//   - after a redirect with status 307 or 308 to the same scheme, host and port
//   - with other credentials, after 401, or after 403 with a challenge
//   - if HTTP/2 rejected the request unread; then three attempts are made in all
//
// net/http may repeat a request that it could not write. It repeats no other request, whatever the header contains.
//
// A stream that has ended is reopened after a delay. If the server suggests a delay, the client waits between 100 ms
// and 10 min, plus up to a fifth; the lower bound doubles, up to 1 s, for each stream in a row that ends within 10 s.
// Without a suggestion, the delay is 1 s, minus up to a fifth. It doubles, up to 30 s, as long as the stream delivers
// nothing.
type HTTP struct {
	// URL is the address of the server, with scheme http or https. Its possible secrets (user, password, query)
	// appear in no error and no log record.
	URL string

	// Client sends the requests; only its CheckRedirect is replaced. A client with a Timeout also ends streams after that
	// time. If a RoundTripper repeats requests, the server may run a tool twice. If Client has neither Jar nor Timeout,
	// its RoundTripper is called directly. Requests to an [*http.Transport] share their header, so a protocol that is
	// registered with that Transport must not modify the header, as [http.RoundTripper] demands.
	//
	// If Client is nil, the connection shares a client with all connections of the program that have no Client and the
	// same scheme, host and port. The shared client uses a copy of [http.DefaultTransport] from the time of the first
	// dial, with up to 1024 idle network connections and without a timeout. The last connection to close also closes the
	// idle ones.
	Client *http.Client

	// Header is added to every request, except for the fields that the protocol itself sets. It is never logged.
	Header http.Header

	// Authorizer adds credentials, and obtains new ones when the server demands them. If it is nil, a refusal is
	// final.
	Authorizer Authorizer

	// Mode is [ModeAuto] by default.
	Mode HTTPMode

	// MaxInFlight is the maximum of concurrent requests; a request counts until its stream is over. Further requests wait
	// in line, first in first out, until they get a place or are cancelled. The line holds up to 32 MiB, or the frame
	// limit if that is larger; each request counts 512 bytes more than its size. When the line is full, Send returns
	// [ErrBusy]. Zero means 1,024.
	//
	// Three kinds of messages neither wait nor count: initialize; subscriptions, which may last forever; and notifications
	// and responses, which a server may need before it can answer requests. If MaxInFlight notifications and responses are
	// in flight, Send returns ErrBusy for more of them. A stream that does not end after its answer may stay open for a
	// short time, unless a waiting request needs its place.
	MaxInFlight int

	// NoListening, if true, prevents the GET stream of a legacy session for requests and notifications of the
	// server.
	NoListening bool

	oldServer atomic.Pointer[string] // URL of a server that has only HTTP+SSE, for later dials; nil for none
}

// Name returns the host of the URL.
func (h *HTTP) Name() string {
	if u, err := url.Parse(h.URL); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return "http"
}

// Network returns the host and port of the URL.
func (h *HTTP) Network() Network {
	n := Network{Transport: "tcp", Protocol: "http"}
	if u, err := url.Parse(h.URL); err == nil {
		n.Address = u.Hostname()
		n.Port, _ = strconv.Atoi(hostname.Port(u)) // 0 if the port is not a number
	}
	return n
}

// Dial returns a connection without contacting the server: the first message shows whether the server is
// reachable. An error means that a field is invalid, and is permanent.
func (h *HTTP) Dial(ctx context.Context, cfg Config) (Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	target, err := h.target()
	if err == nil {
		err = h.checkHeader()
	}
	if err == nil && h.Mode > ModeSSE {
		err = fmt.Errorf("unknown HTTP.Mode %d", h.Mode)
	}
	if err != nil {
		return nil, permanentError{err}
	}
	return newHTTPConn(h, cfg, target), nil
}

// target returns the parsed URL. Its errors do not quote the URL.
func (h *HTTP) target() (*url.URL, error) {
	u, err := url.Parse(h.URL)
	switch {
	case err != nil:
		return nil, errors.New("the URL of the server is not valid") // err quotes the URL, which may contain a password
	case h.URL == "":
		return nil, errors.New("the URL of the server is empty")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("the URL of the server has the scheme %q: it must begin with http:// or https://", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("the URL of the server names no host")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// checkHeader returns an error if a field of Header is invalid. The error names the field but not its value.
func (h *HTTP) checkHeader() error {
	for name, values := range h.Header {
		if !hostname.Token(name) || slices.ContainsFunc(values, func(v string) bool { return !headerValue(v) }) {
			return fmt.Errorf("the header field %q cannot be sent: its name or value has characters that HTTP does not allow",
				name)
		}
	}
	return nil
}

// headerValue reports whether value is valid in a header field.
func headerValue(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
