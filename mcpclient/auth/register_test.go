package auth_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

const document = "https://client.example/metadata.json"

func TestClientIsChosenInTheOrderOfTheSpecification(t *testing.T) {
	supportsDocuments := func(b *bench) {
		b.as.noDescription = true
		b.as.metadata = func(doc object) { doc["client_id_metadata_document_supported"] = true }
	}
	known := func(b *bench) { b.as.clients["pre"] = object{"client_secret": "pre-secret"} }
	withDocument := func(o *auth.Options) { o.ClientMetadataURL = document }
	pre := func(o *auth.Options) {
		o.Credentials = &auth.Credentials{ClientID: "pre", ClientSecret: "pre-secret", Issuer: "http://" + asHost}
	}
	for _, c := range []struct {
		name    string
		arrange func(*bench)
		options func(*auth.Options)
		want    string // client id; empty: a registered client
	}{
		{"dynamic", func(*bench) {}, func(*auth.Options) {}, ""},
		{"basic-cimd", supportsDocuments, withDocument, document},
		{"document not supported", func(*bench) {}, withDocument, ""},
		{"supported without a document", supportsDocuments, func(*auth.Options) {}, ""},
		{"pre-registration", known, pre, "pre"},
		{"pre-registered before document", func(b *bench) {
			known(b)
			supportsDocuments(b)
		}, func(o *auth.Options) { pre(o); withDocument(o) }, "pre"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.arrange(b)
			b.ok(b.authorizer(c.options), "tools/list")
			got := b.only(asHost, "/authorize").form.Get("client_id")
			if registered := len(b.requests(asHost, "/register")) == 1; registered != (c.want == "") ||
				c.want != "" && got != c.want {
				t.Errorf("want client %q (empty: registered), got %q, registered %t", c.want, got, registered)
			}
		})
	}
}

func TestMissingRegistrationEndpointIsAPermanentError(t *testing.T) {
	for name, options := range map[string]func(*auth.Options){
		"no endpoint": func(*auth.Options) {},
		"disabled":    func(o *auth.Options) { o.Registration.Disabled = true },
	} {
		b := newBench(t)
		if name == "no endpoint" {
			b.as.metadata = func(doc object) {
				doc["registration_endpoint"] = nil
				doc["client_id_metadata_document_supported"] = true
			}
		}
		e := b.fails(b.authorizer(options), "tools/list")
		if e.Step != auth.StepRegister || !e.Permanent() || !strings.Contains(e.Error(), "Options.Credentials") {
			t.Errorf("%s: want a permanent error that names the option, got %v", name, e)
		}
		if b.person.times() != 0 {
			t.Errorf("%s: want no prompt", name)
		}
	}
}

func TestRegistrationDescribesTheClient(t *testing.T) {
	for _, c := range []struct {
		name, uri string
		options   func(*auth.Options)
		methods   []string // nil: not in the metadata
		want      object
	}{
		{
			"native", "http://127.0.0.1:5000/callback", nil, []string{"client_secret_basic", "none"},
			object{"application_type": "native", "token_endpoint_auth_method": "none", "client_name": "mcpotel"},
		},
		{"localhost", "http://localhost:5000/callback", nil, nil, object{"application_type": "native"}},
		{"scheme of its own", "com.example.app:/callback", nil, nil, object{"application_type": "native"}},
		{
			"web", "https://app.example/callback", nil, []string{"none", "client_secret_post", "client_secret_basic"},
			object{"application_type": "web", "token_endpoint_auth_method": "client_secret_basic"},
		},
		{
			"set by the user", "https://app.example/callback", func(o *auth.Options) {
				o.Registration = auth.Registration{ApplicationType: "native", ClientName: "mine", ClientURI: "https://app.example",
					SoftwareID: "s", SoftwareVersion: "1"}
			}, []string{"none"},
			object{"application_type": "native", "client_name": "mine", "client_uri": "https://app.example", "software_id": "s",
				"software_version": "1"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.mcp.scope = "a b"
			b.person.uri = c.uri
			b.as.metadata = func(doc object) {
				doc["token_endpoint_auth_methods_supported"] = nil
				if c.methods != nil {
					doc["token_endpoint_auth_methods_supported"] = c.methods
				}
			}
			b.ok(b.authorizer(func(o *auth.Options) {
				if c.options != nil {
					c.options(o)
				}
			}), "tools/list")
			var got object
			if err := json.Unmarshal([]byte(b.only(asHost, "/register").body), &got); err != nil {
				t.Fatal(err)
			}
			c.want["scope"] = "a b"
			for k, v := range c.want {
				if got[k] != v {
					t.Errorf("want %s %v, got %v", k, v, got[k])
				}
			}
			if c.methods == nil && got["token_endpoint_auth_method"] != nil {
				t.Errorf("want no authentication method in the request, got %v", got["token_endpoint_auth_method"])
			}
			if g, _ := got["grant_types"].([]any); !slices.Contains(g, any("refresh_token")) ||
				!slices.Contains(g, any("authorization_code")) {
				t.Errorf("want both grant types, got %v", g)
			}
			if u, _ := got["redirect_uris"].([]any); len(u) != 1 || u[0] != c.uri {
				t.Errorf("want redirect URI %q, got %v", c.uri, u)
			}
		})
	}
}

