package auth_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// withDPoP makes both servers require DPoP.
func withDPoP(b *bench) {
	b.mcp.schemes = []string{"DPoP"}
	b.as.metadata = func(doc object) { doc["dpop_signing_alg_values_supported"] = []string{"ES256"} }
	b.as.sendsProof = true
}

func TestTokensAreBoundToAKeyIfTheServerRequiresIt(t *testing.T) {
	for _, c := range []struct {
		name    string
		arrange func(*bench)
		mode    auth.DPoPMode
		want    bool
	}{
		{"dpop", withDPoP, auth.DPoPAuto, true},
		{"dpop-nonce", func(b *bench) {
			withDPoP(b)
			b.as.nonce, b.mcp.nonce = "as-nonce", "rs-nonce"
		}, auth.DPoPAuto, true},
		{"not required", func(*bench) {}, auth.DPoPAuto, false},
		{"by the metadata of the MCP server", func(b *bench) {
			b.mcp.document = func(doc object) { doc["dpop_bound_access_tokens_required"] = true }
		}, auth.DPoPAuto, true},
		{"both schemes, supported by the authorization server", func(b *bench) {
			withDPoP(b)
			b.mcp.schemes = []string{"Bearer", "DPoP"}
		}, auth.DPoPAuto, true},
		{"both schemes, unsupported by the authorization server", func(b *bench) {
			b.mcp.schemes = []string{"DPoP", "Bearer"}
		}, auth.DPoPAuto, false},
		{"always", func(*bench) {}, auth.DPoPAlways, true},
		{"never", func(b *bench) { b.mcp.schemes = []string{"Bearer", "DPoP"} }, auth.DPoPNever, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.arrange(b)
			a := b.authorizer(func(o *auth.Options) { o.DPoP = c.mode })
			b.ok(a, "tools/list")
			b.ok(a, "tools/list")
			all := b.requests(mcpHost, "/mcp")
			last := all[len(all)-1].header
			if got := strings.HasPrefix(last.Get("Authorization"), "DPoP ") && last.Get("DPoP") != ""; got != c.want {
				t.Errorf("want a bound token: %t, got %t", c.want, got)
			}
			if got := b.only(asHost, "/authorize").form.Get("dpop_jkt") != ""; got != c.want {
				t.Errorf("want the code bound to the key: %t, got %t", c.want, got)
			}
			if n := b.person.times(); n != 1 {
				t.Errorf("want the person asked once, got %d times", n)
			}
		})
	}
}

func TestTokenWithoutTheRequiredBindingIsRejected(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*bench)
		want    string
	}{
		"downgrade": {func(b *bench) {
			withDPoP(b)
			b.as.response = func(out object) { out["token_type"] = "Bearer" }
		}, "not bound"},
		"bound without a proof": {func(b *bench) {
			b.as.response = func(out object) { out["token_type"] = "DPoP" }
		}, "not a bearer token"},
		"no common algorithm": {func(b *bench) {
			withDPoP(b)
			b.as.metadata = func(doc object) { doc["dpop_signing_alg_values_supported"] = []string{"RS256"} }
		}, "ES256"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			c.arrange(b)
			if e := b.fails(b.authorizer(), "tools/list"); !e.Permanent() || !strings.Contains(e.Error(), c.want) {
				t.Errorf("want a permanent error with %q, got %v", c.want, e)
			}
		})
	}
}

func TestBoundTokenIsRefreshedAndStoredWithItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		withDPoP(b)
		hourly(b)
		store := auth.NewMemoryStore()
		shared := func(o *auth.Options) { o.Store = store }
		first := b.authorizer(shared)
		b.ok(first, "tools/list")
		time.Sleep(2 * time.Hour)
		b.ok(first, "tools/list")
		b.ok(b.authorizer(shared), "tools/list")
		time.Sleep(2 * time.Hour)
		b.ok(b.authorizer(shared), "tools/list")
		if b.refreshes() != 2 || b.person.times() != 1 {
			t.Errorf("want two refreshes and the person asked once, got %d and %d", b.refreshes(), b.person.times())
		}
	})
}

func TestNewTokenIsObtainedWhenServerStartsToRequireDPoP(t *testing.T) {
	b := newBench(t)
	b.as.refreshTokens = true
	a := b.authorizer()
	b.ok(a, "tools/list")
	b.mcp.set(func(s *mcpServer) { s.schemes, s.bound = []string{"DPoP"}, true })
	b.ok(a, "tools/list")
	if b.refreshes() != 0 || b.person.times() != 2 {
		t.Errorf("want a new authorization instead of a refresh of the unbound token, got %d and %d", b.refreshes(),
			b.person.times())
	}
}

func TestNewTokenStaysBoundIfTheChallengeOmitsDPoP(t *testing.T) {
	b := newBench(t)
	withDPoP(b)
	hourly(b)
	a := b.authorizer()
	b.ok(a, "tools/list")
	b.as.revoke(true)
	b.mcp.set(func(s *mcpServer) { s.schemes, s.bound = []string{"Bearer"}, true })
	b.ok(a, "tools/list")
	if n := b.person.times(); n != 2 {
		t.Errorf("want one new authorization, got %d in all", n)
	}
}

func TestEachRequestHasItsOwnProof(t *testing.T) {
	b := newBench(t)
	withDPoP(b)
	b.mcp.nonce = "first"
	a := b.authorizer()
	for _, nonce := range []string{"first", "second", "second", "third"} {
		b.mcp.set(func(s *mcpServer) { s.nonce = nonce })
		b.ok(a, "tools/list")
	}
	var proofs []string
	for _, r := range b.requests(mcpHost, "/mcp") {
		if p := r.header.Get("DPoP"); p != "" {
			proofs = append(proofs, p)
		}
	}
	if n := len(proofs); n != 7 {
		t.Errorf("want each message sent again only once after a new nonce, got %d requests with a proof", n)
	}
	if slices.Sort(proofs); len(slices.Compact(proofs)) != 7 {
		t.Error("want no proof sent twice")
	}
}

func TestEndlessNonceChallengesFail(t *testing.T) {
	b := newBench(t)
	withDPoP(b)
	n := 0
	b.mcp.gate = func() {
		n++
		b.mcp.set(func(s *mcpServer) { s.nonce = strings.Repeat("n", n) })
	}
	if e := b.fails(b.authorizer(), "tools/list"); !e.Permanent() || e.Status != http.StatusUnauthorized ||
		e.Code != "use_dpop_nonce" {
		t.Errorf("want a permanent error with the server's code, got %v", e)
	}
	other := newBench(t)
	withDPoP(other)
	other.as.raw = func(rw http.ResponseWriter) bool {
		n++
		rw.Header().Set("DPoP-Nonce", strings.Repeat("n", n))
		(&failure{400, "use_dpop_nonce", ""}).reply(rw)
		return true
	}
	if e := other.fails(other.authorizer(), "tools/list"); e.Code != "use_dpop_nonce" ||
		len(other.requests(asHost, "/token")) != 2 {
		t.Errorf("want the token request sent twice at most, got %v after %d", e, len(other.requests(asHost, "/token")))
	}
}
