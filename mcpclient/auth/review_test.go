package auth_test

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

func TestStepUpRequestsTheUnionOfTheScopes(t *testing.T) {
	b := newBench(t)
	b.mcp.scope = "mcp:basic"
	b.mcp.needs = map[string][]string{"tools/list": {"mcp:basic"}, "tools/call": {"mcp:write"},
		"tools/admin": {"mcp:admin"}}
	b.as.refreshTokens = true
	a := b.authorizer()
	b.ok(a, "tools/list")
	b.ok(a, "tools/call")
	b.ok(a, "tools/admin")
	b.ok(a, "tools/list")
	var got []string
	for _, r := range b.requests(asHost, "/authorize") {
		got = append(got, r.form.Get("scope"))
	}
	want := []string{"mcp:basic", "mcp:basic mcp:write", "mcp:basic mcp:write mcp:admin"}
	if !slices.Equal(got, want) {
		t.Errorf("want scopes %q, got %q", want, got)
	}
}

func TestNewAuthorizationRequestsEarlierScopes(t *testing.T) {
	b := newBench(t)
	b.mcp.scope = "mcp:basic"
	b.mcp.needs = map[string][]string{"tools/call": {"mcp:write"}}
	store := auth.NewMemoryStore()
	a := b.authorizer(func(o *auth.Options) { o.Store = store })
	b.ok(a, "tools/call")
	b.as.revoke(true)
	b.ok(a, "tools/list")
	b.as.revoke(true)
	b.ok(b.authorizer(func(o *auth.Options) { o.Store = store }), "tools/list")
	for i, r := range b.requests(asHost, "/authorize")[1:] {
		if got := r.form.Get("scope"); got != "mcp:basic mcp:write" {
			t.Errorf("authorization %d: want the scopes requested before, got %q", i+2, got)
		}
	}
}

func TestStepUpsAreBounded(t *testing.T) {
	for _, c := range []struct {
		name    string
		arrange func(*bench)
		want    string // a part of the error's text
		most    int    // largest number of prompts
	}{
		{"scope-retry-limit", func(b *bench) {
			b.mcp.scope = "mcp:admin"
			b.mcp.needs["tools/list"] = []string{"mcp:admin"}
			b.as.grants = func([]string) []string { return []string{"other"} }
		}, "", 3},
		{"granted but still insufficient", func(b *bench) {
			b.mcp.needs["tools/list"] = []string{"a"}
			b.mcp.insists = true
		}, "insufficient_scope", 3},
		{"another scope each time", func(b *bench) {
			n := 0
			b.mcp.gate = func() {
				b.mcp.set(func(s *mcpServer) {
					n++
					s.needs["tools/list"] = []string{fmt.Sprintf("scope%d", n)}
				})
			}
		}, "refused the request 4 times", 3},
		{"no scope", func(b *bench) { b.mcp.needs["tools/list"] = []string{""} }, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.arrange(b)
			a := b.authorizer()
			e := b.fails(a, "tools/list")
			if !e.Permanent() || e.Status != http.StatusForbidden || e.Code != "insufficient_scope" ||
				!strings.Contains(e.Error(), c.want) {
				t.Errorf("want a permanent error with HTTP 403, insufficient_scope and %q, got %v", c.want, e)
			}
			if n := b.person.times(); n > c.most {
				t.Errorf("want the person asked %d times at most, got %d", c.most, n)
			}
		})
	}
}

func TestUngrantedScopeIsNotRequestedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.as.grants = func([]string) []string { return []string{"mcp:basic"} }
		b.mcp.needs = map[string][]string{"tools/call": {"mcp:write"}}
		a := b.authorizer()
		b.ok(a, "tools/list")
		for range 3 {
			b.fails(a, "tools/call")
			time.Sleep(time.Second)
		}
		if n := b.person.times(); n != 2 {
			t.Errorf("want the person asked for the token and once for the scope, got %d times", n)
		}
		b.ok(a, "tools/list")
		b.as.set(func(s *authServer) { s.grants = nil })
		time.Sleep(5 * time.Minute)
		b.ok(a, "tools/call")
		if n := b.person.times(); n != 3 {
			t.Errorf("after a while: want the person asked again, got %d times in all", n)
		}
	})
}

func TestDeniedScopeIsNotRequestedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.mcp.needs = map[string][]string{"tools/call": {"mcp:write"}}
		a := b.authorizer()
		b.ok(a, "tools/list")
		b.as.redirects = func(q url.Values) {
			q.Del("code")
			q.Set("error", "access_denied")
		}
		for range 3 {
			if e := b.fails(a, "tools/call"); !e.Permanent() {
				t.Errorf("want a permanent error, got %v", e)
			}
			time.Sleep(time.Second)
		}
		if n := b.person.times(); n != 2 {
			t.Errorf("want the person asked for the scope once, got %d times", n-1)
		}
		b.ok(a, "tools/list")
	})
}