func TestRefusedRegistrationReturnsTheServersError(t *testing.T) {
	b := newBench(t)
	b.as.registration = func(_, out object) {
		out["error"], out["error_description"] = "invalid_redirect_uri", "web clients need https"
	}
	e := b.fails(b.authorizer(), "tools/list")
	if e.Code != "invalid_redirect_uri" || e.Description != "web clients need https" ||
		e.Status != http.StatusBadRequest || !e.Permanent() {
		t.Errorf("want the server's code and description, got %v", e)
	}
}

func TestRegistrationResponseWithoutClientIsAnError(t *testing.T) {
	b := newBench(t)
	b.as.registration = func(_, out object) { out["client_id"] = nil }
	if e := b.fails(b.authorizer(), "tools/list"); !e.Permanent() || e.Step != auth.StepRegister {
		t.Errorf("want a permanent error of the registration, got %v", e)
	}
}

func TestUnsupportedClientAuthenticationIsRejected(t *testing.T) {
	for name, c := range map[string]auth.Credentials{
		"has no secret": {ClientID: "pre"},
		"has no key": {ClientID: "pre", ClientSecret: "s", Issuer: "http://" + asHost,
			TokenAuthMethod: "private_key_jwt"},
		"unknown method": {ClientID: "pre", ClientSecret: "s", Issuer: "http://" + asHost,
			TokenAuthMethod: "tls_client_auth"},
	} {
		b := newBench(t)
		b.as.metadata = func(doc object) { doc["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"} }
		e := b.fails(b.authorizer(func(o *auth.Options) { o.Credentials = &c }), "tools/list")
		if !e.Permanent() || e.Step != auth.StepRegister || b.person.times() != 0 {
			t.Errorf("%s: want a permanent error before any prompt, got %v", name, e)
		}
	}
}

