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

// Defaults of an [Authorizer].
const (
	// DefaultInteractionTimeout is the value of a zero [Options.InteractionTimeout].
	DefaultInteractionTimeout = 5 * time.Minute

	// DefaultRefreshEarly is the value of a zero [Options.RefreshEarly].
	DefaultRefreshEarly = time.Minute
)

// Options configure an [Authorizer]. The zero value works only if no server requires authorization: set Interact, or
// a Grant that needs no person. Printed or logged, Options hide their secrets.
type Options struct {
	// Grant is the way to get tokens. Nil means [AuthorizationCode].
	Grant Grant

	// Interact sends the person to the authorization server and receives the redirect. Nil means that there is no
	// person: stored tokens are used and refreshed, and an authorization that needs a person fails with
	// [ErrNoInteraction].
	Interact Interaction

	// Resource is a URL above the MCP server's own URL that its metadata may name as its resource, such as
	// https://example.com for a server at https://example.com/mcp. Tokens are then valid for everything below that URL, so
	// a server below that URL can use a token that it receives to call the other servers. Empty means that the metadata
	// may name only the server's own URL. (RFC 9728 §3.3)
	Resource string

	// Credentials belong to a client that was registered beforehand. ClientID is required; with a ClientSecret, Issuer is
	// required too. With Issuer, the credentials are used only at that authorization server; if the MCP server does not
	// name that authorization server, the authorization fails. Without Issuer, they are used at the first authorization
	// server that the MCP server names. If TokenAuthMethod is empty, the method is chosen from the authorization server's
	// metadata: client_secret_basic, client_secret_post, private_key_jwt or none. (specification 2026-07-28,
	// basic/authorization/client-registration, "Pre-registration")
	Credentials *Credentials

	// PrivateKey, if not nil, authenticates the client of Credentials or ClientMetadataURL at token endpoints:
	// private_key_jwt (RFC 7523 §2.2).
	PrivateKey *PrivateKey

	// ClientMetadataURL is the https URL, with a path, of this client's metadata document. It is the client id at
	// authorization servers that support Client ID Metadata Documents. The document must list the redirect URI of
	// Interact. Empty means that there is no document.
	ClientMetadataURL string

	// Registration describes this client for dynamic registration, which is the last resort.
	Registration Registration

	// Scopes are always requested. If Scopes is not empty, the scopes_supported in the MCP server's metadata are
	// ignored. The scopes of a challenge are always added. (specification 2026-07-28, basic/authorization, "Scope
	// Selection Strategy")
	Scopes []string

	// NoOfflineAccess omits the scope offline_access, which is otherwise added if the authorization server lists it.
	NoOfflineAccess bool

	// Store keeps tokens and registrations. It belongs to one person or one service: processes with the same store
	// share its tokens. Nil means a store in the memory of this Authorizer.
	Store TokenStore

	// DPoP determines when tokens are bound to a key (RFC 9449).
	DPoP DPoPMode

	// HTTPClient provides the Transport for all requests to metadata and authorization servers; its other fields are
	// ignored. An [*http.Transport] checks addresses when it dials. For other types, names are resolved in this
	// process and checked before each request, unless AllowPrivateAddresses is set. Nil means a new client.
	HTTPClient *http.Client

	// AllowPrivateAddresses allows metadata and authorization servers in private networks and on loopback. Otherwise
	// they must have public addresses; the servers that an MCP server on loopback names may also be on loopback.
	// Link-local addresses stay refused. Servers that the user names, such as the identity provider of
	// [EnterpriseManaged], may have any address except link-local. (2026-07-28, Security Best Practices, "Server-Side
	// Request Forgery")
	AllowPrivateAddresses bool

	// InteractionTimeout bounds one whole authorization, including the person's part. Zero means
	// [DefaultInteractionTimeout].
	InteractionTimeout time.Duration

	// RefreshEarly determines how early tokens are refreshed: the first request within this time before the expiry
	// refreshes the token in the background. The time is at most a tenth of the token's lifetime. Zero means
	// [DefaultRefreshEarly]. Negative means to refresh only expired tokens.
	RefreshEarly time.Duration

	// Logger logs problems that do not fail a request: a store that cannot save, a refresh token that is no longer
	// valid. Nil disables logging.
	Logger *slog.Logger
}

