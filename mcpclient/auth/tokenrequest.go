package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/assertion"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/dpop"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/metadata"
)

// tokenRequest is one request to a token endpoint (RFC 6749 §4) for any grant.
type tokenRequest struct {
	step     Step
	endpoint string
	issuer   string // audience of a client assertion
	client   *client
	form     url.Values // grant_type and its parameters
	key      *dpop.Key  // key for the DPoP proof; nil means no proof
	trusted  bool       // the user chose the endpoint, so it may be on a private address
}

// secretParameters lists the secret parameters of token requests.
var secretParameters = []string{"code", "code_verifier", "refresh_token", "assertion", "client_assertion",
	"subject_token", "actor_token"}

// redeem sends r and checks the response. If the server requires a nonce in the proof, it retries once with the nonce
// (RFC 9449 §8).
func (f *flow) redeem(ctx context.Context, r *tokenRequest) (*Token, error) {
	ctx, end := instrument.StartAuthStep(ctx, string(r.step))
	raw, err := f.send(ctx, r)
	if e, ok := errors.AsType[*Error](err); ok && e.Code == "use_dpop_nonce" && r.key != nil {
		raw, err = f.send(ctx, r)
	}
	var t *Token
	if err == nil {
		t = newToken(raw, time.Now())
		err = checkToken(r.step, t, r.key)
	}
	end(err)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// send sends r once and returns the unchecked response.
func (f *flow) send(ctx context.Context, r *tokenRequest) (*oauth2.Token, error) {
	if r.endpoint == "" {
		return nil, refuse(r.step, "authorization server has no token endpoint")
	}
	conf := clientcredentials.Config{
		ClientID: r.client.id, TokenURL: r.endpoint, EndpointParams: url.Values{}, AuthStyle: oauth2.AuthStyleInParams,
	}
	var secrets []string
	maps.Copy(conf.EndpointParams, r.form)
	if err := r.client.authenticate(&conf, r.issuer, time.Now()); err != nil {
		return nil, refuse(r.step, "client assertion: %w", err)
	}
	for _, name := range secretParameters {
		secrets = append(secrets, conf.EndpointParams.Get(name))
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{
		Transport:     f.transport(r),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	t, err := conf.Token(ctx)
	if err != nil {
		return nil, tokenError(ctx, r.step, err, append(secrets, r.client.secrets()...))
	}
	return t, nil
}

// authenticate adds the client's authentication to conf.
func (c *client) authenticate(conf *clientcredentials.Config, audience string, now time.Time) error {
	switch c.method {
	case methodBasic:
		conf.AuthStyle, conf.ClientSecret = oauth2.AuthStyleInHeader, c.secret.reveal()
	case methodPost:
		conf.ClientSecret = c.secret.reveal()
	case methodPrivateKeyJWT:
		signed, err := c.signer.Assertion(c.id, audience, now)
		if err != nil {
			return err
		}
		conf.EndpointParams.Set("client_assertion_type", assertion.Type)
		conf.EndpointParams.Set("client_assertion", signed)
	}
	return nil
}

// tokenError converts an error of package oauth2, which may contain whole bodies, into an error of this package.
func tokenError(ctx context.Context, step Step, err error, secrets []string) error {
	if r, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return answered(step, r.ErrorCode, r.ErrorDescription, r.Response.StatusCode, secrets)
	}
	if ctx.Err() != nil {
		return failed(step, context.Cause(ctx))
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return failed(step, u.Err)
	}
	return refuse(step, "response of the token endpoint contains no token")
}

// endpointTransport sends the requests of package oauth2 through the guard, adds the proof, and reads the whole
// response.
type endpointTransport struct {
	fetch  *metadata.Fetcher
	nonces *dpop.Nonces
	key    *dpop.Key
	now    time.Time
}

func (f *flow) transport(r *tokenRequest) *endpointTransport {
	t := &endpointTransport{fetch: f.fetch, nonces: &f.a.nonces, key: r.key, now: time.Now()}
	if r.trusted {
		t.fetch = f.a.trusted
	}
	return t
}

// RoundTrip implements [http.RoundTripper].
func (t *endpointTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept", "application/json")
	if t.key != nil {
		proof, err := t.key.Proof(req.Method, req.URL, "", t.nonces.For(req.URL), t.now)
		if err != nil {
			return nil, err
		}
		req.Header.Set("DPoP", proof)
	}
	resp, err := t.fetch.Do(req)
	if err != nil {
		return nil, err
	}
	t.nonces.Note(req.URL, resp.Header.Get("DPoP-Nonce"))
	body, err := readAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if body = bytes.TrimSpace(body); bytes.HasPrefix(body, []byte("{")) {
		resp.Header.Set("Content-Type", "application/json") // regardless of the server's Content-Type
		body = wholeLifetime(body)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// wholeLifetime returns a token response with expires_in in whole seconds, as package oauth2 requires. Servers also
// send 3600.0, 3.6e3 and strings. Any other value becomes 0, which means unknown, because the lifetime is only a hint
// (RFC 6749 §5.1).
func wholeLifetime(body []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil || members["expires_in"] == nil {
		return body
	}
	var expires any
	_ = json.Unmarshal(members["expires_in"], &expires)
	members["expires_in"] = strconv.AppendInt(nil, int64(lifetime(expires)/time.Second), 10)
	whole, err := json.Marshal(members)
	if err != nil {
		return body
	}
	return whole
}

// readAll reads a response body to its end, within the limit of the Fetcher, and closes it.
func readAll(r io.ReadCloser) ([]byte, error) {
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

// newToken converts a token response (RFC 6749 §5.1) that arrived at now.
func newToken(t *oauth2.Token, now time.Time) *Token {
	token := &Token{AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, TokenType: t.Type()}
	if n := lifetime(t.Extra("expires_in")); n > 0 {
		token.Expiry = now.Add(n)
	}
	if s, ok := t.Extra("scope").(string); ok {
		token.Scopes = parseScopes(s)
	}
	token.IDToken, _ = t.Extra("id_token").(string)
	return token
}

// lifetime parses expires_in, at most ten years. It returns zero if v is not a time.
func lifetime(v any) time.Duration {
	const most = 10 * 365 * 24 * 3600
	return time.Duration(max(0, min(number(v), most)) * float64(time.Second))
}

// number parses a number that some servers send as a string. It returns zero if v is not a number.
func number(v any) float64 {
	var n float64
	switch v := v.(type) {
	case float64:
		n = v
	case int64:
		n = float64(v)
	case string:
		n, _ = strconv.ParseFloat(v, 64)
	}
	if math.IsNaN(n) {
		return 0
	}
	return n
}

// checkToken checks a new token. If the request had a proof, the token must be bound to the key (RFC 9449 §5). A bearer
// token would not be bound, and an MCP server that requires the binding would refuse the token.
func checkToken(step Step, t *Token, key *dpop.Key) error {
	if strings.ContainsFunc(t.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return refuse(step, "authorization server issued a token with characters that a header cannot contain")
	}
	switch {
	case key != nil && strings.EqualFold(t.TokenType, schemeDPoP), key == nil &&
		strings.EqualFold(t.TokenType, schemeBearer):
		return nil
	case key != nil:
		return refuse(step, "authorization server issued a token that is not bound to the DPoP key")
	default:
		return refuse(step, "authorization server issued a token that is not a bearer token")
	}
}
