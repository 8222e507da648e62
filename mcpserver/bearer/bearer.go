// Package bearer protects an MCP server over HTTP by access tokens, as the resource server of the specification
// (2026-07-28, basic/authorization): [Require] lets requests with a good token through and tells others where to get
// one, and [Metadata] is the document that it points to. Who asks is found in the context, by [PrincipalFrom].
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
// What may surprise: a token has to name this server as its audience, even if it is verified, because one that was
// given for another server must not be good here, and its subject or its client, because everything that belongs to a
// principal goes by them. Tokens bound to a key (DPoP, mutual TLS) are refused by [JWT]: nothing here checks the key.
// And a token is looked for in the header Authorization only.
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

// ErrInvalidToken is in the error of a [Verifier] when the token is no good. Any other error means that the Verifier
// does not know.
var ErrInvalidToken = errors.New("invalid token")

// Verifier says whose a token is. Its method may be called from any goroutine.
type Verifier interface {
	// Verify returns what token is good for; audience, scopes and times are then checked by the caller, so they have to be
	// those of the token. The request is for those who need more than the token, and its body is not to be read. An error
	// without [ErrInvalidToken] in it is answered with HTTP 503: the client may try again. Errors are logged, so they must
	// not quote the token.
	Verify(ctx context.Context, token string, r *http.Request) (*Principal, error)
}

// VerifierFunc is a function that is a [Verifier].
type VerifierFunc func(ctx context.Context, token string, r *http.Request) (*Principal, error)

// Verify calls f.
func (f VerifierFunc) Verify(ctx context.Context, token string, r *http.Request) (*Principal, error) {
	return f(ctx, token, r)
}

// Options of [Require].
type Options struct {
	// Resource is the URL of the MCP server, as clients know it: the audience that tokens have to have. Required.
	Resource string

	// Audiences are other audiences that are good enough, for authorization servers that know the server by another name.
	Audiences []string

	// Scopes that a token has to have, all of them.
	Scopes []string

	// RequestScopes returns the scopes that one request needs besides, such as those of the tool in its header Mcp-Name.
	// Nil means none. It should return all that are missing at once: each refusal may cost a person a visit to the
	// authorization server.
	RequestScopes func(*http.Request) []string

	// Implies says which narrower scopes a broader one contains, such as "files" those of "files:read" and "files:write":
	// a token with the broader one has them all, and those that they imply in turn. Nil means that a scope contains itself
	// only. (specification 2026-07-28, basic/authorization, "Step-Up Authorization Flow")
	Implies map[string][]string

	// MetadataURL is where the protected-resource metadata is. Empty means the well-known URL for Resource.
	MetadataURL string

	// Logger is told why requests are refused: at debug, and at warn when the Verifier does not know. Nil means that
	// nothing is logged.
	Logger *slog.Logger
}

// Require returns what puts a check before a handler: only requests with a token that v knows, meant for this server,
// in time and with the scopes, get through, with their [Principal] in the context. The others get
//
//   - 401 without a token, or with one that is no good (invalid_token),
//   - 403 with too few scopes (insufficient_scope; the scopes that are needed are in the challenge),
//   - 400 if the header Authorization is malformed (invalid_request),
//   - 503 if v does not know,
//
// with a challenge as RFC 6750 §3 and RFC 9728 §5.1 have it. Directly in front of an mcpserver.HTTPHandler, the check
// counts its refusals in the telemetry of the server, by HTTPHandler.Refused.
//
// The options are copied. A nil Verifier, nil options, or a
// Resource or MetadataURL that is no absolute http or https URL without fragment, panics.
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
	// there is no other place to tell
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

// guard is the check before a handler.
type guard struct {
	verifier Verifier
	options  Options
	next     http.Handler
	warned   atomic.Int64 // when it last warned of a refusal, in nanoseconds since 1970
}

// refusalCounter is an mcpserver.HTTPHandler, which has the telemetry of the server.
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

// level is that of the record about a refusal. One a second is a warning: strangers can cause as many as they like.
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
