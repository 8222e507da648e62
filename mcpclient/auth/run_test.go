package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

func TestConcurrentCallersShareOneRefresh(t *testing.T) {
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

func TestConcurrentRefusalsShareOneAuthorization(t *testing.T) {
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

func TestConcurrentRefusalsOfANewTokenGetTheSameError(t *testing.T) {
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

func TestRefusedCallerIsNotAffectedByAFailedRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		hourly(b)
		a := b.authorizer()
		b.ok(a, "tools/list")
		time.Sleep(59*time.Minute + 30*time.Second)
		b.as.revoke(false)
		tries := 0
		b.as.raw = func(rw http.ResponseWriter) bool {
			time.Sleep(time.Second)
			tries++
			if tries == 1 {
				rw.WriteHeader(http.StatusServiceUnavailable)
			}
			return tries == 1
		}
		b.ok(a, "tools/list")
		if b.refreshes() != 2 || b.person.times() != 1 {
			t.Errorf("want another refresh and no prompt, got %d and %d", b.refreshes(), b.person.times())
		}
	})
}

func TestAuthorizationContinuesAfterCallerIsCancelled(t *testing.T) {
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

func TestFlowContextHasRequestValuesWithoutClientTrace(t *testing.T) {
	b := newBench(t)
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "value")
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GetConn: func(string) {}})
	if _, err := b.call(ctx, b.authorizer(), "tools/list"); err != nil {
		t.Fatal(err)
	}
	got := b.person.context
	if got.Value(key{}) != "value" || httptrace.ContextClientTrace(got) != nil {
		t.Errorf("want the value and no client trace, got %v and %v", got.Value(key{}), httptrace.ContextClientTrace(got))
	}
}

func TestInteractionTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.person.wait = make(chan struct{})
		a := b.authorizer()
		begin := time.Now()
		e := b.fails(a, "tools/list")
		if took := time.Since(begin); took != auth.DefaultInteractionTimeout || !e.Permanent() ||
			e.Step != auth.StepAuthorize {
			t.Errorf("want a permanent error after %v, got %v after %v", auth.DefaultInteractionTimeout, e, took)
		}
	})
}

func TestCloseStopsRunningAuthorizations(t *testing.T) {
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

func TestPanicOfUserCodeIsReturnedAsError(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		fail       func()
	}{
		{"panic", "panic of type string", func() { panic("secret") }},
		{"exit", "it called runtime.Goexit", runtime.Goexit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.person.edit = func(*auth.Redirect) { tt.fail() }
			e := b.fails(b.authorizer(), "tools/list")
			if !e.Permanent() || e.Error() != "authorization: authorize: "+tt.want {
				t.Errorf("want a permanent error with %q, got %v", tt.want, e)
			}
		})
	}
}
