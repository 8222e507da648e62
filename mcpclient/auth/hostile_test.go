package auth_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

type roundTripper func(*http.Request) *http.Response

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// consentingPerson is a person who authorizes every request.
type consentingPerson struct{}

func (consentingPerson) RedirectURI(context.Context) (string, error) {
	return "http://127.0.0.1:5000/callback", nil
}

func (consentingPerson) Authorize(_ context.Context, r auth.InteractionRequest) (auth.Redirect, error) {
	return auth.Redirect{Code: "c", State: r.State}, nil
}

// refusedBy returns a 401 with this challenge as the server's response to a request of the authorizer.
func refusedBy(req *http.Request, challenge string) *http.Response {
	return &http.Response{StatusCode: http.StatusUnauthorized, Request: req,
		Header: http.Header{"Www-Authenticate": {challenge}}}
}

// An attacker between the client and a server over plain http can forge a 401 and read the token that follows.
func TestTokenIsNotSentOverPlainHTTP(t *testing.T) {
	documents := map[string]string{
		"/prm": `{"resource":"http://mcp.example.com/mcp","authorization_servers":["https://as.example.com"]}`,
		"/.well-known/oauth-authorization-server": `{"issuer":"https://as.example.com",` +
			`"authorization_endpoint":"https://as.example.com/a",` +
			`"token_endpoint":"https://as.example.com/t","registration_endpoint":"https://as.example.com/r",` +
			`"code_challenge_methods_supported":["S256"]}`,
		"/r": `{"client_id":"x"}`,
		"/t": `{"access_token":"tok","token_type":"Bearer"}`,
	}
	client := &http.Client{Transport: roundTripper(func(r *http.Request) *http.Response {
		rec := httptest.NewRecorder()
		rec.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/r" {
			rec.WriteHeader(http.StatusCreated)
		}
		_, _ = io.WriteString(rec, documents[r.URL.Path])
		return rec.Result()
	})}
	a, err := auth.New(&auth.Options{Interact: consentingPerson{}, HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	request := func() *http.Request {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://mcp.example.com/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Authorize(req)
		return req
	}
	again, err := a.Review(refusedBy(request(), `Bearer resource_metadata="https://evil.example/prm"`), 1)
	if again || err == nil {
		t.Errorf("got %v, %v, want a refusal", again, err)
	}
	if got := request().Header.Get("Authorization"); got != "" {
		t.Errorf("the next request carries %q, want nothing", got)
	}
}

type fullStore struct{ auth.TokenStore }

func (fullStore) Save(context.Context, auth.StoreKey, *auth.Record) error {
	return errors.New("disk full")
}

func TestServerURLQueryIsNotInErrorsOrLogs(t *testing.T) {
	for _, path := range []string{"/mcp", "/other"} {
		b := newBench(t)
		var logs bytes.Buffer
		server := b.hosts[mcpHost]
		b.hosts[mcpHost] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
				server.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"resource":"http://%s%s?key=SECRET","authorization_servers":["http://%s"]}`, mcpHost, path, asHost)
		})
		a := b.authorizer(func(o *auth.Options) {
			o.Store, o.Logger = fullStore{auth.NewMemoryStore()}, slog.New(slog.NewTextHandler(&logs, nil))
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, mcpURL+"?key=SECRET",
			strings.NewReader("tools/list"))
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Authorize(req)
		_, err = a.Review(refusedBy(req, "Bearer"), 1)
		if told := fmt.Sprint(err, logs.String()); strings.Contains(told, "SECRET") {
			t.Errorf("resource at %s: got %s, want no query", path, told)
		}
	}
}

// overtakenStore runs another process after the first Load.
type overtakenStore struct {
	auth.TokenStore
	behind func()
}

func (s *overtakenStore) Load(ctx context.Context, k auth.StoreKey) (*auth.Record, error) {
	r, err := s.TokenStore.Load(ctx, k)
	if behind := s.behind; behind != nil {
		s.behind = nil
		behind()
	}
	return r, err
}

// Two processes find the same token expired. The first refreshes it. The server refuses the refresh token of the
// second, which then uses the token that the first has stored.
func TestTokenRefreshedByAnotherProcessIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		store := auth.NewMemoryStore()
		first := b.authorizer(func(o *auth.Options) { o.Store = store })
		b.ok(first, "tools/list")
		time.Sleep(2 * time.Hour)
		refreshedElsewhere := &overtakenStore{TokenStore: store, behind: func() { b.ok(first, "tools/list") }}
		second := b.authorizer(func(o *auth.Options) { o.Store = refreshedElsewhere })
		b.ok(second, "tools/list")
		if got := b.person.times(); got != 1 {
			t.Errorf("the person was asked %d times, want once", got)
		}
	})
}
