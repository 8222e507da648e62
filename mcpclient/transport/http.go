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

// HTTP reaches a server at a URL. It is used as &HTTP{URL: "https://…"}, its fields are set before the first Dial, and
// its methods may then be called from any goroutine.
// (specification 2026-07-28 and 2025-11-25, basic/transports, "Streamable HTTP"; 2024-11-05, "HTTP with SSE")
//
// Every message is a POST request of its own. They are independent of each other: nothing keeps the order in which two
// messages leave, except that none leaves between notifications/initialized and its answer. A POST that carries a
// request is alive until the answer has come, [Conn.Cancel] is called with its id, or initialize is sent again, which
// drops the session before it with all its streams. What goes wrong with one request is reported in [Frame.Err] and is
// no other request's concern; an answer always comes with the [Frame.Request] it was given to, except in HTTP+SSE.
//
// A legacy session may have a stream for what the server says unasked, which is opened in the background and opened
// again whenever it ends; a stream that breaks before the answer to its request is resumed if the server has numbered
// its events.
//
// The connection is over when the server cannot be reached: at once if nothing else of it is connected, at the third
// failure in a row otherwise. [Conn.Close] ends the session on the server with DELETE, for which it takes at most 40 %
// of its time.
//
// A request is sent again only if the server has not acted on it: after a redirect with status 307 or 308 that stays at
// the same scheme, host and port; after 401, or 403 with a challenge, with other credentials; and three times in all if
// HTTP/2 turned it away unread. net/http may repeat what it could not write, and nothing else, whatever the header
// says.
//
// A stream that has ended is opened again after the time the server suggests, between 100 ms and 10 min, with up to a
// fifth more; for streams that end within 10 s the least time doubles until it is 1 s. Without a suggestion it is 1 s,
// up to a fifth less, and doubles until it is 30 s as long as nothing comes.
type HTTP struct {
	// URL is the address of the server, with scheme http or https. What is secret in it (user, password, query) appears in
	// no error and no log record.
	URL string

	// Client does the requests as it is, but for its redirects. Nil means one that all connections to the same scheme,
	// host and port share that were given none, in the whole program: with [http.DefaultTransport] as it was when the
	// first of them was dialled, up to 1024 idle network connections, and no time limit. They are closed with the last of
	// those connections. A client with a Timeout ends streams too when that has passed, and one whose RoundTripper repeats
	// requests may have a tool run twice. A client without Jar and Timeout has its RoundTripper called directly. To one
	// that is an [*http.Transport] requests have their header in common, so a protocol that is registered with it must not
	// change that, as [http.RoundTripper] says.
	Client *http.Client

	// Header is added to every request, except for the fields the protocol itself needs. It is never logged.
	Header http.Header

	// Authorizer adds credentials and gets them when the server wants some. Nil means that a refusal is final.
	Authorizer Authorizer

	// Mode is Auto unless set.
	Mode HTTPMode

	// MaxInFlight is how many requests may be on their way at once, each until its stream is over. Those beyond wait in
	// line, first come first served, until one of them is answered or they are cancelled: as many as find space in 32 MiB,
	// or in the frame limit if that is more, with 512 bytes added to each; then Send returns [ErrBusy]. What a server may
	// need to answer those on their way does not wait: initialize, subscriptions, and as many notifications and responses
	// again, beyond which Send returns ErrBusy. A stream that has brought its answer and does not end has some time to do
	// so, unless its place is needed. Zero means 1,024.
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
		n.Port, _ = strconv.Atoi(hostname.Port(u)) // a port that is not a number is none
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
		return nil, permanentError{err}
	}
	return newHTTPConn(h, cfg, target), nil
}

// target returns the URL if requests can be sent to it. No error quotes it.
func (h *HTTP) target() (*url.URL, error) {
	u, err := url.Parse(h.URL)
	switch {
	case err != nil:
		return nil, errors.New("the URL of the server is not valid") // err quotes what may be a password
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

// checkHeader returns an error if a field of Header cannot be sent. It names the field and not its value.
func (h *HTTP) checkHeader() error {
	for name, values := range h.Header {
		if !hostname.Token(name) || slices.ContainsFunc(values, func(v string) bool { return !headerValue(v) }) {
			return fmt.Errorf("the header field %q cannot be sent: its name or value has characters that HTTP does not allow",
				name)
		}
	}
	return nil
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
