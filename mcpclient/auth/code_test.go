package auth_test

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

func TestAuthorizedTokenServesLaterRequests(t *testing.T) {
	b := newBench(t)
	a := b.authorizer()
	for range 3 {
		b.ok(a, "tools/list")
	}
	if n := b.person.times(); n != 1 {
		t.Errorf("want the person asked once, got %d times", n)
	}
	authorize, token := b.only(asHost, "/authorize").form, b.only(asHost, "/token").form
	for name, form := range map[string]url.Values{"authorization": authorize, "token": token} {
		if got := form.Get("resource"); got != mcpURL {
			t.Errorf("%s request: want resource %q, got %q", name, mcpURL, got)
		}
	}
	if authorize.Get("code_challenge_method") != "S256" || authorize.Get("state") == "" ||
		token.Get("code_verifier") == "" {
		t.Errorf("want PKCE with S256 and a state, got %v and %v", authorize, token)
	}
	for _, r := range b.requests(mcpHost, "/mcp") {
		if len(r.form) > 0 {
			t.Errorf("the request has %v in its URL, want the token only in the header", r.form)
		}
	}
	if r := b.person.asked[0]; r.Resource != mcpURL || r.Issuer != b.as.issuer || r.RedirectURI != redirect {
		t.Errorf("want the prompt to name the server, got %v", r)
	}
}

func TestMetadataIsFoundAtAllSpecifiedLocations(t *testing.T) {
	for name, arrange := range map[string]func(*bench){
		"metadata-default": func(b *bench) {},
		"metadata-var1": func(b *bench) {
			b.mcp.noHint = true
			b.as.metadataPath = "/.well-known/openid-configuration"
		},
		"metadata-var2": func(b *bench) {
			b.mcp.noHint, b.mcp.metadataPath, b.mcp.resource = true, "/.well-known/oauth-protected-resource", "http://"+mcpHost
			b.as.issuer, b.as.prefix, b.as.metadataPath = "http://"+asHost+"/tenant1", "/tenant1",
				"/.well-known/oauth-authorization-server/tenant1"
		},
		"metadata-var3": func(b *bench) {
			b.mcp.metadataPath = "/custom/metadata/location.json"
			b.as.issuer, b.as.prefix, b.as.metadataPath = "http://"+asHost+"/tenant1", "/tenant1",
				"/tenant1/.well-known/openid-configuration"
		},
		"openid-configuration with the path inserted": func(b *bench) {
			b.as.issuer, b.as.prefix, b.as.metadataPath = "http://"+asHost+"/tenant1", "/tenant1",
				"/.well-known/openid-configuration/tenant1"
		},
		"2025-03-26-oauth-metadata-backcompat": func(b *bench) {
			b.mcp.metadataPath = ""
			b.as.host, b.as.issuer, b.as.prefix = mcpHost, "http://"+mcpHost, "/oauth"
			b.as.metadata = func(doc object) { doc["code_challenge_methods_supported"] = nil }
		},
		"2025-03-26-oauth-endpoint-fallback": func(b *bench) {
			b.mcp.metadataPath = ""
			b.as.host, b.as.issuer, b.as.metadataPath = mcpHost, "http://"+mcpHost, ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			arrange(b)
			b.ok(b.authorizer(func(o *auth.Options) { o.Resource = b.mcp.resource }), "tools/list")
			host := strings.TrimPrefix(b.person.asked[0].Issuer, "http://")
			host, _, _ = strings.Cut(host, "/")
			for _, path := range []string{"/authorize", "/token"} {
				if got := b.only(host, b.as.prefix+path).form.Get("resource"); got != b.mcp.resource {
					t.Errorf("%s: want the published resource %q, got %q", path, b.mcp.resource, got)
				}
			}
		})
	}
}

func TestResourceMetadataHintIsRequestedBeforeTheRoot(t *testing.T) {
	b := newBench(t)
	b.ok(b.authorizer(), "tools/list")
	if n := len(b.requests(mcpHost, "/.well-known/oauth-protected-resource")); n != 0 {
		t.Errorf("want no request for metadata at the root, got %d", n)
	}
}

