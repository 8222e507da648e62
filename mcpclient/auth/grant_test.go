package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

func machine(o *auth.Options) {
	o.Grant = auth.ClientCredentials{}
	o.Credentials = &auth.Credentials{ClientID: "machine", ClientSecret: "machine-secret", Issuer: "http://" + asHost}
}

func TestClientCredentialsWorkWithSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.mcp.scope = "mcp:basic"
		b.mcp.needs = map[string][]string{"tools/call": {"mcp:write"}}
		b.as.lifetime = time.Hour
		b.as.clients["machine"] = object{"client_secret": "machine-secret"}
		a := b.authorizer(machine)
		b.ok(a, "tools/list")
		b.ok(a, "tools/call")
		for range 20 {
			time.Sleep(2 * time.Hour)
			b.ok(a, "tools/call")
		}
		all := b.requests(asHost, "/token")
		if n := len(all); n != 22 {
			t.Errorf("want a token, a token with more scopes, and a new token after each expiry, got %d", n)
		}
		for i, scope := range []string{"mcp:basic", "mcp:basic mcp:write", "mcp:basic mcp:write"} {
			form := all[i].form
			if form.Get("grant_type") != "client_credentials" || form.Get("resource") != mcpURL || form.Get("scope") != scope {
				t.Errorf("request %d: want client_credentials for the resource with scope %q, got %v", i, scope, form)
			}
		}
		if n := len(b.requests(mcpHost, "/mcp")); n != 24 {
			t.Errorf("want expired tokens renewed before they are refused, got %d requests", n)
		}
	})
}

func TestClientCredentialsWorkWithPrivateKey(t *testing.T) {
	b := newBench(t)
	b.as.noDescription = true
	b.as.metadata = func(doc object) {
		doc["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt"}
		doc["token_endpoint_auth_signing_alg_values_supported"] = []string{"ES256"}
	}
	b.ok(b.authorizer(func(o *auth.Options) {
		o.Grant = auth.ClientCredentials{}
		o.Credentials = &auth.Credentials{ClientID: "machine"}
		o.PrivateKey = &auth.PrivateKey{PEM: newKey(t), ID: "key-1"}
	}), "tools/list")
	form := b.only(asHost, "/token").form
	c := claims(form.Get("client_assertion"))
	if form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" ||
		c["iss"] != "machine" || c["sub"] != "machine" || c["aud"] != b.as.issuer {
		t.Errorf("want an assertion of the client for the issuer, got %v with %v", form, c)
	}
	if form.Get("client_secret") != "" || b.only(asHost, "/token").header.Get("Authorization") != "" {
		t.Error("want no other authentication than the assertion")
	}
}

func TestUnsupportedSigningAlgorithmIsRejected(t *testing.T) {
	b := newBench(t)
	b.as.metadata = func(doc object) {
		doc["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt"}
		doc["token_endpoint_auth_signing_alg_values_supported"] = []string{"RS256"}
	}
	e := b.fails(b.authorizer(func(o *auth.Options) {
		o.Grant = auth.ClientCredentials{}
		o.Credentials = &auth.Credentials{ClientID: "machine"}
		o.PrivateKey = &auth.PrivateKey{PEM: newKey(t)}
	}), "tools/list")
	if e.Step != auth.StepRegister || !e.Permanent() || len(b.requests(asHost, "/token")) != 0 {
		t.Errorf("want a permanent error before any token request, got %v", e)
	}
}

func TestWrongCredentialsAreAPermanentError(t *testing.T) {
	b := newBench(t)
	b.as.clients["machine"] = object{"client_secret": "another"}
	e := b.fails(b.authorizer(machine), "tools/list")
	if !e.Permanent() || e.Code != "invalid_client" || e.Status != http.StatusUnauthorized ||
		len(b.requests(asHost, "/token")) != 1 {
		t.Errorf("want a permanent invalid_client after one request, got %v", e)
	}
}

func newKey(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// provider is the identity provider of an enterprise.
type provider struct {
	w        *bench
	metadata bool
	answer   func(object)
	refuses  *failure
}

func (p *provider) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	switch {
	case req.URL.Path == "/.well-known/openid-configuration" && p.metadata:
		reply(rw, http.StatusOK, object{
			"issuer": "http://" + idpHost, "token_endpoint": "http://" + idpHost + "/token",
			"token_endpoint_auth_methods_supported": []string{"client_secret_post"},
		})
	case req.URL.Path == "/token" && p.refuses != nil:
		p.refuses.reply(rw)
	case req.URL.Path == "/token":
		out := object{
			"access_token": "id-jag", "token_type": "N_A",
			"issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
		}
		if p.answer != nil {
			p.answer(out)
		}
		reply(rw, http.StatusOK, out)
	default:
		http.NotFound(rw, req)
	}
}

