package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/dpop"
)

// Application types of OpenID Connect Dynamic Client Registration §2.
const (
	applicationNative = "native"
	applicationWeb    = "web"
)

// identify chooses the client of the flow in the order of the specification: a client that was registered beforehand, a
// client with a metadata document, or a client that an earlier flow registered dynamically. If there is none, f.client
// stays nil until [flow.register]. identify also finds the previous session of the client. (specification 2026-07-28,
// basic/authorization/client-registration)
func (f *flow) identify(ctx context.Context) error {
	f.key = StoreKey{Resource: own(f.url), Issuer: f.server.Issuer}
	switch {
	case f.a.o.Credentials != nil:
		f.key.Client = f.a.o.Credentials.ClientID
		if err := f.useClient(f.a.o.Credentials); err != nil {
			return err
		}
	case f.a.o.ClientMetadataURL != "" && f.server.ClientIDMetadataDocuments:
		f.key.Client = f.a.o.ClientMetadataURL
		if err := f.useClient(&Credentials{ClientID: f.a.o.ClientMetadataURL}); err != nil {
			return err
		}
	default:
		f.key.Client = "dynamic:" + f.a.o.Registration.ClientName
	}
	return f.loadPrevious(ctx)
}

// useClient sets the client of the flow to the client that has these credentials.
func (f *flow) useClient(c *Credentials) error {
	client, err := newClient(c, f.a.o.signer, f.server)
	if err != nil {
		return refuse(StepRegister, "%w", err)
	}
	f.client = client
	return nil
}

// loadPrevious finds the client and the session of earlier flows: in the store, to which other processes may have
// written, or else in memory. For a grant that needs no person, loadPrevious ignores stored tokens, because other
// programs may share the store.
func (f *flow) loadPrevious(ctx context.Context) error {
	r, err := f.a.o.Store.Load(ctx, f.key)
	if err != nil {
		f.a.o.Logger.WarnContext(ctx, "stored token cannot be read", "resource", withoutQuery(f.id), "error", err)
	}
	if r == nil {
		r = &Record{}
	}
	last := f.last
	if last != nil && last.key != f.key {
		last = nil
	}
	f.requestedBefore = r.RequestedScopes
	if last != nil {
		f.requestedBefore = union(last.requested, f.requestedBefore)
	}
	if f.client == nil {
		if err := f.reuseRegistration(r.Credentials, last); err != nil || f.client == nil {
			return err
		}
	}
	if last != nil {
		f.wasBound = last.bound()
		if last.token != nil {
			f.previous = last
		}
	}
	if r.Token != nil && f.a.o.Grant.interactive() && (f.previous == nil || !f.previous.token.same(r.Token)) {
		f.previous = f.restore(r)
		f.wasBound = f.wasBound || f.previous != nil && f.previous.bound()
	}
	return nil
}

// reuseRegistration sets the client of the flow to a client that was registered dynamically before, if there is one.
func (f *flow) reuseRegistration(c *Credentials, last *session) error {
	if c == nil && last != nil {
		c = last.client.registered
	}
	if c == nil || c.ClientID == "" || c.Issuer != f.server.Issuer ||
		!c.SecretExpiry.IsZero() && !time.Now().Before(c.SecretExpiry) {
		return nil
	}
	f.reused = true
	return f.useRegistration(c)
}

// restore returns a session for a record, nil if the record is invalid.
func (f *flow) restore(r *Record) *session {
	s := &session{
		resource: f.id, server: f.server, client: f.client, key: f.key, token: r.Token, requested: r.RequestedScopes,
		source: stored, refreshAt: refreshTime(time.Now(), r.Token.Expiry, f.a.o.RefreshEarly),
	}
	if r.DPoPKey != nil {
		key, err := dpop.ParseKey(r.DPoPKey)
		if err != nil {
			return nil
		}
		s.dpop = key
	}
	if s.bound() != strings.EqualFold(r.Token.TokenType, schemeDPoP) {
		return nil
	}
	return s
}

// useRegistration sets the client of the flow to a dynamically registered client.
func (f *flow) useRegistration(c *Credentials) error {
	if err := f.useClient(c); err != nil {
		return err
	}
	f.client.registered = c
	return nil
}

// registrationRequest is the request of a client registration (RFC 7591 §2).
type registrationRequest struct {
	ClientName      string   `json:"client_name"`
	ClientURI       string   `json:"client_uri,omitempty"`
	RedirectURIs    []string `json:"redirect_uris,omitempty"`
	GrantTypes      []string `json:"grant_types"`
	ResponseTypes   []string `json:"response_types,omitempty"`
	AuthMethod      string   `json:"token_endpoint_auth_method,omitempty"`
	ApplicationType string   `json:"application_type"`
	Scope           string   `json:"scope,omitempty"`
	SoftwareID      string   `json:"software_id,omitempty"`
	SoftwareVersion string   `json:"software_version,omitempty"`
}

