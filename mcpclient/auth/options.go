package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/assertion"
)

// Limits of an [Authorizer].
const (
	// DefaultInteractionTimeout is how long a person may take if [Options.InteractionTimeout] is zero.
	DefaultInteractionTimeout = 5 * time.Minute

	// DefaultRefreshEarly is how long before its expiry a token is refreshed if [Options.RefreshEarly] is zero.
	DefaultRefreshEarly = time.Minute
)

// Options say how an [Authorizer] gets its tokens. The zero value works for servers that need no person, that is for
// none that ask for authorization: set Interact, or a Grant that does without. Printed or logged, Options hide their
// secrets.
type Options struct {
	// Grant is how tokens are got. Nil means [AuthorizationCode].
	Grant Grant

	// Interact brings the person to the authorization server and back. Nil means that there is no person: stored tokens
	// are used and refreshed, and what needs a person fails with [ErrNoInteraction].
	Interact Interaction

	// Resource is what the MCP server may say that it is besides its own URL, which is all that it may otherwise: a URL
	// above it, such as https://example.com for a server at https://example.com/mcp. Tokens are then good for everything
	// that is below that URL, so each of the servers there can use them at the others. Empty means none. (RFC 9728 §3.3)
	Resource string

	// Credentials are those of a client that was registered beforehand; ClientID is what they need, and with a
	// ClientSecret Issuer too. With Issuer they are used at that authorization server only, and an MCP server that names
	// others is an error; without it they are used where the MCP server sends first. TokenAuthMethod empty means what the
	// authorization server's metadata prefers, of client_secret_basic, client_secret_post, private_key_jwt and none.
	// (specification 2026-07-28, basic/authorization/client-registration, "Pre-registration")
	Credentials *Credentials

	// PrivateKey, if not nil, is what the client of Credentials or ClientMetadataURL authenticates with at token
	// endpoints: private_key_jwt (RFC 7523 §2.2).
	PrivateKey *PrivateKey

	// ClientMetadataURL is the https URL of this client's metadata document, with a path: the client id at authorization
	// servers that support Client ID Metadata Documents. The document has to name the redirect URI of Interact. Empty
	// means that there is none.
	ClientMetadataURL string

	// Registration is what dynamic registration, the last resort, says about this client.
	Registration Registration

	// Scopes are asked for in any case. If there are some, the scopes_supported of the MCP server's metadata are not
	// consulted; the scope of a challenge is always added. (specification 2026-07-28, basic/authorization, "Scope
	// Selection Strategy")
	Scopes []string

	// NoOfflineAccess leaves out the scope offline_access, which is otherwise added to the other scopes where the
	// authorization server lists it.
	NoOfflineAccess bool

	// Store keeps tokens and registrations. It belongs to one person or one service: processes that share it share the
	// tokens. Nil means memory of this Authorizer alone.
	Store TokenStore

	// DPoP says when tokens are bound to a key (RFC 9449).
	DPoP DPoPMode

	// HTTPClient lends its Transport to all requests to metadata and authorization servers; its other fields do not count.
	// Addresses are checked when an [*http.Transport] dials them, and before the request if the Transport is of another
	// type: then names have to be known to the resolver of this program, unless AllowPrivateAddresses says otherwise. Nil
	// means a client of the Authorizer's own.
	HTTPClient *http.Client

	// AllowPrivateAddresses lets metadata and authorization servers be in private networks and on loopback. Otherwise they
	// have to be on public addresses, but that what an MCP server on loopback names may be on loopback too. Link-local
	// addresses stay refused. What the user names, as the identity provider of [EnterpriseManaged], may be anywhere else.
	// (2026-07-28, Security Best Practices, "Server-Side Request Forgery")
	AllowPrivateAddresses bool

	// InteractionTimeout bounds one authorization as a whole, the person included. Zero means
	// [DefaultInteractionTimeout].
	InteractionTimeout time.Duration

	// RefreshEarly is how long before its expiry a token is refreshed, in the background, by the first request that finds
	// it so; a tenth of the token's life if that is less. Zero means [DefaultRefreshEarly]; negative means only when it
	// has expired.
	RefreshEarly time.Duration

	// Logger gets what does not fail a request: a store that cannot save, a refresh token that is not valid any more. Nil
	// means that nothing is logged.
	Logger *slog.Logger
}

// Registration is what dynamic client registration says about this client (RFC 7591 §2).
type Registration struct {
	Disabled        bool   // do not register
	ClientName      string // shown to the person who authorizes; empty means "mcpotel"
	ClientURI       string // a page about the client; may be empty
	SoftwareID      string // may be empty
	SoftwareVersion string // may be empty

	// ApplicationType is native or web. Empty means native if the redirect URI is on loopback or has a scheme of its own,
	// or if there is none, and else web.
	ApplicationType string
}

// PrivateKey is a key to sign client assertions with. Printed or logged it hides the key.
type PrivateKey struct {
	PEM       []byte // PKCS #8, or PKCS #1 and SEC 1
	Algorithm string // such as ES256; empty means the usual one of the key
	ID        string // key id in the header of assertions; may be empty
}