func enterprise(change func(*auth.EnterpriseManaged)) func(*auth.Options) {
	return func(o *auth.Options) {
		machine(o)
		g := auth.EnterpriseManaged{
			Issuer: "http://" + idpHost, TokenEndpoint: "http://" + idpHost + "/token",
			Client:  &auth.Credentials{ClientID: "idp-client"},
			IDToken: func(context.Context) (string, error) { return "id-token", nil },
		}
		if change != nil {
			change(&g)
		}
		o.Grant = g
	}
}

func newEnterprise(t *testing.T) (*bench, *provider) {
	b := newBench(t)
	b.as.clients["machine"] = object{"client_secret": "machine-secret"}
	p := &provider{w: b}
	b.hosts[idpHost] = p
	return b, p
}

func TestEnterpriseManagedExchangesTheIDToken(t *testing.T) {
	b, _ := newEnterprise(t)
	b.mcp.scope = "mcp:basic"
	b.ok(b.authorizer(enterprise(nil)), "tools/list")
	for _, c := range []struct {
		host string
		want url.Values
	}{
		{idpHost, url.Values{
			"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "client_id": {"idp-client"},
			"scope":                {"mcp:basic"},
			"requested_token_type": {"urn:ietf:params:oauth:token-type:id-jag"}, "audience": {b.as.issuer}, "resource": {mcpURL},
			"subject_token": {"id-token"}, "subject_token_type": {"urn:ietf:params:oauth:token-type:id_token"},
		}},
		{asHost, url.Values{
			"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {"id-jag"}, "resource": {mcpURL},
			"scope": {"mcp:basic"},
		}},
	} {
		if got := b.only(c.host, "/token").form; got.Encode() != c.want.Encode() {
			t.Errorf("%s: want %v, got %v", c.host, c.want, got)
		}
	}
}

func TestIdentityProviderIsDiscoveredWithoutTokenEndpoint(t *testing.T) {
	b, p := newEnterprise(t)
	p.metadata = true
	b.ok(b.authorizer(enterprise(func(g *auth.EnterpriseManaged) {
		g.TokenEndpoint, g.Client.ClientSecret = "", "idp-secret"
	})), "tools/list")
	if got := b.only(idpHost, "/token").form.Get("client_secret"); got != "idp-secret" {
		t.Errorf("want the authentication method of the metadata, got secret %q", got)
	}
}

func TestIdentityProvidersRefusalIsReturned(t *testing.T) {
	b, p := newEnterprise(t)
	p.refuses = &failure{400, "access_denied", "the policy says no"}
	e := b.fails(b.authorizer(enterprise(nil)), "tools/list")
	if !e.Permanent() || e.Code != "access_denied" || e.Description != "the policy says no" ||
		len(b.requests(asHost, "/token")) != 0 {
		t.Errorf("want the provider's permanent refusal, got %v", e)
	}
	b, p = newEnterprise(t)
	p.answer = func(out object) { out["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token" }
	if e := b.fails(b.authorizer(enterprise(nil)), "tools/list"); !e.Permanent() ||
		len(b.requests(asHost, "/token")) != 0 {
		t.Errorf("want a permanent error for another kind of token, got %v", e)
	}
	b, _ = newEnterprise(t)
	signedOut := errors.New("nobody is signed in")
	e = b.fails(b.authorizer(enterprise(func(g *auth.EnterpriseManaged) {
		g.IDToken = func(context.Context) (string, error) { return "", signedOut }
	})), "tools/list")
	if e.Permanent() || !errors.Is(e, signedOut) {
		t.Errorf("want the temporary error of IDToken, got %v", e)
	}
}

func workload(jwt string) func(*auth.Options) {
	return func(o *auth.Options) {
		o.Credentials = &auth.Credentials{ClientID: "workload"}
		o.Grant = auth.JWTBearer{Assertion: func(_ context.Context, audience string) (string, error) {
			return jwt + " for " + audience, nil
		}}
	}
}

func TestJWTBearerSendsTheAssertionOnce(t *testing.T) {
	b := newBench(t)
	b.as.noDescription = true
	b.as.metadata = func(doc object) { doc["registration_endpoint"] = nil }
	b.ok(b.authorizer(workload("jwt")), "tools/list")
	form := b.only(asHost, "/token").form
	want := url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {"jwt for " + b.as.issuer},
		"client_id": {"workload"}, "resource": {mcpURL},
	}
	if form.Encode() != want.Encode() {
		t.Errorf("want %v, got %v", want, form)
	}
}

func TestRefusedAssertionIsNotRetried(t *testing.T) {
	for _, code := range []string{"invalid_grant", "invalid_scope", "unauthorized_client", "invalid_client"} {
		b := newBench(t)
		b.as.noDescription = true
		b.as.token = func(url.Values) *failure { return &failure{400, code, "no"} }
		e := b.fails(b.authorizer(workload("jwt")), "tools/list")
		if !e.Permanent() || e.Code != code || e.ErrorType() != code || len(b.requests(asHost, "/token")) != 1 {
			t.Errorf("want a permanent %s after one request, got %v after %d", code, e, len(b.requests(asHost, "/token")))
		}
	}
}