// Registration describes this client in dynamic client registration (RFC 7591 §2).
type Registration struct {
	Disabled        bool   // disables dynamic registration
	ClientName      string // name shown to the person who authorizes; empty means "mcpotel"
	ClientURI       string // page about the client; may be empty
	SoftwareID      string // may be empty
	SoftwareVersion string // may be empty

	// ApplicationType is native or web. Empty means native if the redirect URI is on loopback or has a private
	// scheme, or if there is no redirect URI; otherwise web.
	ApplicationType string
}

// PrivateKey is a key that signs client assertions. Printed or logged, it hides the key.
type PrivateKey struct {
	PEM       []byte // PKCS #8, PKCS #1 or SEC 1
	Algorithm string // such as ES256; empty means the default for the key
	ID        string // key id in the header of assertions; may be empty
}

// LogValue returns all fields except the key.
func (k PrivateKey) LogValue() slog.Value {
	return slog.GroupValue(slog.String("pem", redact(string(k.PEM))), slog.String("algorithm", k.Algorithm),
		slog.String("id", k.ID))
}

// Format prints LogValue for all verbs.
func (k PrivateKey) Format(f fmt.State, _ rune) { show(f, "PrivateKey", k.LogValue()) }

// MarshalJSON encodes LogValue.
func (k PrivateKey) MarshalJSON() ([]byte, error) { return marshalLogValue(k.LogValue()) }

// DPoPMode determines when tokens are bound to a key. The client proves possession of the key in each request (RFC
// 9449).
type DPoPMode int

const (
	// DPoPAuto binds tokens if the MCP server requires DPoP in its challenge or its metadata, or if it offers DPoP and
	// the authorization server supports DPoP.
	DPoPAuto DPoPMode = iota
	// DPoPAlways always binds tokens. If the authorization server does not support that, the authorization fails.
	DPoPAlways
	DPoPNever
)

// LogValue returns the settings without secrets.
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

// Format prints LogValue for all verbs.
func (o Options) Format(f fmt.State, _ rune) { show(f, "Options", o.LogValue()) }

// MarshalJSON encodes LogValue.
func (o Options) MarshalJSON() ([]byte, error) { return marshalLogValue(o.LogValue()) }

func (o *Options) grant() Grant {
	if o.Grant == nil {
		return AuthorizationCode{}
	}
	return o.Grant
}

// settings are valid Options with all defaults filled in.
type settings struct {
	Options
	signer *assertion.Signer // nil without PrivateKey
}

// settings checks o and fills in its defaults. The result shares no mutable memory with o.
func (o *Options) settings() (*settings, error) {
	s := &settings{Options: *o}
	s.Grant = o.grant()
	s.Scopes = slices.Clone(o.Scopes)
	if err := s.Grant.check(); err != nil {
		return nil, err
	}
	if s.Interact != nil && !s.Grant.interactive() {
		return nil, fmt.Errorf("grant %s does not use Interact: leave it nil", s.Grant.name())
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
			return nil, errors.New("ClientMetadataURL must be an https URL with a path and without a fragment")
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
		return nil, errors.New("InteractionTimeout is negative")
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
		return errors.New("Options.Resource must be an http or https URL without user information and fragment")
	}
	return nil
}

// check returns an error if the user's credentials are invalid. A secret must come with the issuer of its authorization
// server: otherwise an MCP server could name its own authorization server and receive the secret.
func (c *Credentials) check() error {
	switch {
	case c.ClientID == "":
		return errors.New("Credentials.ClientID is not set")
	case c.ClientSecret != "" && c.Issuer == "":
		return errors.New("credentials with ClientSecret but without Issuer: " +
			"name the authorization server that may receive them")
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
	// Failures of the handler cannot be reported elsewhere.
	s.Logger = slog.New(usercode.LogHandler(s.Logger.Handler(), func(*usercode.Failure) {}))
}
