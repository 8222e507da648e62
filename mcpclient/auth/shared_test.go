package auth_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

func TestStoredTokenServesTheNextProcess(t *testing.T) {
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
			t.Errorf("want the stored token refreshed and no prompt, got %d and %d", b.refreshes(), b.person.times())
		}
	})
}

func TestTokenRotatedByAnotherProcessIsUsed(t *testing.T) {
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
			t.Errorf("want no further prompt, got %d", n)
		}
	})
}

func TestTokenRefreshedEarlyByAnotherProcessIsUsed(t *testing.T) {
	b := newBench(t)
	hourly(b)
	store := auth.NewMemoryStore()
	shared := func(o *auth.Options) { o.Store = store }
	first, second := b.authorizer(shared), b.authorizer(shared)
	b.ok(first, "tools/list")
	b.ok(second, "tools/list")
	b.as.revoke(false)
	b.ok(first, "tools/list")
	b.ok(second, "tools/list")
	if b.refreshes() != 1 || b.person.times() != 1 {
		t.Errorf("want one refresh for both, got %d and the person asked %d times", b.refreshes(), b.person.times())
	}
}

func TestRefusedTokenAndClientAreRemovedFromTheStore(t *testing.T) {
	for _, clientToo := range []bool{false, true} {
		b := newBench(t)
		hourly(b)
		store := auth.NewMemoryStore()
		shared := func(o *auth.Options) { o.Store = store }
		a := b.authorizer(shared)
		b.ok(a, "tools/list")
		b.as.revoke(true)
		registrations := 1
		if clientToo {
			b.as.set(func(s *authServer) { clear(s.clients) })
			registrations++ // the client registers before the person declines
		}
		b.person.declines = errors.New("not now")
		b.fails(a, "tools/list")
		b.person.declines = nil
		b.ok(b.authorizer(shared), "tools/list")
		if n := b.refreshes(); n != 1 {
			t.Errorf("client forgotten too %t: want the revoked refresh token sent once, got %d times", clientToo, n)
		}
		if n := len(b.requests(asHost, "/register")); n != registrations {
			t.Errorf("client forgotten too %t: want %d registrations, got %d", clientToo, registrations, n)
		}
	}
}

func TestFailingStoreDoesNotFailRequests(t *testing.T) {
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