func TestPromptsForServerThatRefusesEveryTokenAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		a := b.authorizer()
		for range 20 {
			b.as.revoke(true)
			time.Sleep(time.Second)
			_, _ = b.call(t.Context(), a, "tools/list")
		}
		if n := b.person.times(); n != 8 {
			t.Errorf("want the person asked 8 times within ten minutes, got %d", n)
		}
		e := b.fails(a, "tools/list")
		if !e.Permanent() || !strings.Contains(e.Error(), "8 authorizations") {
			t.Errorf("want a permanent error about the budget, got %v", e)
		}
		time.Sleep(10 * time.Minute)
		b.ok(a, "tools/list")
	})
}

func TestRefusedNewTokenIsAPermanentError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var first string
		b.mcp.rejects = func(token string) bool {
			first = cmp.Or(first, token)
			return token == first
		}
		a := b.authorizer()
		e := b.fails(a, "tools/list")
		if !e.Permanent() || e.Status != http.StatusUnauthorized || e.Code != "invalid_token" || b.person.times() != 1 {
			t.Errorf("want a permanent invalid_token after one authorization, got %v after %d", e, b.person.times())
		}
		time.Sleep(time.Second)
		b.ok(a, "tools/list")
		if n := b.person.times(); n != 2 {
			t.Errorf("want another authorization for the next request, got %d in all", n)
		}
	})
}

func TestForbiddenIsAPermanentError(t *testing.T) {
	b := newBench(t)
	a := b.authorizer()
	b.ok(a, "tools/list")
	b.mcp.set(func(s *mcpServer) { s.forbids = true })
	e := b.fails(a, "tools/list")
	if e.Status != http.StatusForbidden || e.Step != auth.StepResource || !e.Permanent() || b.person.times() != 1 {
		t.Errorf("want a permanent error with HTTP 403 and no prompt, got %v", e)
	}
}

func TestAuthorizationStartsAtTheFirst401OfAnyMethod(t *testing.T) {
	b := newBench(t)
	b.mcp.anonymous = []string{"server/discover", "initialize"}
	a := b.authorizer()
	b.ok(a, "server/discover")
	b.ok(a, "initialize")
	if b.person.times() != 0 {
		t.Error("want no prompt before the server refuses")
	}
	b.ok(a, "tools/list")
	b.ok(a, "initialize")
}

func TestReviewIgnoresResponsesOtherThan401And403(t *testing.T) {
	b := newBench(t)
	a := b.authorizer()
	for _, status := range []int{200, 202, 204, 301, 400, 404, 405, 429, 500, 503} {
		req, err := http.NewRequest(http.MethodPost, mcpURL, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := a.Review(&http.Response{StatusCode: status, Request: req, Header: http.Header{}}, 1)
		if again || err != nil {
			t.Errorf("HTTP %d: want false, nil, got %t, %v", status, again, err)
		}
	}
}

func TestRefusalWithoutAChallengeLeadsToAuthorization(t *testing.T) {
	b := newBench(t)
	b.mcp.schemes = nil
	b.ok(b.authorizer(), "tools/list")
}

func TestDeletingASessionDoesNotPrompt(t *testing.T) {
	b := newBench(t)
	a := b.authorizer()
	b.ok(a, "tools/list")
	b.as.revoke(true)
	req, err := http.NewRequest(http.MethodDelete, mcpURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Authorize(req); err != nil {
		t.Fatal(err)
	}
	if again, err := a.Review(&http.Response{StatusCode: 401, Request: req, Header: http.Header{}}, 1); again ||
		err == nil {
		t.Errorf("want an error and no second try, got %t, %v", again, err)
	}
	if n := b.person.times(); n != 1 {
		t.Errorf("want no prompt, got %d in all", n)
	}
}

func TestReviewAfterCloseFailsOnlyForRefusals(t *testing.T) {
	b := newBench(t)
	a := b.authorizer()
	req, err := http.NewRequest(http.MethodPost, mcpURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Authorize(req); err != nil {
		t.Fatal(err)
	}
	_ = a.Close()
	if again, err := a.Review(&http.Response{StatusCode: 200, Request: req, Header: http.Header{}}, 1); again ||
		err != nil {
		t.Errorf("want false, nil, got %t, %v", again, err)
	}
	if _, err := a.Review(&http.Response{StatusCode: 401, Request: req, Header: http.Header{}}, 1); !errors.Is(err,
		auth.ErrClosed) {
		t.Errorf("want ErrClosed for a refusal, got %v", err)
	}
}
