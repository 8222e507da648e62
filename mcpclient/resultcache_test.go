package mcpclient

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
)

func TestCacheKeepsMostRecentlyUsedResults(t *testing.T) {
	rc := newResultCache(4 * (keptOverhead + 100))
	s, now := &conn.Session{}, time.Now()
	keep := func(key string, size int) {
		rc.keep(rc.version(s, "m"), &keptResult{key: key, method: "m", frame: size - len(key),
			until: now.Add(time.Hour)})
	}
	for i := range 4 {
		keep(fmt.Sprint("k", i), 100)
	}
	rc.find(s, "k0", now)
	keep("k4", 150) // this result is as large as two others
	keep("k4", 160)
	var got []string
	for i := range 5 {
		if k := rc.find(s, fmt.Sprint("k", i), now); k != nil {
			got = append(got, k.key)
		}
	}
	if fmt.Sprint(got) != "[k0 k3 k4]" || rc.size != 2*(keptOverhead+100)+keptOverhead+160 || rc.recent.Len() != 3 {
		t.Errorf("cached %v with %d bytes, want k0, k3 and k4", got, rc.size)
	}
	if rc.find(s, "k0", now.Add(time.Hour)) != nil || rc.recent.Len() != 2 {
		t.Error("the cache keeps a stale result")
	}
}

// A call that began in the previous session must not cache its result in the next session.
func TestResultOfOldSessionIsNotCachedInNewOne(t *testing.T) {
	rc := newResultCache(1 << 20)
	before, after := &conn.Session{}, &conn.Session{}
	version := rc.version(before, mcp.MethodListTools)
	rc.find(after, "k", time.Now())
	k := &keptResult{key: "k", method: mcp.MethodListTools, until: time.Now().Add(time.Hour)}
	rc.keep(version, k)
	if rc.find(after, "k", time.Now()) != nil || rc.size != 0 {
		t.Error("the result was cached")
	}
}

// After a suspend, the wall clock has advanced and the monotonic clock has not.
func TestCachedResultIsStaleAfterSuspend(t *testing.T) {
	now := time.Now()
	k := &keptResult{since: now, until: now.Add(time.Minute)}
	for _, test := range []struct {
		moved time.Duration // movement of the wall clock
		fresh bool
	}{{0, true}, {30 * time.Second, true}, {time.Hour, false}, {-time.Hour, false}} {
		at := now
		*(*uint64)(unsafe.Pointer(&at)) += uint64(test.moved/time.Second) << 30 // the wall clock part of [time.Time]
		if k.fresh(at) != test.fresh {
			t.Errorf("the wall clock has moved by %v: got fresh %v, want %v", test.moved, !test.fresh, test.fresh)
		}
	}
}