func TestUntrustedResponsesAreRejected(t *testing.T) {
	iss := func(v string) func(url.Values) {
		return func(q url.Values) { q.Set("iss", v) }
	}
	advertised := func(doc object) { doc["authorization_response_iss_parameter_supported"] = true }
	evil := func(q url.Values) {
		q.Del("code")
		q.Set("iss", "https://evil.example.com")
		q.Set("error", "access_denied")
		q.Set("error_description", "call 0900-EVIL")
	}
	for _, c := range []struct {
		name    string
		arrange func(*bench)
		step    auth.Step
		want    string // part of the error
		asks    bool   // the person is prompted before the error
	}{
		{"resource-mismatch", func(b *bench) {
			b.mcp.resource = "https://evil.example.com/mcp"
		}, auth.StepDiscoverResource, "resource", false},
		{"no authorization server", func(b *bench) {
			b.mcp.document = func(doc object) { doc["authorization_servers"] = []string{} }
		}, auth.StepDiscoverResource, "names no authorization server", false},
		{"metadata-issuer-mismatch", func(b *bench) {
			b.as.metadata = func(doc object) { doc["issuer"] = "https://attacker.example.com" }
		}, auth.StepDiscoverServer, "issuer", false},
		{"iss-supported-missing", func(b *bench) { b.as.metadata = advertised }, auth.StepAuthorize,
			"does not name its", true},
		{"iss-wrong-issuer", func(b *bench) {
			b.as.metadata, b.as.redirects = advertised, iss("https://evil.example.com")
		}, auth.StepAuthorize, "an authorization server other than", true},
		{"iss-unexpected", func(b *bench) {
			b.as.redirects = iss("https://evil.example.com")
		}, auth.StepAuthorize, "an authorization server other than", true},
		{"iss-normalized", func(b *bench) {
			b.as.metadata, b.as.redirects = advertised, iss(b.as.issuer+"/")
		}, auth.StepAuthorize, "an authorization server other than", true},
		{"empty iss", func(b *bench) { b.as.redirects = iss("") }, auth.StepAuthorize,
			"an authorization server other than", true},
		{"error of another issuer", func(b *bench) {
			b.as.redirects = evil
		}, auth.StepAuthorize, "an authorization server other than", true},
		{"state", func(b *bench) {
			b.as.redirects = func(q url.Values) { q.Set("state", "guessed") }
		}, auth.StepAuthorize, "state", true},
		{"no state", func(b *bench) {
			b.as.redirects = func(q url.Values) { q.Del("state") }
		}, auth.StepAuthorize, "state", true},
		{"no code", func(b *bench) {
			b.as.redirects = func(q url.Values) { q.Del("code") }
		}, auth.StepAuthorize, "has no code", true},
		{"no PKCE", func(b *bench) {
			b.as.metadata = func(doc object) { doc["code_challenge_methods_supported"] = nil }
		}, auth.StepDiscoverServer, "PKCE", false},
		{"PKCE plain", func(b *bench) {
			b.as.metadata = func(doc object) { doc["code_challenge_methods_supported"] = []string{"plain"} }
		}, auth.StepDiscoverServer, "PKCE", false},
		{"no authorization endpoint", func(b *bench) {
			b.as.metadata = func(doc object) { doc["authorization_endpoint"] = nil }
		}, auth.StepDiscoverServer, "no authorization endpoint", false},
		{"token of an unknown type", func(b *bench) {
			b.as.response = func(out object) { out["token_type"] = "mac" }
		}, auth.StepToken, "not a bearer token", true},
		{"token that splits headers", func(b *bench) {
			b.as.response = func(out object) { out["access_token"] = "a\r\nX-Evil: 1" }
		}, auth.StepToken, "a header cannot contain", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.arrange(b)
			e := b.fails(b.authorizer(), "tools/list")
			if !e.Permanent() || e.Step != c.step || !strings.Contains(e.Error(), c.want) {
				t.Errorf("want a permanent error of step %s with %q, got %v (permanent %t)", c.step, c.want, e, e.Permanent())
			}
			if strings.Contains(e.Error(), "EVIL") {
				t.Errorf("want no text of the impostor, got %v", e)
			}
			if got := b.person.times() == 1; got != c.asks {
				t.Errorf("want the person asked: %t, got %t", c.asks, got)
			}
			if n := len(b.requests(asHost, "/token")); c.step != auth.StepToken && n != 0 {
				t.Errorf("want no code sent to a token endpoint, got %d requests", n)
			}
		})
	}
}

func TestMatchingIssuerIsAccepted(t *testing.T) {
	for name, arrange := range map[string]func(*bench){
		"iss-supported": func(b *bench) {
			b.as.metadata = func(doc object) { doc["authorization_response_iss_parameter_supported"] = true }
			b.as.redirects = func(q url.Values) { q.Set("iss", b.as.issuer) }
		},
		"iss-not-advertised": func(*bench) {},
		"sent but not advertised": func(b *bench) {
			b.as.redirects = func(q url.Values) { q.Set("iss", b.as.issuer) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			arrange(b)
			b.ok(b.authorizer(), "tools/list")
		})
	}
}