func TestTokenEndpointDeterminesClientAuthentication(t *testing.T) {
	for _, c := range []struct {
		name       string
		supported  any // nil: not in the metadata
		registered string
		want       string
	}{
		{"token-endpoint-auth-basic", []string{"client_secret_basic"}, "client_secret_basic", "basic"},
		{"token-endpoint-auth-post", []string{"client_secret_post"}, "client_secret_post", "post"},
		{"token-endpoint-auth-none", []string{"none"}, "none", "none"},
		{"basic before post", []string{"client_secret_post", "client_secret_basic"}, "", "basic"},
		{"post only", []string{"client_secret_post", "private_key_jwt"}, "", "post"},
		{"a secret for a server with method none", []string{"none"}, "", "none"},
		{"no methods in the metadata", nil, "", "basic"},
		{"registration decides", []string{"client_secret_basic", "client_secret_post"}, "client_secret_post", "post"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.as.noDescription = true
			b.as.metadata = func(doc object) { doc["token_endpoint_auth_methods_supported"] = c.supported }
			b.as.registration = func(_, out object) {
				delete(out, "token_endpoint_auth_method")
				out["client_id"], out["client_secret"] = "id with space", "s%c:r+t/"
				if c.registered != "" {
					out["token_endpoint_auth_method"] = c.registered
				}
				if c.want == "none" {
					out["token_endpoint_auth_method"] = "none"
				}
			}
			b.ok(b.authorizer(), "tools/list")
			r := b.only(asHost, "/token")
			got := "none"
			switch {
			case r.header.Get("Authorization") != "":
				got = "basic"
			case r.form.Get("client_secret") != "":
				got = "post"
			}
			if got != c.want {
				t.Errorf("want %s, got %s", c.want, got)
			}
			if got != "basic" && r.form.Get("client_id") != "id with space" {
				t.Errorf("want the client id in the body, got %q", r.form.Get("client_id"))
			}
		})
	}
}

func TestCredentialsAreNotSentToAnotherAuthorizationServer(t *testing.T) {
	for name, options := range map[string]func(*auth.Options){
		"bound by the user": func(o *auth.Options) {
			o.Credentials = &auth.Credentials{ClientID: "pre", ClientSecret: "pre-secret", Issuer: "http://" + asHost}
		},
		"bound by the first use": func(o *auth.Options) {
			o.Credentials = &auth.Credentials{ClientID: "public"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.as.clients["pre"], b.as.clients["public"] = object{"client_secret": "pre-secret"}, object{}
			a := b.authorizer(options)
			b.ok(a, "tools/list")
			second := newAuthServer(b.world, as2Host)
			b.mcp.set(func(s *mcpServer) { s.as = second })
			e := b.fails(a, "tools/list")
			if !e.Permanent() || !strings.Contains(e.Error(), "registered with") {
				t.Errorf("want a permanent error with the client's issuer, got %v", e)
			}
			for _, path := range []string{"/authorize", "/token", "/register"} {
				if n := len(b.requests(as2Host, path)); n != 0 {
					t.Errorf("want nothing sent to the other server, got %d requests to %s", n, path)
				}
			}
		})
	}
}

func TestNewAuthorizationServerGetsNoCredentialsOfOldOne(t *testing.T) {
	b := newBench(t)
	b.as.refreshTokens = true
	a := b.authorizer()
	b.ok(a, "tools/list")
	second := newAuthServer(b.world, as2Host)
	b.mcp.set(func(s *mcpServer) { s.as = second })
	b.ok(a, "tools/list")
	if n := len(b.requests(as2Host, "/register")); n != 1 {
		t.Errorf("want one registration at the new server, got %d", n)
	}
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	for _, s := range b.seen {
		if s.host == as2Host && (strings.Contains(s.body, "-2000-") || strings.Contains(s.form.Encode(), "-2000-") ||
			strings.Contains(s.header.Get("Authorization"), "-2000-")) {
			t.Errorf("want nothing of the old server sent to the new one, got %s %s with %s", s.method, s.path, s.body)
		}
	}
}

func TestRegistrationIsReusedOnlyForTheSameRedirectURI(t *testing.T) {
	b := newBench(t)
	store := auth.NewMemoryStore()
	shared := func(o *auth.Options) { o.Store = store }
	b.ok(b.authorizer(shared), "tools/list")
	b.as.revoke(true)
	b.ok(b.authorizer(shared), "tools/list")
	if n := len(b.requests(asHost, "/register")); n != 1 {
		t.Errorf("same redirect URI: want one registration, got %d", n)
	}
	b.as.revoke(true)
	b.person.uri = "http://127.0.0.1:5001/callback"
	b.ok(b.authorizer(shared), "tools/list")
	if n := len(b.requests(asHost, "/register")); n != 2 {
		t.Errorf("another redirect URI: want another registration, got %d in all", n)
	}
}

func TestClientWithExpiredSecretIsRegisteredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.as.registration = func(_, out object) { out["client_secret_expires_at"] = time.Now().Add(time.Hour).Unix() }
		store := auth.NewMemoryStore()
		options := func(o *auth.Options) { o.Store = store }
		b.ok(b.authorizer(options), "tools/list")
		b.as.revoke(true)
		time.Sleep(2 * time.Hour)
		b.ok(b.authorizer(options), "tools/list")
		if n := len(b.requests(asHost, "/register")); n != 2 {
			t.Errorf("want a second registration, got %d in all", n)
		}
	})
}

func TestClientUnknownToTheServerIsRegisteredAgain(t *testing.T) {
	b := newBench(t)
	b.as.refreshTokens = true
	a := b.authorizer()
	b.ok(a, "tools/list")
	b.as.revoke(false)
	b.as.set(func(s *authServer) { clear(s.clients) })
	b.ok(a, "tools/list")
	if n := len(b.requests(asHost, "/register")); n != 2 {
		t.Errorf("want a second registration, got %d in all", n)
	}
	if n := b.person.times(); n != 2 {
		t.Errorf("want the person asked again, got %d times in all", n)
	}
}

func TestConfiguredCredentialsWorkWithoutResourceMetadata(t *testing.T) {
	b := newBench(t)
	b.mcp.metadataPath = ""
	b.as.clients["pre"] = object{"client_secret": "pre-secret"}
	b.ok(b.authorizer(func(o *auth.Options) {
		o.Credentials = &auth.Credentials{ClientID: "pre", ClientSecret: "pre-secret", Issuer: b.as.issuer}
	}), "tools/list")
	if n := len(b.requests(mcpHost, "/.well-known/oauth-authorization-server")); n != 0 {
		t.Errorf("want the configured issuer asked and not the MCP server, got %d requests", n)
	}
}

func TestRecordOfAnotherAuthorizationServerIsNotUsed(t *testing.T) {
	b := newBench(t)
	store := auth.NewMemoryStore()
	err := store.Save(t.Context(), auth.StoreKey{Resource: mcpURL, Issuer: b.as.issuer, Client: "dynamic:mcpotel"},
		&auth.Record{
			Credentials: &auth.Credentials{Issuer: "https://other.example", ClientID: "of-the-other",
				RedirectURIs: []string{redirect}},
			Token: &auth.Token{AccessToken: "of-the-other-too", TokenType: "Bearer"},
		})
	if err != nil {
		t.Fatal(err)
	}
	b.ok(b.authorizer(func(o *auth.Options) { o.Store = store }), "tools/list")
	for _, r := range b.seen {
		if strings.Contains(fmt.Sprint(r), "of-the-other") {
			t.Errorf("want nothing of the other server used, got %v", r)
		}
	}
}

func TestDeclinedAuthorizationKeepsTheRecord(t *testing.T) {
	b := newBench(t)
	store := auth.NewMemoryStore()
	shared := func(o *auth.Options) { o.Store = store }
	b.person.declines = errors.New("not now")
	e := b.fails(b.authorizer(shared), "tools/list")
	if e.Permanent() || e.Step != auth.StepAuthorize || !errors.Is(e, b.person.declines) {
		t.Errorf("want the temporary error of the Interaction, got %v", e)
	}
	b.person.declines = nil
	b.mcp.scope, b.mcp.needs = "mcp:basic", map[string][]string{"tools/call": {"mcp:write"}}
	a := b.authorizer(shared)
	b.ok(a, "tools/list")
	if n := len(b.requests(asHost, "/register")); n != 1 {
		t.Errorf("want the registration of the declined authorization used, got %d", n)
	}
	b.person.declines, b.person.uri = errors.New("not that"), "http://127.0.0.1:5002/callback"
	b.fails(a, "tools/call")
	b.ok(a, "tools/list")
	b.ok(b.authorizer(shared), "tools/list")
	if n := len(b.requests(asHost, "/token")); n != 1 {
		t.Errorf("want the old token to stay in use after the declined step-up, got %d token requests", n)
	}
}
