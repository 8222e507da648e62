package auth_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// failures are failures that a client may encounter.
var failures = map[string]func(*bench){
	"tokens revoked":       func(b *bench) { b.as.revoke(false) },
	"everything revoked":   func(b *bench) { b.as.revoke(true) },
	"clients forgotten":    func(b *bench) { b.as.set(func(s *authServer) { clear(s.clients) }) },
	"metadata unreachable": func(b *bench) { b.setDown(mcpHost+"/.well-known/oauth-protected-resource/mcp", true) },
	"server unreachable":   func(b *bench) { b.setDown(asHost, true) },
	"token endpoint gone":  func(b *bench) { b.setDown(asHost+"/token", true) },
	"tokens refused": func(b *bench) {
		b.mcp.set(func(s *mcpServer) { s.rejects = func(string) bool { return true } })
	},
	"grants refused": func(b *bench) { b.as.set(func(s *authServer) { s.token = refuseAll }) },
	"scopes not granted": func(b *bench) {
		b.as.set(func(s *authServer) { s.grants = func([]string) []string { return nil } })
	},
	"another scope needed": func(b *bench) { b.mcp.set(func(s *mcpServer) { s.needs["tools/call"] = []string{"more"} }) },
	"another server":       func(b *bench) { b.mcp.set(func(s *mcpServer) { s.as = b.other }) },
	"proofs required":      func(b *bench) { b.mcp.set(func(s *mcpServer) { s.schemes = []string{"DPoP"} }) },
	"another nonce":        func(b *bench) { b.mcp.set(func(s *mcpServer) { s.nonce += "n" }) },
	"half an hour":         func(*bench) { time.Sleep(30 * time.Minute) },
	"two hours":            func(*bench) { time.Sleep(2 * time.Hour) },
	"an instant":           func(*bench) { time.Sleep(time.Millisecond) },
}

func refuseAll(url.Values) *failure { return &failure{400, "invalid_grant", ""} }

// endFailures ends all failures.
func (b *bench) endFailures() {
	b.mu.Lock()
	clear(b.down)
	b.mu.Unlock()
	b.as.set(func(s *authServer) { s.token, s.grants = nil, nil })
	b.mcp.set(func(s *mcpServer) { s.rejects, s.schemes = nil, []string{"Bearer", "DPoP"} })
}

// TestClientRecoversFromAnySequenceOfFailures runs callers during random failures. After the failures and the limits
// have ended, each caller must succeed.
func TestClientRecoversFromAnySequenceOfFailures(t *testing.T) {
	names := rapid.SampledFrom(slices.Sorted(maps.Keys(failures)))
	rapid.Check(t, func(rt *rapid.T) {
		story := rapid.SliceOfN(names, 1, 12).Draw(rt, "story")
		problem := ""
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			hourly(b)
			b.other = newAuthServer(b.world, as2Host)
			a := b.authorizer(func(o *auth.Options) { o.Store = auth.NewMemoryStore() })
			defer func() { _ = a.Close() }()
			for _, name := range story {
				failures[name](b)
				var wg sync.WaitGroup
				for _, method := range []string{"tools/list", "tools/call", "tools/list"} {
					wg.Go(func() { _, _ = b.call(t.Context(), a, method) })
				}
				wg.Wait()
			}
			b.endFailures()
			time.Sleep(15 * time.Minute)
			for _, method := range []string{"tools/list", "tools/call"} {
				if status, err := b.call(t.Context(), a, method); err != nil || status != http.StatusOK {
					problem = method + " fails when all is well: " + http.StatusText(status)
					if err != nil {
						problem += " " + err.Error()
					}
				}
			}
		})
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}
