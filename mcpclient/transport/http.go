package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// HTTPMode says which of the protocol's two HTTP transports to speak.
type HTTPMode uint8

// The modes.
const (
	// Auto is Streamable HTTP, and HTTP+SSE with servers that turn out to have only that.
	// (specification 2026-07-28, basic/transports/streamable-http, "Backward Compatibility")
	Auto HTTPMode = iota

	// Streamable is Streamable HTTP only, of all revisions from 2025-03-26 on.
	Streamable

	// SSE is HTTP+SSE only, of revision 2024-11-05.
	SSE
)

// HTTP reaches a server at a URL. It is used as &HTTP{URL: "https://…"}, its fields are set before the first Dial, and its
// methods may then be called from any goroutine.
// (specification 2026-07-28 and 2025-11-25, basic/transports, "Streamable HTTP"; 2024-11-05, "HTTP with SSE")
//
// Every message is a POST request of its own. They are independent of each other: nothing keeps the order in which two
// messages leave, except that none leaves between notifications/initialized and its answer. A POST that carries a request
// is alive until the answer has come, [Conn.Cancel] is called with its id, or initialize is sent again, which drops the
// session before it with all its streams. What goes wrong with one request is reported in [Frame.Err] and is nobody else's
// concern; an answer always comes with the [Frame.Request] it was given to, except in HTTP+SSE.
//
// A legacy session may have a stream for what the server says unasked, which is opened in the background and opened again
// whenever it ends; a stream that breaks before the answer to its request is resumed if the server has numbered its events.
//
// The connection is over when the server cannot be reached: at once if nothing else of it is connected, at the third
// failure in a row otherwise. [Conn.Close] ends the session on the server with DELETE, for which it takes at most 40 % of
// its time.
//
// Only redirects with status 307 and 308 that stay at the same scheme, host and port are followed.
type HTTP struct {
	// URL is the address of the server, with scheme http or https. What is secret in it (user, password, query) appears in
	// no error and no log record.
	URL string

	// Client does the requests as it is, but for its redirects. Nil means one that all connections to the same scheme, host and
	// port share that were given none, in the whole program: with [http.DefaultTransport] as it was when the first of them was
	// dialled, up to 1024 idle network connections, and no time limit. They are closed with the last of those connections. A
	// client with a Timeout ends streams too when that has passed.
	Client *http.Client

	// Header is added to every request, except for the fields the protocol itself needs. It is never logged.
	Header http.Header

	// Authorizer adds credentials and gets them when the server wants some. Nil means that a refusal is final.
	Authorizer Authorizer

	// Mode is Auto unless set.
	Mode HTTPMode

	// MaxInFlight is how many messages may be on their way at once, requests until they are answered; the next one is
	// refused with [ErrBusy]. Zero means 1,024.
	MaxInFlight int

	// NoListening, if true, keeps a legacy session from opening the stream for what the server says unasked.
	NoListening bool

	oldServer atomic.Pointer[string] // the URL that turned out to have HTTP+SSE only, for the dials to come
}

// Name returns the host of the URL.
func (h *HTTP) Name() string {
	if u, err := url.Parse(h.URL); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return "http"
}

// Network says where the URL points to.
func (h *HTTP) Network() Network {
	n := Network{Transport: "tcp", Protocol: "http"}
	if u, err := url.Parse(h.URL); err == nil {
		n.Address = u.Hostname()
		n.Port, _ = strconv.Atoi(portOf(u)) // a port that is not a number is none
	}
	return n
}

// Dial returns a connection without a single byte having been exchanged: whether there is a server shows when the first
// message is sent. Only fields that cannot work make an error, a permanent one.
func (h *HTTP) Dial(ctx context.Context, cfg Config) (Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	target, err := h.target()
	if err == nil {
		err = h.checkHeader()
	}
	if err == nil && h.Mode > SSE {
		err = fmt.Errorf("unknown mode %d", h.Mode)
	}
	if err != nil {
		return nil, permanentError{fmt.Errorf("http transport: %w", err)}
	}
	return newHTTPConn(h, cfg, target), nil
}

// target returns the URL if requests can be sent to it. No error quotes it.
func (h *HTTP) target() (*url.URL, error) {
	u, err := url.Parse(h.URL)
	switch {
	case err != nil:
		return nil, errors.New("the URL is not valid") // err quotes what may be a password
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("want a URL with scheme http or https, got scheme %q", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("want a URL with a host")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// checkHeader returns an error if a field of Header cannot be sent. It names the field and not its value.
func (h *HTTP) checkHeader() error {
	for name, values := range h.Header {
		if !headerName(name) || slices.ContainsFunc(values, func(v string) bool { return !headerValue(v) }) {
			return fmt.Errorf("header field %q cannot be sent", name)
		}
	}
	return nil
}

// headerName reports whether name can be the name of a header field: a token. (RFC 9110, section 5.6.2)
func headerName(name string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for i := range len(name) {
		c := name[i]
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && !strings.Contains(marks, name[i:i+1]) {
			return false
		}
	}
	return name != ""
}

// headerValue reports whether value can be the value of a header field.
func headerValue(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// portOf returns the port that u says or means.
func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	case u.Scheme == "http":
		return "80"
	}
	return ""
}

// sameOrigin reports whether a and b have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}
