package auth_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// refreshes returns the number of refresh requests.
func (b *bench) refreshes() int {
	n := 0
	for _, r := range b.requests(asHost, "/token") {
		if r.form.Get("grant_type") == "refresh_token" {
			n++
		}
	}
	return n
}

func hourly(b *bench) {
	b.as.lifetime, b.as.refreshTokens, b.as.rotate = time.Hour, true, true
}

func TestTokenIsRefreshedShortlyBeforeItExpires(t *testing.T) {
	for _, c := range []struct {
		name     string
		lifetime time.Duration
		options  func(*auth.Options)
		not, due time.Duration // time after the authorization
	}{
		{"a minute by default", time.Hour, nil, 59*time.Minute - time.Second, 59 * time.Minute},
		{"a tenth of a short life", 100 * time.Second, nil, 89 * time.Second, 90 * time.Second},
		{"as configured", time.Hour, func(o *auth.Options) {
			o.RefreshEarly = 5 * time.Minute
		}, 55*time.Minute - time.Second, 55 * time.Minute},
		{"not early", time.Hour, func(o *auth.Options) { o.RefreshEarly = -1 }, time.Hour - time.Second, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				hourly(b)
				b.as.lifetime = c.lifetime
				a := b.authorizer(func(o *auth.Options) {
					if c.options != nil {
						c.options(o)
					}
				})
				b.ok(a, "tools/list")
				time.Sleep(c.not)
				b.ok(a, "tools/list")
				synctest.Wait()
				if n := b.refreshes(); n != 0 {
					t.Errorf("%v after the authorization: want no refresh yet, got %d", c.not, n)
				}
				time.Sleep(c.due - c.not)
				b.ok(a, "tools/list")
				synctest.Wait()
				b.ok(a, "tools/list")
				if n := b.refreshes(); n != 1 {
					t.Errorf("%v after the authorization: want one refresh, got %d", c.due, n)
				}
				if n := b.person.times(); n != 1 {
					t.Errorf("want no prompt, got %d", n)
				}
				if r := b.requests(asHost, "/token")[1]; r.form.Get("resource") != mcpURL {
					t.Errorf("want the resource parameter in the refresh, got %v", r.form)
				}
			})
		})
	}
}

func TestRotatedRefreshTokensAreUsedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		a := b.authorizer()
		for range 5 {
			b.ok(a, "tools/list")
			time.Sleep(2 * time.Hour)
		}
		if n := b.refreshes(); n != 4 || b.person.times() != 1 {
			t.Errorf("want four refreshes and the person asked once, got %d and %d", n, b.person.times())
		}
	})
}

func TestRefreshTokenWithoutRotationIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		b.as.rotate = false
		a := b.authorizer()
		for range 3 {
			b.ok(a, "tools/list")
			time.Sleep(2 * time.Hour)
		}
		if b.refreshes() != 2 || b.person.times() != 1 {
			t.Errorf("want two refreshes and the person asked once, got %d and %d", b.refreshes(), b.person.times())
		}
	})
}

func TestInvalidGrantLeadsToANewAuthorization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		a := b.authorizer()
		b.ok(a, "tools/list")
		b.as.revoke(true)
		time.Sleep(2 * time.Hour)
		b.ok(a, "tools/list")
		if n := b.person.times(); n != 2 {
			t.Errorf("want the person asked again, got %d times in all", n)
		}
		if n := len(b.requests(asHost, "/register")); n != 1 {
			t.Errorf("want the registration kept, got %d", n)
		}
	})
}

func TestTokenRefusedBeforeItExpiresIsRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		a := b.authorizer()
		b.ok(a, "tools/list")
		b.as.revoke(false)
		b.ok(a, "tools/list")
		if b.person.times() != 1 || b.refreshes() != 1 {
			t.Errorf("want one refresh and no prompt, got %d and %d", b.refreshes(), b.person.times())
		}
	})
}

func TestRefusedRefreshedTokenLeadsToANewAuthorization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		a := b.authorizer()
		b.ok(a, "tools/list")
		b.mcp.set(func(s *mcpServer) {
			s.rejects = func(string) bool { return b.person.times() == 1 }
		})
		b.ok(a, "tools/list")
		if b.refreshes() != 1 || b.person.times() != 2 {
			t.Errorf("want one refresh and then one prompt, got %d and %d", b.refreshes(), b.person.times())
		}
	})
}

func TestNetworkErrorsDoNotInvalidateTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		a := b.authorizer()
		b.ok(a, "tools/list")
		time.Sleep(59 * time.Minute)
		b.setDown(asHost, true)
		for range 10 {
			b.ok(a, "tools/list")
			synctest.Wait()
		}
		if n := b.refreshes(); n != 1 {
			t.Errorf("a valid token: want one attempt to refresh it within half a second, got %d", n)
		}
		time.Sleep(2 * time.Minute)
		if e := b.fails(a, "tools/list"); e.Permanent() || e.Step != auth.StepRefresh {
			t.Errorf("want a temporary error of the refresh, got %v", e)
		}
		b.setDown(asHost, false)
		time.Sleep(time.Second)
		b.ok(a, "tools/list")
		if n := b.person.times(); n != 1 {
			t.Errorf("want no prompt, got %d", n)
		}
	})
}

func TestTokenStaysInUseAfterARefusedEarlyRefresh(t *testing.T) {
	for name, end := range map[string]func(*bench){
		"until it expires":    func(*bench) { time.Sleep(time.Minute) },
		"until it is refused": func(b *bench) { b.as.revoke(false) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				hourly(b)
				a := b.authorizer()
				b.ok(a, "tools/list")
				b.as.set(func(s *authServer) { clear(s.refresh) })
				time.Sleep(59*time.Minute + 30*time.Second)
				for range 3 {
					b.ok(a, "tools/list")
					time.Sleep(time.Second)
				}
				if b.refreshes() != 1 || b.person.times() != 1 {
					t.Errorf("want one refresh and no prompts while the token is valid, got %d and %d", b.refreshes(),
						b.person.times())
				}
				if n := len(b.requests(mcpHost, "/mcp")); n != 5 {
					t.Errorf("want no request without the token, got %d requests", n)
				}
				end(b)
				b.ok(a, "tools/list")
				if n := b.person.times(); n != 2 {
					t.Errorf("want the person asked after that, got %d times in all", n)
				}
			})
		})
	}
}

func TestTokenThatExpiresBeforeItsFirstUseIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.as.lifetime = time.Hour
		b.person.wait = make(chan struct{})
		a := b.authorizer()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = b.call(ctx, a, "tools/list")
		close(b.person.wait)
		time.Sleep(2 * time.Hour)
		b.ok(a, "tools/list")
		if n := b.person.times(); n != 2 {
			t.Errorf("want the person asked again, got %d times in all", n)
		}
	})
}

func TestTokenWithoutRefreshTokenIsSentUntilItIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.as.lifetime = time.Hour
		a := b.authorizer()
		b.ok(a, "tools/list")
		time.Sleep(2 * time.Hour)
		b.ok(a, "tools/list")
		if n := b.person.times(); n != 2 {
			t.Errorf("want the person asked again after the refusal, got %d times in all", n)
		}
	})
}

func TestRefusedTokenIsKeptWhileTheRefreshFailsTemporarily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		a := b.authorizer()
		b.ok(a, "tools/list")
		b.as.revoke(false)
		b.setDown(asHost+"/token", true)
		if e := b.fails(a, "tools/list"); e.Permanent() || e.Step != auth.StepRefresh {
			t.Errorf("want a temporary error of the refresh, got %v", e)
		}
		b.setDown(asHost+"/token", false)
		time.Sleep(time.Second)
		b.ok(a, "tools/list")
		if n := b.person.times(); n != 1 {
			t.Errorf("want no further prompt, got %d in all", n)
		}
	})
}

func TestRefreshWithoutScopesKeepsTheScopes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		b.mcp.scope = "a b"
		b.mcp.needs = map[string][]string{"tools/call": {"b"}}
		b.as.grants = func([]string) []string { return []string{"a"} }
		a := b.authorizer()
		b.ok(a, "tools/list")
		b.as.set(func(s *authServer) {
			s.response = func(out object) { delete(out, "scope") }
		})
		time.Sleep(2 * time.Hour)
		b.ok(a, "tools/list")
		b.as.set(func(s *authServer) { s.grants = nil })
		b.ok(a, "tools/call")
		if b.person.times() != 2 || b.refreshes() != 1 {
			t.Errorf("want the person asked for the scope that was not granted, and no refresh for it, got %d and %d",
				b.person.times(), b.refreshes())
		}
	})
}

func TestTokenThatExpiredUnusedIsRefreshedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.as.lifetime, b.as.refreshTokens = time.Hour, true
		a := b.authorizer()
		b.ok(a, "tools/list")
		time.Sleep(2 * time.Hour)
		b.ok(a, "tools/list")
		if n := b.refreshes(); n != 1 {
			t.Errorf("want one refresh, got %d", n)
		}
	})
}
