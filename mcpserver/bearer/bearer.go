// Package bearer protects an MCP server over HTTP with access tokens. It implements the resource server of the
// specification (2026-07-28, basic/authorization). [Require] passes on requests with a valid token. Its response to any
// other request refers to a document that names the authorization servers, where clients get tokens; [Metadata] serves
// this document. Handlers get the caller's identity from the context with [PrincipalFrom].
//
//	const resource = "https://mcp.example.com/mcp"
//	keys, err := bearer.NewJWT(bearer.JWT{Issuer: "https://as.example.com", KeysURL: "https://as.example.com/keys"})
//	…
//	require := bearer.Require(keys, &bearer.Options{Resource: resource, Scopes: []string{"mcp"}})
//	mux.Handle("/mcp", require(server.HTTPHandler(nil)))
//	mux.Handle(bearer.MetadataPath(resource), bearer.Metadata(bearer.ResourceMetadata{
//		Resource:             resource,
//		AuthorizationServers: []string{"https://as.example.com"},
//	}))
//
// A token must name this server as its audience, even if the Verifier accepts it, because a token for another server
// must not work here. It must also name its subject or its client, because sessions and tasks belong to them. [JWT]
// refuses tokens that are bound to a key (DPoP, mutual TLS), because this package cannot check the key. The package
// reads tokens only from the header Authorization.
package bearer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/identity"
	"github.com/mcpotel/mcpotel/internal/usercode"
)

// ErrInvalidToken is wrapped in the error of a [Verifier] if the token is invalid. All other errors mean that the
// Verifier could not check the token.
var ErrInvalidToken = errors.New("invalid token")

// Verifier checks tokens. It is safe for concurrent use.
type Verifier interface {
	// Verify returns the principal of a valid token. The caller then checks the audience, scopes and times of the
	// principal, so these must come from the token. Verify may use the request, but must not read its body. If the error
	// does not wrap [ErrInvalidToken], the client gets HTTP 503 and may retry. Errors are logged, so they must not
	// contain the token.
	Verify(ctx context.Context, token string, r *http.Request) (*Principal, error)
}

// VerifierFunc is a function that implements [Verifier].
type VerifierFunc func(ctx context.Context, token string, r *http.Request) (*Principal, error)

// Verify calls f.
func (f VerifierFunc) Verify(ctx context.Context, token string, r *http.Request) (*Principal, error) {
	return f(ctx, token, r)
}

// Options configures [Require].
type Options struct {
	// Resource is the URL of the MCP server as clients know it, and the audience that a token must have. Required.
	Resource string

	// Audiences are alternative audiences, for authorization servers that know the server by another name.
	Audiences []string

	// Scopes are the scopes that every request needs.
	Scopes []string

	// RequestScopes returns the additional scopes that one request needs, such as the scopes of the tool in its header
	// Mcp-Name. Nil means none. RequestScopes should return all missing scopes at once, because after each refusal a
	// person may have to visit the authorization server.
	RequestScopes func(*http.Request) []string

	// Implies maps a broader scope to the narrower scopes that it contains, for example "files" to "files:read" and
	// "files:write". A token with the broader scope also has the narrower scopes, and the scopes that these imply. Nil
	// means that no scope implies another. (specification 2026-07-28, basic/authorization, "Step-Up Authorization Flow")
	Implies map[string][]string

	// MetadataURL is the URL of the protected-resource metadata. Empty means the well-known URL for Resource.
	MetadataURL string

	// Logger logs the reasons of refusals: at level debug, or at level warn if the Verifier could not check the token.
	// Nil logs nothing.
	Logger *slog.Logger
}

