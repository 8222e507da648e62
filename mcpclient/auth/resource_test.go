package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

const evilURL = "http://" + mcpHost + "/evil"

// addHostileServer adds a hostile server to the bench, at another path of the honest server's origin. It refuses every
// request, and publishes resource as its identifier.
func addHostileServer(b *bench, resource string) {
	honest := b.hosts[mcpHost]
	b.hosts[mcpHost] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/evil":
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://`+mcpHost+`/evil/metadata"`)
			w.WriteHeader(http.StatusUnauthorized)
		case "/evil/metadata":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"resource":%q,"authorization_servers":["http://%s"]}`, resource, asHost)
		default:
			honest.ServeHTTP(w, r)
		}
	})
}

// callHostileServer sends a request to the hostile server as a transport does, and returns the tokens that the server
// received.
func callHostileServer(b *bench, a *auth.Authorizer) (tokens []string, err error) {
	for attempt := 1; attempt <= 5; attempt++ {
		req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, evilURL, strings.NewReader("tools/list"))
		if err != nil {
			return tokens, err
		}
		if err := a.Authorize(req); err != nil {
			return tokens, err
		}
		if token := req.Header.Get("Authorization"); token != "" {
			tokens = append(tokens, token)
		}
		resp, err := b.RoundTrip(req)
		if err != nil {
			return tokens, err
		}
		again, err := a.Review(resp, attempt)
		if err != nil || !again {
			return tokens, err
		}
	}
	return tokens, nil
}

// A server that publishes a resource above itself, or the resource of another server, gets no token for it.
func TestServerAtAnotherPathGetsNoForeignToken(t *testing.T) {
	for _, resource := range []string{"http://" + mcpHost, "http://" + mcpHost + "/", mcpURL, evilURL + "?x",
		evilURL + "/more", evilURL + "/.."} {
		b := newBench(t)
		store := auth.NewMemoryStore()
		b.ok(b.authorizer(func(o *auth.Options) { o.Store = store }), "tools/list")
		addHostileServer(b, resource)
		tokens, err := callHostileServer(b, b.authorizer(func(o *auth.Options) { o.Store = store }))
		if len(tokens) != 0 || b.person.times() != 1 {
			t.Errorf("resource %s: the server got %d tokens, the person was asked %d times, want none and once", resource,
				len(tokens), b.person.times())
		}
		if !errors.Is(err, auth.ErrOtherResource) || !strings.Contains(err.Error(), "Options.Resource") {
			t.Errorf("resource %s: error is %v, want an error that names the option", resource, err)
		}
	}
}

// Two servers have a common parent resource, which the user allows. They still share no stored token: each path needs
// its own authorization.
func TestStoredTokenBelongsToOneServerURL(t *testing.T) {
	b := newBench(t)
	parent := "http://" + mcpHost
	b.mcp.resource = parent
	shared := auth.NewMemoryStore()
	options := func(o *auth.Options) { o.Store, o.Resource = shared, parent }
	b.ok(b.authorizer(options), "tools/list")
	if got := b.only(asHost, "/token").form.Get("resource"); got != parent {
		t.Errorf("the token is for %q, want the published resource %q", got, parent)
	}
	b.ok(b.authorizer(options, func(o *auth.Options) { o.Interact = nil }), "tools/list")
	addHostileServer(b, parent)
	tokens, err := callHostileServer(b, b.authorizer(options, func(o *auth.Options) { o.Interact = nil }))
	if len(tokens) != 0 || err == nil {
		t.Errorf("the other server got %d tokens, error %v, want none without a person", len(tokens), err)
	}
}

func TestResourceOptionMustBeAParentURL(t *testing.T) {
	for _, resource := range []string{"http://" + asHost, mcpURL + "/below", "http://" + mcpHost + "/mc",
		"https://" + mcpHost} {
		b := newBench(t)
		b.mcp.resource = resource
		e := b.fails(b.authorizer(func(o *auth.Options) { o.Resource = resource }), "tools/list")
		if !e.Permanent() || e.Step != auth.StepDiscoverResource || b.person.times() != 0 {
			t.Errorf("%s: got %v, want a permanent error before the person is asked", resource, e)
		}
	}
	for _, resource := range []string{"example.com", "/mcp", "https://example.com/#x", "https://u@example.com",
		"ftp://example.com", ":"} {
		if _, err := auth.New(&auth.Options{Resource: resource}); err == nil || !strings.Contains(err.Error(), "Resource") {
			t.Errorf("Resource %q: got %v, want an error that names it", resource, err)
		}
	}
}

// A server that publishes its own URL is accepted with and without the option.
func TestServersOwnURLIsAlwaysAccepted(t *testing.T) {
	for _, resource := range []string{mcpURL, mcpURL + "/", "HTTP://" + mcpHost + "/mcp"} {
		for _, parent := range []string{"", "http://" + mcpHost} {
			b := newBench(t)
			b.mcp.resource = resource
			b.ok(b.authorizer(func(o *auth.Options) { o.Resource = parent }), "tools/list")
		}
	}
}
