package auth_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// refreshes returns how many token requests were refreshes.
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

func TestATokenIsRefreshedShortlyBeforeItExpires(t *testing.T) {
	for _, c := range []struct {
		name     string
		lifetime time.Duration
		options  func(*auth.Options)
		not, due time.Duration // after the authorization
	}{
		{"a minute by default", time.Hour, nil, 59*time.Minute - time.Second, 59 * time.Minute},
		{"a tenth of a short life", 100 * time.Second, nil, 89 * time.Second, 90 * time.Second},
		{"as configured", time.Hour, func(o *auth.Options) { o.RefreshEarly = 5 * time.Minute }, 55*time.Minute - time.Second, 55 * time.Minute},
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
					t.Errorf("want the person left alone, got asked %d times", n)
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

func TestARefreshTokenThatIsNotRotatedStays(t *testing.T) {
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

func TestManyCallersMakeOneRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		a := b.authorizer()
		b.ok(a, "tools/list")
		time.Sleep(2 * time.Hour)
		b.as.raw = func(http.ResponseWriter) bool {
			time.Sleep(time.Second)
			return false
		}
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				if status, err := b.call(t.Context(), a, "tools/list"); status != http.StatusOK || err != nil {
					t.Errorf("want HTTP 200, got %d, %v", status, err)
				}
			})
		}
		wg.Wait()
		if n := b.refreshes(); n != 1 {
			t.Errorf("want one refresh for 64 callers, got %d", n)
		}
	})
}

func TestManyRefusedCallersMakeOneAuthorization(t *testing.T) {
	for _, expired := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			a := b.authorizer()
			if expired {
				b.ok(a, "tools/list")
				b.as.revoke(true)
			}
			before := b.person.times()
			var arrived atomic.Int32
			b.mcp.gate = func() {
				if arrived.Add(1) <= 64 {
					time.Sleep(time.Second)
				}
			}
			b.person.wait = make(chan struct{})
			go func() {
				time.Sleep(time.Minute)
				close(b.person.wait)
			}()
			var wg sync.WaitGroup
			for range 64 {
				wg.Go(func() {
					if status, err := b.call(t.Context(), a, "tools/list"); status != http.StatusOK || err != nil {
						t.Errorf("want HTTP 200, got %d, %v", status, err)
					}
				})
			}
			wg.Wait()
			if n := b.person.times() - before; n != 1 {
				t.Errorf("want one authorization for 64 callers, got %d", n)
			}
		})
	}
}

func TestAllWhoAreRefusedANewTokenGetTheSameError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.mcp.rejects = func(string) bool { return true }
		a := b.authorizer()
		b.mcp.gate = func() { time.Sleep(time.Second) }
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				if _, err := b.call(t.Context(), a, "tools/list"); err == nil {
					t.Error("want an error, got none")
				}
			})
		}
		wg.Wait()
		if n := b.person.times(); n != 1 {
			t.Errorf("want the person asked once, got %d times", n)
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

func TestATokenRefusedBeforeItExpiresIsRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		a := b.authorizer()
		b.ok(a, "tools/list")
		b.as.revoke(false)
		b.ok(a, "tools/list")
		if b.person.times() != 1 || b.refreshes() != 1 {
			t.Errorf("want one refresh and the person left alone, got %d and %d", b.refreshes(), b.person.times())
		}
	})
}

func TestARefreshedTokenThatIsRefusedLeadsToANewAuthorization(t *testing.T) {
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
			t.Errorf("want one refresh and then the person, got %d and %d", b.refreshes(), b.person.times())
		}
	})
}

func TestNetworkTroubleIsNoRevocation(t *testing.T) {
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
			t.Errorf("a token that is still good: want one try to refresh it within half a second, got %d", n)
		}
		time.Sleep(2 * time.Minute)
		if e := b.fails(a, "tools/list"); e.Permanent() || e.Step != auth.StepRefresh {
			t.Errorf("want a temporary error of the refresh, got %v", e)
		}
		b.setDown(asHost, false)
		time.Sleep(time.Second)
		b.ok(a, "tools/list")
		if n := b.person.times(); n != 1 {
			t.Errorf("want the person left alone, got asked %d times", n)
		}
	})
}

func TestARefreshTokenRefusedEarlyLeavesTheTokenInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		a := b.authorizer()
		b.ok(a, "tools/list")
		b.as.set(func(s *authServer) { clear(s.refresh) })
		time.Sleep(59*time.Minute + 30*time.Second)
		for range 3 {
			b.ok(a, "tools/list")
			synctest.Wait()
		}
		if b.refreshes() != 1 || b.person.times() != 1 {
			t.Errorf("want one try and nobody asked while the token is good, got %d and %d", b.refreshes(), b.person.times())
		}
		time.Sleep(time.Minute)
		b.ok(a, "tools/list")
		if n := b.person.times(); n != 2 {
			t.Errorf("want the person asked when it has expired, got %d times in all", n)
		}
	})
}

