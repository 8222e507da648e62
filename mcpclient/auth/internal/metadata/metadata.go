// Package metadata finds the authorization servers of an MCP server and their capabilities: protected-resource
// metadata (RFC 9728) and authorization-server metadata (RFC 8414, OpenID Connect Discovery), at the locations that
// the specification defines (2026-07-28, basic/authorization/authorization-server-discovery). Start at [New].
//
// All URLs come from servers that may be hostile. A guard prevents requests to destinations that such a server could
// not reach itself: it allows only https and no addresses of private networks. It checks the address at the time of
// dialling, so a name that changes its address later (DNS rebinding) does not bypass the check. [Fetcher.Do] applies
// the same guard to requests to token and registration endpoints.
package metadata

import (
	"cmp"
	"net/http"
	"net/url"
	"time"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// Defaults of Options.
const (
	DefaultTimeout   = 10 * time.Second
	DefaultSizeLimit = 1 << 20
)

// maxRedirects is the largest number of redirects of a GET.
const maxRedirects = 3

// Options configure a [Fetcher]. The zero value is ready for use.
type Options struct {
	// Client provides the Transport: TLS configuration, proxy, dialer. Nil means a new Transport with the proxy of
	// the environment. The Client's Jar, CheckRedirect and Timeout are ignored.
	//
	// An *http.Transport checks each address when it dials. For any other RoundTripper, and for an *http.Transport
	// that dials TLS itself, names are resolved and checked before each request, unless private addresses are
	// allowed; names that do not resolve are refused. This does not protect against names that change their address
	// between the check and the request. With a proxy, only the URL is checked, because the proxy resolves names and
	// dials.
	Client *http.Client

	// AllowPrivateAddresses allows private networks, shared address space (RFC 6598) and loopback. Link-local,
	// multicast, unspecified and reserved addresses stay refused.
	AllowPrivateAddresses bool

	// Timeout bounds one request with all its redirects and its body. Zero means DefaultTimeout.
	Timeout time.Duration
	// SizeLimit bounds the body of one response, in bytes. Zero means DefaultSizeLimit.
	SizeLimit int64
}

// Fetcher gets metadata. Its methods may be called from any goroutine.
type Fetcher struct {
	guard guard
	http  *http.Client
	limit int64
	local *Fetcher // Fetcher that may connect to loopback; may be the Fetcher itself
}

// New returns a Fetcher that connects only to public addresses, unless o allows more. See [Fetcher.For].
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

// For returns the Fetcher for the URLs that the MCP server at resource names. If that server is on loopback, these
// URLs may be on loopback too. Both Fetchers have the same options.
func (f *Fetcher) For(resource *url.URL) *Fetcher {
	if hostname.Loopback(resource.Hostname()) {
		return f.local
	}
	return f
}

// Close closes idle connections. The Fetcher remains usable.
func (f *Fetcher) Close() {
	f.http.CloseIdleConnections()
	f.local.http.CloseIdleConnections()
}

// redirect follows a redirect of a GET, at most maxRedirects times, and removes all headers that could be
// credentials. It does not follow redirects of requests with a body, because the body may contain a secret for the
// original server.
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