func TestErrorInTheRedirectIsReturned(t *testing.T) {
	b := newBench(t)
	b.as.redirects = func(q url.Values) {
		q.Del("code")
		q.Set("error", "access_denied")
		q.Set("error_description", "the user said no")
	}
	e := b.fails(b.authorizer(), "tools/list")
	if e.Code != "access_denied" || e.ErrorType() != "access_denied" || e.Description != "the user said no" ||
		!e.Permanent() {
		t.Errorf("want the permanent access_denied with the server's description, got %v", e)
	}
}

func TestMissingInteractionReturnsErrNoInteraction(t *testing.T) {
	b := newBench(t)
	e := b.fails(b.authorizer(func(o *auth.Options) { o.Interact = nil }), "tools/list")
	if !errors.Is(e, auth.ErrNoInteraction) || !e.Permanent() {
		t.Errorf("want a permanent ErrNoInteraction, got %v", e)
	}
	if n := len(b.requests(asHost, "/register")); n != 0 {
		t.Errorf("want no registration, got %d", n)
	}
}

func TestNetworkErrorsAreTemporary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.setDown(asHost, true)
		a := b.authorizer()
		for range 10 {
			if e := b.fails(a, "tools/list"); e.Permanent() || e.Step != auth.StepDiscoverServer {
				t.Errorf("want a temporary error, got %v", e)
			}
		}
		if n := len(b.requests(asHost, "/.well-known/oauth-authorization-server")); n != 1 {
			t.Errorf("want the server asked once within half a second, got %d times", n)
		}
		b.setDown(asHost, false)
		time.Sleep(time.Second)
		b.ok(a, "tools/list")
	})
}

func TestUnreachableServersAreTemporaryErrors(t *testing.T) {
	for path, step := range map[string]auth.Step{
		mcpHost + "/.well-known/oauth-protected-resource/mcp": auth.StepDiscoverResource,
		asHost + "/.well-known/oauth-authorization-server":    auth.StepDiscoverServer,
		asHost + "/register":  auth.StepRegister,
		asHost + "/authorize": auth.StepAuthorize,
		asHost + "/token":     auth.StepToken,
	} {
		b := newBench(t)
		b.setDown(path, true)
		if e := b.fails(b.authorizer(), "tools/list"); e.Permanent() || e.Step != step ||
			!strings.Contains(e.Error(), "connection refused") {
			t.Errorf("%s: want a temporary error of step %s, got %v", path, step, e)
		}
	}
}

func TestBusyTokenEndpointIsATemporaryError(t *testing.T) {
	b := newBench(t)
	b.as.raw = func(rw http.ResponseWriter) bool {
		rw.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	a := b.authorizer()
	if e := b.fails(a, "tools/list"); e.Permanent() || e.Status != http.StatusServiceUnavailable {
		t.Errorf("want a temporary error with HTTP 503, got %v", e)
	}
}

func TestInvalidTokenResponseIsAnErrorWithoutItsText(t *testing.T) {
	for name, body := range map[string]string{
		"html":       "<html>secret</html>",
		"no token":   `{"token_type":"Bearer","refresh_token":"secret"}`,
		"wrong type": `{"access_token":{"a":"secret"},"token_type":"Bearer"}`,
		"cut":        `{"access_token":"secret`,
		"empty":      ``,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.as.raw = func(rw http.ResponseWriter) bool {
				_, _ = rw.Write([]byte(body))
				return true
			}
			e := b.fails(b.authorizer(), "tools/list")
			if !e.Permanent() || e.Step != auth.StepToken || strings.Contains(e.Error(), "secret") {
				t.Errorf("want a permanent error of the token step without text of the response, got %v", e)
			}
		})
	}
}