// registrationResponse is the response of a client registration (RFC 7591 §3.2).
type registrationResponse struct {
	ClientID         string   `json:"client_id"`
	ClientSecret     string   `json:"client_secret"`
	SecretExpiresAt  any      `json:"client_secret_expires_at"`
	AuthMethod       string   `json:"token_endpoint_auth_method"`
	RedirectURIs     []string `json:"redirect_uris"`
	Error            string   `json:"error"`
	ErrorDescription string   `json:"error_description"`
}

// register ensures that the flow has a client that may use redirectURI. redirectURI is empty if the grant has no
// redirect. A registration is reused only if it contains exactly this URI, because servers differ in which URIs they
// treat as equal.
func (f *flow) register(ctx context.Context, redirectURI string) error {
	if f.client != nil {
		if r := f.client.registered; r == nil || redirectURI == "" || slices.Contains(r.RedirectURIs, redirectURI) {
			return nil
		}
	}
	ctx, end := instrument.StartAuthStep(ctx, string(StepRegister))
	c, err := f.registerAnew(ctx, redirectURI)
	if err == nil {
		err = f.useRegistration(c)
	}
	if err == nil {
		f.reused = false
		if f.previous == nil { // otherwise the stored token would be overwritten
			f.keep(ctx, f.key, f.client, &Record{RequestedScopes: f.requestedBefore})
		}
	}
	end(err)
	return err
}

func (f *flow) registerAnew(ctx context.Context, redirectURI string) (*Credentials, error) {
	if f.server.RegistrationEndpoint == "" || f.a.o.Registration.Disabled {
		return nil, refuse(StepRegister,
			"authorization server %s cannot register this client: set Options.Credentials%s",
			quoteShort(f.server.Issuer), f.hintDocument())
	}
	body, err := json.Marshal(f.registration(redirectURI))
	if err != nil {
		return nil, refuse(StepRegister, "%w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.server.RegistrationEndpoint, bytes.NewReader(body))
	if err != nil {
		return nil, refuse(StepRegister, "registration endpoint: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := f.fetch.Do(req)
	if err != nil {
		return nil, failed(StepRegister, err)
	}
	data, err := readAll(resp.Body)
	if err != nil {
		return nil, failed(StepRegister, err)
	}
	var r registrationResponse
	malformed := json.Unmarshal(data, &r) != nil
	if resp.StatusCode != http.StatusCreated && resp.StatusCode != http.StatusOK || r.Error != "" {
		return nil, answered(StepRegister, r.Error, r.ErrorDescription, resp.StatusCode, []string{r.ClientSecret})
	}
	if malformed || r.ClientID == "" {
		return nil, refuse(StepRegister, "response of the registration endpoint contains no client")
	}
	return r.credentials(f.server.Issuer, redirectURI), nil
}

func (f *flow) hintDocument() string {
	if f.server.ClientIDMetadataDocuments {
		return " or Options.ClientMetadataURL"
	}
	return ""
}

func (r *registrationResponse) credentials(issuer, redirectURI string) *Credentials {
	c := &Credentials{
		Issuer: issuer, ClientID: r.ClientID, ClientSecret: r.ClientSecret, TokenAuthMethod: r.AuthMethod,
		RedirectURIs: r.RedirectURIs,
	}
	if redirectURI != "" && !slices.Contains(c.RedirectURIs, redirectURI) {
		c.RedirectURIs = append(c.RedirectURIs, redirectURI) // some servers do not repeat the URI
	}
	if n := number(r.SecretExpiresAt); n > 0 {
		c.SecretExpiry = time.Unix(int64(min(n, 1<<40)), 0)
	}
	return c
}

// registration returns the registration request for this flow.
func (f *flow) registration(redirectURI string) *registrationRequest {
	o := &f.a.o.Registration
	r := &registrationRequest{
		ClientName: o.ClientName, ClientURI: o.ClientURI, SoftwareID: o.SoftwareID, SoftwareVersion: o.SoftwareVersion,
		GrantTypes: []string{f.a.o.Grant.name()}, ApplicationType: o.ApplicationType, Scope: strings.Join(f.requested, " "),
	}
	if r.ApplicationType == "" {
		r.ApplicationType = applicationType(redirectURI)
	}
	preferred := []string{methodBasic, methodPost}
	if redirectURI != "" {
		r.RedirectURIs = []string{redirectURI}
		r.ResponseTypes = []string{"code"}
		r.GrantTypes = append(r.GrantTypes, "refresh_token")
		if r.ApplicationType == applicationNative {
			// a native application cannot keep a secret (RFC 8252 §8.4)
			preferred = []string{methodNone, methodBasic, methodPost}
		}
	}
	for _, m := range preferred {
		if slices.Contains(f.server.TokenAuthMethods, m) {
			r.AuthMethod = m
			break
		}
	}
	return r
}

// applicationType returns the application type for a redirect URI (specification 2026-07-28,
// basic/authorization/client-registration, "Application Type and Redirect URI Constraints").
func applicationType(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return applicationNative
	}
	if hostname.Loopback(u.Hostname()) {
		return applicationNative
	}
	return applicationWeb
}
