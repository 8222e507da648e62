package keepalive

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestVerdictFollowsTheObservations(t *testing.T) {
	for _, test := range []struct {
		before observation
		heard  uint64
		after  observation
		want   verdict
	}{
		{observation{}, 0, observation{0, true}, silent},
		{observation{}, 1, observation{1, false}, alive},
		{observation{7, false}, 7, observation{7, true}, silent},
		{observation{7, false}, 9, observation{9, false}, alive},
		{observation{7, true}, 7, observation{7, true}, lost},
		{observation{7, true}, 8, observation{8, false}, alive},
	} {
		if after, got := test.before.look(test.heard); got != test.want || after != test.after {
			t.Errorf("%+v, heard %d: got %d and %+v, want %d and %+v", test.before, test.heard, got, after, test.want,
				test.after)
		}
	}
}

// peer is watched with an interval of one second. It may answer a ping, and pinging it may fail.
type peer struct {
	watched *Watch
	answers bool
	deaf    atomic.Bool
	began   time.Time

	mu  sync.Mutex
	log []string // guarded by mu
}

func (p *peer) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, what+" "+time.Since(p.began).String())
}

func (p *peer) watch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began = time.Now()
	p.watched = Start(time.Second, func() bool {
		if p.note("asked"); p.answers {
			p.watched.Heard()
		}
		return !p.deaf.Load()
	}, func() { p.note("gone") })
}

func (p *peer) wants(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Equal(p.log, want) {
		t.Errorf("got %q, want %q", p.log, want)
	}
}

func TestSilentPeerIsPingedAndGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(peer)
		p.watch()
		for range 3 {
			time.Sleep(900 * time.Millisecond)
			p.watched.Heard()
		}
		time.Sleep(time.Hour)
		p.wants(t, "asked 4s", "gone 5s")
	})
}

func TestAnsweringPeerIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{answers: true}
		p.watch()
		time.Sleep(4*time.Second + time.Millisecond)
		p.watched.Stop()
		time.Sleep(time.Hour)
		p.wants(t, "asked 1s", "asked 3s")
	})
}

func TestSilenceIsIgnoredWhilePingsCannotBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(peer)
		p.deaf.Store(true)
		p.watch()
		time.Sleep(3*time.Second + time.Millisecond)
		p.deaf.Store(false)
		time.Sleep(time.Hour)
		p.wants(t, "asked 1s", "asked 2s", "asked 3s", "asked 4s", "gone 5s")
	})
}