func TestTokenResponsesOfAllFormatsAreAccepted(t *testing.T) {
	for name, c := range map[string]struct{ contentType, body string }{
		"form":               {"application/x-www-form-urlencoded", "access_token=T&token_type=bearer&scope=a"},
		"JSON as text/plain": {"text/plain", `{"access_token":"T","token_type":"bearer"}`},
		"expiry as a string": {"application/json", `{"access_token":"T","token_type":"Bearer","expires_in":"3600"}`},
		"expiry as 3600.0":   {"application/json", `{"access_token":"T","token_type":"Bearer","expires_in":3600.0}`},
		"expiry as 3.6e3":    {"application/json", `{"access_token":"T","token_type":"Bearer","expires_in":3.6e3}`},
		"expiry as 1e400":    {"application/json", `{"access_token":"T","token_type":"Bearer","expires_in":1e400}`},
		"expiry unreadable":  {"application/json", `{"access_token":"T","token_type":"Bearer","expires_in":["soon"]}`},
		"no type":            {"application/json", `{"access_token":"T"}`},
		"unknown members":    {"application/json", `{"access_token":"T","token_type":"BEARER","id_token":"I","x":[1,{}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.as.raw = func(rw http.ResponseWriter) bool {
				rw.Header().Set("Content-Type", c.contentType)
				_, _ = rw.Write([]byte(c.body))
				b.as.access["T"] = &issued{resource: mcpURL}
				return true
			}
			b.ok(b.authorizer(), "tools/list")
		})
	}
}

func TestRequestToAnotherServerGetsNoToken(t *testing.T) {
	b := newBench(t)
	a := b.authorizer()
	b.ok(a, "tools/list")
	for _, target := range []string{"http://" + as2Host + "/mcp", "https://" + mcpHost + "/mcp", "http://127.0.0.1/mcp"} {
		req, err := http.NewRequest(http.MethodPost, target, nil)
		if err != nil {
			t.Fatal(err)
		}
		e, ok := errors.AsType[*auth.Error](a.Authorize(req))
		if !ok || !e.Permanent() || req.Header.Get("Authorization") != "" {
			t.Errorf("%s: want a permanent error and no token, got %v", target, e)
		}
		if again, err := a.Review(&http.Response{StatusCode: 200, Request: req, Header: http.Header{}}, 1); again ||
			err != nil {
			t.Errorf("%s: want no error for a response that is not a refusal, got %v", target, err)
		}
		if _, err := a.Review(&http.Response{StatusCode: 401, Request: req, Header: http.Header{}}, 1); err == nil {
			t.Errorf("%s: want no authorization, got one", target)
		}
	}
	other, err := http.NewRequest(http.MethodPost, "http://"+mcpHost+"/messages?session=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Authorize(other); err != nil || !strings.HasPrefix(other.Header.Get("Authorization"), "Bearer ") {
		t.Errorf("want the token also at another path of the server, as for HTTP+SSE, got %v, %v", err, other.Header)
	}
}

func TestScopeParameterFollowsTheSpecification(t *testing.T) {
	supports := func(scopes ...string) func(object) {
		return func(doc object) { doc["scopes_supported"] = scopes }
	}
	for _, c := range []struct {
		name    string
		arrange func(*bench)
		options func(*auth.Options)
		want    string
	}{
		{"scope-from-www-authenticate", func(b *bench) {
			b.mcp.scope, b.mcp.document = "mcp:basic", supports("mcp:basic", "mcp:read")
		}, nil, "mcp:basic"},
		{"challenged scope that is not among the supported", func(b *bench) {
			b.mcp.scope, b.mcp.document = "mcp:basic mcp:more", supports("mcp:basic", "mcp:read")
		}, nil, "mcp:basic mcp:more"},
		{"scope-from-scopes-supported", func(b *bench) {
			b.mcp.document = supports("mcp:basic", "mcp:read")
		}, nil, "mcp:basic mcp:read"},
		{"scope-omitted-when-undefined", func(*bench) {}, nil, ""},
		{"offline-access-scope", func(b *bench) {
			b.mcp.document, b.as.metadata = supports("mcp:basic"), supports("mcp:basic", "offline_access")
		}, nil, "mcp:basic offline_access"},
		{"offline-access-not-supported", func(b *bench) {
			b.mcp.document, b.as.metadata = supports("mcp:basic", "offline_access"), supports("mcp:basic")
		}, nil, "mcp:basic"},
		{"offline_access is not requested alone", func(b *bench) { b.as.metadata = supports("offline_access") }, nil, ""},
		{"offline_access disabled", func(b *bench) {
			b.mcp.document, b.as.metadata = supports("mcp:basic"), supports("mcp:basic", "offline_access")
		}, func(o *auth.Options) { o.NoOfflineAccess = true }, "mcp:basic"},
		{"configured", func(b *bench) {
			b.mcp.document = supports("mcp:basic")
		}, func(o *auth.Options) { o.Scopes = []string{"mine"} }, "mine"},
		{"configured and challenged", func(b *bench) {
			b.mcp.scope = "theirs"
		}, func(o *auth.Options) { o.Scopes = []string{"mine"} }, "mine theirs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.arrange(b)
			b.ok(b.authorizer(func(o *auth.Options) {
				if c.options != nil {
					c.options(o)
				}
			}), "tools/list")
			form := b.only(asHost, "/authorize").form
			if got := form.Get("scope"); got != c.want || form.Has("scope") != (c.want != "") {
				t.Errorf("want scope %q, got %q", c.want, got)
			}
			if wants := strings.Contains(c.want, "offline_access"); wants != (form.Get("prompt") == "consent") {
				t.Errorf("want prompt=consent with offline_access and only then, got %q", form.Get("prompt"))
			}
			if slices.Contains(b.only(asHost, "/token").form["scope"], c.want) && c.want != "" {
				t.Error("want no scope in the request that redeems a code")
			}
		})
	}
}
