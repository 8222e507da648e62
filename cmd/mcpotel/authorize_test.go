package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// guarded is an MCP server that requires a token, together with the authorization server that issues it.
type guarded struct {
	*httptest.Server
	mu         sync.Mutex
	resource   string            // resource in the server's metadata
	challenges map[string]string // by authorization code; guarded by mu
	visits     int               // number of visits to the authorization page; guarded by mu
}

const accessToken = "s3cret-token"

func newGuarded(t *testing.T, behind http.Handler) *guarded {
	g := &guarded{challenges: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+accessToken {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.URL+`/.well-known/oauth-protected-resource/mcp"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(w, r)
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		answers(w, map[string]any{"resource": g.resource, "authorization_servers": []string{g.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answers(w, map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token",
			"registration_endpoint": g.URL + "/register", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, r *http.Request) {
		var request map[string]any
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Errorf("registration: %v", err)
		}
		request["client_id"] = "client-1"
		w.WriteHeader(http.StatusCreated)
		answers(w, request)
	})
	mux.HandleFunc("/authorize", g.authorize)
	mux.HandleFunc("POST /token", g.token)
	g.Server = httptest.NewServer(mux)
	g.resource = g.URL + "/mcp"
	t.Cleanup(g.Close)
	return g
}

func answers(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// authorize is the authorization page. It grants access immediately.
func (g *guarded) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	g.mu.Lock()
	g.visits++
	code := q.Get("state") + "-code"
	g.challenges[code] = q.Get("code_challenge")
	g.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (g *guarded) token(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	want := g.challenges[r.FormValue("code")]
	g.mu.Unlock()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if want == "" || base64.RawURLEncoding.EncodeToString(sum[:]) != want {
		w.WriteHeader(http.StatusBadRequest)
		answers(w, map[string]any{"error": "invalid_grant"})
		return
	}
	answers(w, map[string]any{"access_token": accessToken, "token_type": "Bearer", "expires_in": 3600})
}

// visitor is the standard error of a command. Like a person, it opens each page whose URL is printed.
type visitor struct {
	mu    sync.Mutex
	text  bytes.Buffer
	pages sync.WaitGroup
}

func (v *visitor) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		if page := strings.TrimSpace(line); strings.HasPrefix(page, "http") {
			v.pages.Go(func() {
				if response, err := http.Get(page); err == nil {
					response.Body.Close()
				}
			})
		}
	}
	return v.text.Write(p)
}

func TestAuthorizationIsObtainedOnceAndSaved(t *testing.T) {
	noCollector(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("AppData", home)
	address, _ := serves(t, "0")
	g := newGuarded(t, forwardsTo(t, address))
	for n := range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var out bytes.Buffer
		var person visitor
		args := []string{"call", "-v", "--url", g.URL + "/mcp", "--auth", "--no-browser", "divide", `{"a":6,"b":3}`}
		code := run(ctx, streams{strings.NewReader(""), &out, &person, false}, args)
		cancel()
		person.pages.Wait()
		if code != exitOK || out.String() != "{\"quotient\":2}\n" {
			t.Fatalf("run %d: got exit code %d and %q, want the quotient: %s", n+1, code, &out, &person.text)
		}
		if strings.Contains(person.text.String(), "s3cret") {
			t.Errorf("run %d: the output shows the token:\n%s", n+1, &person.text)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.visits != 1 {
		t.Errorf("visits of the person in two runs: got %d, want 1", g.visits)
	}
}

// A server gets tokens for a parent resource only with --auth-resource.
func TestParentResourceNeedsAFlag(t *testing.T) {
	noCollector(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("AppData", home)
	address, _ := serves(t, "0")
	g := newGuarded(t, forwardsTo(t, address))
	g.resource = g.URL
	for _, tc := range []struct {
		flags []string
		want  int
	}{
		{nil, exitConnection},
		{[]string{"--auth-resource", "https://elsewhere.example"}, exitConnection},
		{[]string{"--auth-resource", g.URL}, exitOK},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var out bytes.Buffer
		var person visitor
		args := append([]string{"call", "--url", g.URL + "/mcp", "--auth", "--no-browser"}, tc.flags...)
		code := run(ctx, streams{strings.NewReader(""), &out, &person, false}, append(args, "divide", `{"a":6,"b":3}`))
		cancel()
		person.pages.Wait()
		if code != tc.want {
			t.Errorf("flags %v: got exit code %d, want %d: %s", tc.flags, code, tc.want, &person.text)
		}
		if code != exitOK && !strings.Contains(person.text.String(), "--auth-resource") {
			t.Errorf("flags %v: got %s, want a hint to --auth-resource", tc.flags, &person.text)
		}
	}
}

func TestBrowserNeedsALocalDisplay(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
	if hasBrowser() {
		t.Error("over SSH: got a browser, want none")
	}
	t.Setenv("DISPLAY", ":0")
	t.Setenv("PATH", t.TempDir())
	if hasBrowser() {
		t.Error("with a display but without an opener: got a browser, want none")
	}
}