func TestClientCredentialsTokensAreNotLoadedFromTheStore(t *testing.T) {
	b := newBench(t)
	b.as.noDescription = true
	store := auth.NewMemoryStore()
	shared := func(o *auth.Options) { o.Store = store }
	b.ok(b.authorizer(workload("alice"), shared), "tools/list")
	b.ok(b.authorizer(workload("bob"), shared), "tools/list")
	all := b.requests(asHost, "/token")
	if len(all) != 2 || all[1].form.Get("assertion") != "bob for "+b.as.issuer {
		t.Errorf("want a separate token for each client, got %d requests", len(all))
	}
}

func TestClientCredentialsCanRegisterDynamically(t *testing.T) {
	b := newBench(t)
	b.ok(b.authorizer(func(o *auth.Options) { o.Grant = auth.ClientCredentials{} }), "tools/list")
	var got object
	if err := json.Unmarshal([]byte(b.only(asHost, "/register").body), &got); err != nil {
		t.Fatal(err)
	}
	if got["redirect_uris"] != nil || got["token_endpoint_auth_method"] != "client_secret_basic" ||
		got["application_type"] != "native" {
		t.Errorf("want a confidential client without redirect URIs, got %v", got)
	}
	if user, _, _ := (&http.Request{Header: b.only(asHost, "/token").header}).BasicAuth(); user == "" {
		t.Error("want basic authentication with the registered credentials, got none")
	}
}

func TestOutageDoesNotConsumeTheBudgetOfClientCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.as.clients["machine"] = object{"client_secret": "machine-secret"}
		b.as.raw = func(rw http.ResponseWriter) bool {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		a := b.authorizer(machine)
		for range 30 {
			if e := b.fails(a, "tools/list"); e.Permanent() || e.Status != http.StatusServiceUnavailable {
				t.Fatalf("want a temporary error with HTTP 503, got %v", e)
			}
			time.Sleep(time.Second)
		}
		b.as.set(func(s *authServer) { s.raw = nil })
		b.ok(a, "tools/list")
	})
}

func TestServerThatRefusesEveryTokenExhaustsTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.as.clients["machine"] = object{"client_secret": "machine-secret"}
		b.mcp.rejects = func(string) bool { return true }
		a := b.authorizer(machine)
		for range 30 {
			if e := b.fails(a, "tools/list"); !e.Permanent() {
				t.Fatalf("want a permanent error, got %v", e)
			}
			time.Sleep(time.Second)
		}
		if n := len(b.requests(asHost, "/token")); n != 8 {
			t.Errorf("want eight tokens in ten minutes, got %d", n)
		}
	})
}

func TestAcceptedTokenResetsClientCredentialsBudget(t *testing.T) {
	b := newBench(t)
	b.as.clients["machine"] = object{"client_secret": "machine-secret"}
	a := b.authorizer(machine)
	for range 30 {
		b.ok(a, "tools/list")
		b.as.revoke(true)
	}
}

func TestIdentityProviderMayBeInAPrivateNetwork(t *testing.T) {
	b, p := newEnterprise(t)
	b.hosts["10.0.0.7"] = p
	b.ok(b.authorizer(enterprise(func(g *auth.EnterpriseManaged) {
		g.TokenEndpoint = "https://10.0.0.7/token"
	})), "tools/list")
	b.as.set(func(s *authServer) {
		s.metadata = func(doc object) { doc["token_endpoint"] = "https://10.0.0.7/token" }
	})
	e := b.fails(b.authorizer(machine), "tools/list")
	if !e.Permanent() || !strings.Contains(e.Error(), "AllowPrivateAddresses") {
		t.Errorf("want the address from the MCP server refused, got %v", e)
	}
}

func TestTokenIsUsedUntilItExpiresAfterARefusedRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.as.lifetime = time.Hour
		b.as.clients["machine"] = object{"client_secret": "machine-secret"}
		a := b.authorizer(machine)
		b.ok(a, "tools/list")
		b.as.set(func(s *authServer) { s.token = refuseAll })
		time.Sleep(59*time.Minute + 30*time.Second)
		for range 3 {
			b.ok(a, "tools/list")
			time.Sleep(time.Second)
		}
		if n := len(b.requests(asHost, "/token")); n != 2 {
			t.Errorf("want one try to renew the token, got %d", n-1)
		}
		time.Sleep(time.Minute)
		if e := b.fails(a, "tools/list"); !e.Permanent() || e.Code != "invalid_grant" {
			t.Errorf("want the server's permanent refusal after the expiry, got %v", e)
		}
	})
}
