// Package metadata finds out which authorization servers protect an MCP server and what they can do: protected-resource
// metadata (RFC 9728) and authorization-server metadata (RFC 8414, OpenID Connect Discovery), in the places where the
// specification (2026-07-28, basic/authorization/authorization-server-discovery) has clients look. Start at [New].
//
// All the URLs it asks for come from servers that may be hostile. A guard keeps it from asking where such a server
// could not reach itself: https only, no address of a private network, and that checked on the address that is dialled,
// so that a name which changes its mind (DNS rebinding) gains nothing. [Fetcher.Do] has token and registration
// endpoints behind the same guard.
package metadata

import (
	"cmp"
	"net/http"
	"net/url"
	"time"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// What Options has if it does not say.
const (
	DefaultTimeout   = 10 * time.Second
	DefaultSizeLimit = 1 << 20
)

// maxRedirects is how often one GET is sent elsewhere.
const maxRedirects = 3

// Options of a [Fetcher]. The zero value is ready.
type Options struct {
	// Client gives its Transport: TLS configuration, proxy, dialer. Nil means one of the Fetcher's own, with the proxy of
	// the environment. The Client's Jar, CheckRedirect and Timeout are not used.
	//
	// Of an *http.Transport every address is checked when it is dialled. Any other RoundTripper, and an *http.Transport
	// that dials TLS by itself, has names looked up before each request instead, unless private addresses are allowed, and
	// names that are not known here are refused; that is no help against names that change in between. Through a proxy
	// only the URL is checked: the proxy is what looks names up and dials.
	Client *http.Client

	// AllowPrivateAddresses also allows private networks, shared address space (RFC 6598) and loopback. Link-local,
	// multicast, unspecified and reserved addresses stay refused.
	AllowPrivateAddresses bool

	Timeout   time.Duration // of one request with all its redirects and its body; 0: DefaultTimeout
	SizeLimit int64         // of one answer's body in bytes; 0: DefaultSizeLimit
}

// Fetcher gets metadata. Its methods may be called from any goroutine.
type Fetcher struct {
	guard guard
	http  *http.Client
	limit int64
	local *Fetcher // the one that may ask loopback; itself if this one may
}

// New returns a Fetcher that asks public addresses only, unless o says otherwise. See [Fetcher.For].
func New(o Options) *Fetcher {
	private := o.AllowPrivateAddresses
	local := newFetcher(o, guard{private: private, loopback: true})
	local.local = local
	if private {
		return local
	}
	f := newFetcher(o, guard{})
	f.local = local
	return f
}

func newFetcher(o Options, g guard) *Fetcher {
	return &Fetcher{
		guard: g,
		limit: cmp.Or(o.SizeLimit, DefaultSizeLimit),
		http: &http.Client{
			Transport:     newTransport(o.Client, g),
			Timeout:       cmp.Or(o.Timeout, DefaultTimeout),
			CheckRedirect: redirect,
		},
	}
}

// For returns the Fetcher for what the MCP server at resource names. If that server is on loopback, what it names may
// be, too. The two share connections and options.
func (f *Fetcher) For(resource *url.URL) *Fetcher {
	if hostname.Loopback(resource.Hostname()) {
		return f.local
	}
	return f
}

// Close closes the connections that nothing uses. The Fetcher can be used on.
func (f *Fetcher) Close() {
	f.http.CloseIdleConnections()
	f.local.http.CloseIdleConnections()
}

// redirect lets a GET go on, at most a few times and with nothing that could be a credential. A request with a body
// ends with the redirect as its response: the body may hold a secret, and is for the one it was sent to.
func redirect(req *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet || len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	kept := http.Header{}
	for _, name := range []string{"Accept", versionHeader} {
		if v, ok := req.Header[http.CanonicalHeaderKey(name)]; ok {
			kept[http.CanonicalHeaderKey(name)] = v
		}
	}
	req.Header = kept
	return nil
}