// LogValue shows everything but the key.
func (k PrivateKey) LogValue() slog.Value {
	return slog.GroupValue(slog.String("pem", redact(string(k.PEM))), slog.String("algorithm", k.Algorithm),
		slog.String("id", k.ID))
}

// Format prints, whatever the verb, what LogValue shows.
func (k PrivateKey) Format(f fmt.State, _ rune) { show(f, "PrivateKey", k.LogValue()) }

// MarshalJSON encodes what LogValue shows.
func (k PrivateKey) MarshalJSON() ([]byte, error) { return showJSON(k.LogValue()) }

// DPoPMode says when tokens are bound to a key that the client proves to have with each request (RFC 9449).
type DPoPMode int

const (
	DPoPAuto   DPoPMode = iota // if the MCP server asks for it, by its challenge or its metadata
	DPoPAlways                 // or not at all: an authorization server without it is refused
	DPoPNever
)

// LogValue shows the settings without secrets.
func (o Options) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("grant", o.grant().name()),
		slog.Bool("interaction", o.Interact != nil),
		slog.String("client_metadata_url", o.ClientMetadataURL),
		slog.String("scope", strings.Join(o.Scopes, " ")),
	}
	if o.Credentials != nil {
		attrs = append(attrs, slog.Attr{Key: "credentials", Value: o.Credentials.LogValue()})
	}
	if o.PrivateKey != nil {
		attrs = append(attrs, slog.Attr{Key: "private_key", Value: o.PrivateKey.LogValue()})
	}
	return slog.GroupValue(attrs...)
}

// Format prints, whatever the verb, what LogValue shows.
func (o Options) Format(f fmt.State, _ rune) { show(f, "Options", o.LogValue()) }

// MarshalJSON encodes what LogValue shows.
func (o Options) MarshalJSON() ([]byte, error) { return showJSON(o.LogValue()) }

func (o *Options) grant() Grant {
	if o.Grant == nil {
		return AuthorizationCode{}
	}
	return o.Grant
}

// settings are checked Options with nothing nil or zero that means a default.
type settings struct {
	Options
	signer *assertion.Signer // nil without PrivateKey
}

// settle checks o and fills in its defaults. What it returns shares nothing with o that could change.
func (o *Options) settle() (*settings, error) {
	s := &settings{Options: *o}
	s.Grant = o.grant()
	s.Scopes = slices.Clone(o.Scopes)
	if err := s.Grant.check(); err != nil {
		return nil, err
	}
	if s.Interact != nil && !s.Grant.interactive() {
		return nil, fmt.Errorf("a grant %s needs no Interact", s.Grant.name())
	}
	if err := checkResource(o.Resource); err != nil {
		return nil, err
	}
	if o.Credentials != nil {
		if err := o.Credentials.check(); err != nil {
			return nil, err
		}
		s.Credentials = new(*o.Credentials)
	}
	if u := o.ClientMetadataURL; u != "" {
		if p, err := url.Parse(u); err != nil || p.Scheme != "https" || p.Host == "" || p.Path == "" || p.Path == "/" ||
			p.Fragment != "" || p.User != nil {
			return nil, errors.New("client metadata URL is not an https URL with a path")
		}
	}
	switch o.Registration.ApplicationType {
	case "", applicationNative, applicationWeb:
	default:
		return nil, fmt.Errorf("application type is %q, want native or web", o.Registration.ApplicationType)
	}
	if o.DPoP < DPoPAuto || o.DPoP > DPoPNever {
		return nil, fmt.Errorf("unknown DPoP mode %d", o.DPoP)
	}
	if o.InteractionTimeout < 0 {
		return nil, errors.New("negative interaction timeout")
	}
	if o.PrivateKey != nil {
		signer, err := assertion.PrivateKey(o.PrivateKey.PEM, o.PrivateKey.Algorithm, o.PrivateKey.ID)
		if err != nil {
			return nil, fmt.Errorf("private key: %w", err)
		}
		s.signer = signer
		s.PrivateKey = nil
	}
	s.fill()
	return s, nil
}

func checkResource(resource string) error {
	u, err := url.Parse(resource)
	if resource == "" {
		return nil
	}
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return errors.New("option Resource is no http or https URL without user and fragment")
	}
	return nil
}

// check says what is wrong with credentials that the user has given. A secret goes to one authorization server: which
// one an MCP server names may change, and be its own.
func (c *Credentials) check() error {
	switch {
	case c.ClientID == "":
		return errors.New("credentials without ClientID")
	case c.ClientSecret != "" && c.Issuer == "":
		return errors.New("credentials with ClientSecret and without Issuer: say which authorization server may see it")
	}
	return nil
}

func (s *settings) fill() {
	if s.Registration.ClientName == "" {
		s.Registration.ClientName = "mcpotel"
	}
	if s.Store == nil {
		s.Store = NewMemoryStore()
	}
	if s.InteractionTimeout == 0 {
		s.InteractionTimeout = DefaultInteractionTimeout
	}
	if s.RefreshEarly == 0 {
		s.RefreshEarly = DefaultRefreshEarly
	}
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	// there is no other place to tell
	s.Logger = slog.New(usercode.LogHandler(s.Logger.Handler(), func(*usercode.Failure) {}))
}