func TestATokenWithoutRefreshTokenIsSentUntilItIsRefused(t *testing.T) {
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

func TestACallerWhoLeavesLeavesTheAuthorizationGoingOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.person.wait = make(chan struct{})
		a := b.authorizer()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := b.call(ctx, a, "tools/list")
		if e, ok := err.(*auth.Error); !ok || e.Permanent() || e.Unwrap() != context.DeadlineExceeded {
			t.Errorf("want the temporary error of the caller's deadline, got %v", err)
		}
		time.Sleep(time.Minute)
		close(b.person.wait)
		synctest.Wait()
		b.ok(a, "tools/list")
		if n := b.person.times(); n != 1 {
			t.Errorf("want the one authorization to serve the later caller, got %d", n)
		}
	})
}

func TestAPersonWhoDoesNotAnswerIsWaitedForSoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.person.wait = make(chan struct{})
		a := b.authorizer()
		begin := time.Now()
		e := b.fails(a, "tools/list")
		if took := time.Since(begin); took != auth.DefaultInteractionTimeout || !e.Permanent() || e.Step != auth.StepAuthorize {
			t.Errorf("want a permanent error after %v, got %v after %v", auth.DefaultInteractionTimeout, e, took)
		}
	})
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.person.wait = make(chan struct{})
		a := b.authorizer()
		done := make(chan error, 1)
		go func() {
			_, err := b.call(t.Context(), a, "tools/list")
			done <- err
		}()
		synctest.Wait()
		if b.person.times() != 1 {
			t.Fatal("want an authorization under way")
		}
		_ = a.Close()
		for range 2 {
			err := <-done
			if e, ok := err.(*auth.Error); !ok || !e.Permanent() || !errors.Is(e, auth.ErrClosed) {
				t.Errorf("want a permanent ErrClosed, got %v", err)
			}
			_, err = b.call(t.Context(), a, "tools/list")
			done <- err
		}
		_ = a.Close()
	})
}

func TestAStoredTokenServesTheNextProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		store := auth.NewMemoryStore()
		shared := func(o *auth.Options) { o.Store = store }
		b.ok(b.authorizer(shared), "tools/list")
		b.ok(b.authorizer(shared, func(o *auth.Options) { o.Interact = nil }), "tools/list")
		if n := len(b.requests(asHost, "/token")); n != 1 {
			t.Errorf("want the stored token used, got %d token requests", n)
		}
		time.Sleep(2 * time.Hour)
		b.ok(b.authorizer(shared, func(o *auth.Options) { o.Interact = nil }), "tools/list")
		if b.refreshes() != 1 || b.person.times() != 1 {
			t.Errorf("want the stored token refreshed and nobody asked, got %d and %d", b.refreshes(), b.person.times())
		}
	})
}

func TestWhatAnotherProcessRotatedIsPickedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		store := auth.NewMemoryStore()
		shared := func(o *auth.Options) { o.Store = store }
		first, second := b.authorizer(shared), b.authorizer(shared)
		b.ok(first, "tools/list")
		b.ok(second, "tools/list")
		for range 3 {
			time.Sleep(2 * time.Hour)
			b.ok(first, "tools/list")
			b.ok(second, "tools/list")
		}
		if n := b.person.times(); n != 1 {
			t.Errorf("want nobody asked again, got %d times", n)
		}
	})
}

func TestABrokenStoreHurtsNoRequest(t *testing.T) {
	b := newBench(t)
	a := b.authorizer(func(o *auth.Options) { o.Store = brokenStore{} })
	b.ok(a, "tools/list")
	b.ok(a, "tools/list")
	if n := b.person.times(); n != 1 {
		t.Errorf("want the token used from memory, got the person asked %d times", n)
	}
}

type brokenStore struct{}

func (brokenStore) Load(context.Context, auth.StoreKey) (*auth.Record, error) {
	return nil, context.DeadlineExceeded
}

func (brokenStore) Save(context.Context, auth.StoreKey, *auth.Record) error {
	return context.DeadlineExceeded
}

func (brokenStore) Delete(context.Context, auth.StoreKey) error { return context.DeadlineExceeded }

func TestAPanicOfTheUsersCodeIsAnError(t *testing.T) {
	b := newBench(t)
	b.person.edit = func(*auth.Redirect) { panic("secret") }
	e := b.fails(b.authorizer(), "tools/list")
	if !e.Permanent() || e.Error() != "authorization: authorize: panic of type string" {
		t.Errorf("want a permanent error with the type of the panic, got %v", e)
	}
}

func TestTheClockOfTheOptionsDecides(t *testing.T) {
	b := newBench(t)
	b.as.lifetime, b.as.refreshTokens = time.Hour, true
	now := time.Now()
	a := b.authorizer(func(o *auth.Options) { o.Now = func() time.Time { return now } })
	b.ok(a, "tools/list")
	now = now.Add(2 * time.Hour)
	b.ok(a, "tools/list")
	if n := b.refreshes(); n != 1 {
		t.Errorf("want one refresh, got %d", n)
	}
}