// Require returns a middleware that passes only requests with a valid token: v accepts the token, its audience is this
// server, it has not expired, and it has the required scopes. The context of such a request has the [Principal]. Other
// requests get
//
//   - 401 without a token, or with an invalid one (invalid_token),
//   - 403 with too few scopes (insufficient_scope; the challenge lists the required scopes),
//   - 400 if the header Authorization is malformed (invalid_request),
//   - 503 if v could not check the token.
//
// All responses except 503 have a challenge as in RFC 6750 §3 and RFC 9728 §5.1. If the next handler is an
// mcpserver.HTTPHandler, its telemetry counts the refusals (HTTPHandler.Refused).
//
// Require copies the options. It panics if v or options is nil, or if Resource or MetadataURL is not an absolute http
// or https URL without fragment.
func Require(v Verifier, options *Options) func(http.Handler) http.Handler {
	if v == nil {
		panic("bearer: nil Verifier")
	}
	if options == nil {
		panic("bearer: nil Options")
	}
	o := *options
	resource := mustURL("Resource", o.Resource)
	if o.MetadataURL == "" {
		o.MetadataURL = metadataURL(resource).String()
	}
	mustURL("MetadataURL", o.MetadataURL)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	// ignore failures of the log handler, because they cannot be reported
	o.Logger = slog.New(usercode.LogHandler(o.Logger.Handler(), func(*usercode.Failure) {}))
	o.Audiences = append([]string{o.Resource}, o.Audiences...)
	o.Scopes = slices.Clone(o.Scopes)
	o.Implies = maps.Clone(o.Implies)
	for broad, narrow := range o.Implies {
		o.Implies[broad] = slices.Clone(narrow)
	}
	return func(next http.Handler) http.Handler {
		return &guard{verifier: v, options: o, next: next}
	}
}

// guard is the middleware of Require.
type guard struct {
	verifier Verifier
	options  Options
	next     http.Handler
	warned   atomic.Int64 // time of the last warning about a refusal, in nanoseconds since 1970
}

// refusalCounter counts refusals in the telemetry of the server. mcpserver.HTTPHandler implements it.
type refusalCounter interface {
	Refused(r *http.Request, status int, err error)
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, refused := g.admit(r)
	if refused != nil {
		g.options.Logger.LogAttrs(r.Context(), g.level(refused), "request refused", slog.Int("status", refused.status),
			slog.String("reason", refused.reason()))
		if counter, ok := g.next.(refusalCounter); ok {
			counter.Refused(r, refused.status, errors.New(refused.reason()))
		}
		refused.write(w, g.options.MetadataURL)
		return
	}
	ctx := context.WithValue(r.Context(), principalKey{}, p)
	g.next.ServeHTTP(w, r.WithContext(identity.With(ctx, p.identity())))
}

// level returns the log level for a refusal. It allows one warning a second, because an attacker can cause any number
// of refusals.
func (g *guard) level(refused *refusal) slog.Level {
	level := refused.level()
	if level < slog.LevelWarn {
		return level
	}
	now, last := time.Now().UnixNano(), g.warned.Load()
	if now-last < int64(time.Second) || !g.warned.CompareAndSwap(last, now) {
		return slog.LevelDebug
	}
	return level
}

func (g *guard) admit(r *http.Request) (*Principal, *refusal) {
	token, refused := tokenOf(r)
	if refused != nil {
		refused.scopes = g.options.Scopes
		return nil, refused
	}
	p, err := g.verifier.Verify(r.Context(), token, r)
	switch {
	case err == nil && p == nil:
		return nil, unknown(errors.New("the verifier returned neither a principal nor an error"))
	case errors.Is(err, ErrInvalidToken):
		return nil, g.invalid(err)
	case err != nil:
		return nil, unknown(err)
	}
	if err := p.check(g.options.Audiences); err != nil {
		return nil, g.invalid(err)
	}
	p = p.with(g.options.Implies)
	needed := g.needed(r)
	if !p.HasScopes(needed...) {
		return nil, insufficient(needed, p.Scopes)
	}
	return p, nil
}

func (g *guard) invalid(err error) *refusal {
	return &refusal{status: http.StatusUnauthorized, code: "invalid_token", err: err, scopes: g.options.Scopes}
}

func (g *guard) needed(r *http.Request) []string {
	needed := g.options.Scopes
	if g.options.RequestScopes == nil {
		return needed
	}
	needed = slices.Clone(needed)
	for _, scope := range g.options.RequestScopes(r) {
		if !slices.Contains(needed, scope) {
			needed = append(needed, scope)
		}
	}
	return needed
}

func mustURL(field, s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Fragment != "" {
		panic(fmt.Sprintf("bearer: %s is %q, want an absolute http or https URL without fragment", field, s))
	}
	return u
}
