// Package storetest has the conformance tests for a [store.Sessions], a [store.SharedEvents] and a [store.Tasks].
// Start with [TestSessions], [TestEvents] and [TestTasks]:
//
//	func TestMyStore(t *testing.T) {
//		storetest.TestSessions(t, func(t *testing.T) store.Sessions { return open(t) })
//	}
//
// The tests wait in real time for the store, for a few seconds.
package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// patience bounds each wait.
const patience = 30 * time.Second

// TestSessions tests a store of sessions. open returns a store. All stores may share their content: each test uses
// unique ids and processes, and may receive the messages of other tests.
func TestSessions(t *testing.T, open func(t *testing.T) store.Sessions) {
	for name, test := range map[string]func(*testing.T, store.Sessions){
		"StoresTheRecordUnchanged":        kept,
		"SeparatesIDsOfAnyKind":           anyIDs,
		"RefusesAnIDInUse":                takenOnce,
		"ReplacesARecordByRevision":       replaced,
		"OneOfConcurrentReplacesSucceeds": oneReplaces,
		"SessionExpires":                  expires,
		"OneOfConcurrentDeletesSucceeds":  deletedOnce,
		"DeleteKeepsASessionInUse":        usedIsKept,
		"ProcessIsAliveForItsTTL":         lives,
		"MessagesToAllHaveOneOrder":       oneOrder,
		"ProcessGetsItsOwnMessages":       own,
		"LargeMessage":                    large,
		"ReceiveEndsWithItsContext":       receivingEnds,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// fresh returns an unused name.
func fresh() string { return rand.Text() }

func must(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: want no error, got %v", what, err)
	}
}

func want(t testing.TB, what string, got, target error) {
	t.Helper()
	if !errors.Is(got, target) {
		t.Errorf("%s: want %q, got %v", what, target, got)
	}
}

func kept(t *testing.T, s store.Sessions) {
	id, record := fresh(), []byte("{\"a\":\"\x00\xff\\n\"}")
	given := slices.Clone(record)
	must(t, "Create", s.Create(t.Context(), id, given, time.Minute))
	clear(given) // the store must have its own copy
	got, revision, err := s.Use(t.Context(), id, 0, time.Minute)
	must(t, "Use", err)
	if string(got) != string(record) || revision != 1 {
		t.Errorf("want %q as revision 1, got %q as %d", record, got, revision)
	}
	_, _, err = s.Use(t.Context(), fresh(), 0, time.Minute)
	want(t, "Use of an unknown session", err, store.ErrNoSession)
	must(t, "Create for ever", s.Create(t.Context(), id+"2", record, 0))
	_, _, err = s.Use(t.Context(), id+"2", 0, 0)
	must(t, "Use of a session that is kept for ever", err)
}

func takenOnce(t *testing.T, s store.Sessions) {
	id := fresh()
	must(t, "Create", s.Create(t.Context(), id, []byte("first"), time.Minute))
	want(t, "Create again", s.Create(t.Context(), id, []byte("second"), time.Minute), store.ErrConflict)
	if got, _, err := s.Use(t.Context(), id, 0, time.Minute); err != nil || string(got) != "first" {
		t.Errorf("want the first record, got %q, %v", got, err)
	}
}

func replaced(t *testing.T, s store.Sessions) {
	id := fresh()
	want(t, "Replace of an unknown session", s.Replace(t.Context(), id, nil, 1), store.ErrNoSession)
	must(t, "Create", s.Create(t.Context(), id, []byte("1"), time.Minute))
	must(t, "Replace", s.Replace(t.Context(), id, []byte("2"), 1))
	want(t, "Replace of an old revision", s.Replace(t.Context(), id, []byte("x"), 1), store.ErrConflict)
	want(t, "Replace of a revision to come", s.Replace(t.Context(), id, []byte("x"), 3), store.ErrConflict)
	must(t, "Replace", s.Replace(t.Context(), id, []byte("3"), 2))
	for known := range int64(4) {
		got, revision, err := s.Use(t.Context(), id, known, time.Minute)
		if err != nil || (got == nil) != (known == 3) || got != nil && string(got) != "3" || revision != 3 {
			t.Errorf("with revision %d known: want the third record, or none if it is known, got %q as %d, %v", known, got,
				revision, err)
		}
	}
}

func oneReplaces(t *testing.T, s store.Sessions) {
	id := fresh()
	must(t, "Create", s.Create(t.Context(), id, nil, time.Minute))
	const workers, rounds = 8, 20
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for n := 0; n < rounds; {
				record, revision, err := s.Use(t.Context(), id, 0, time.Minute)
				if err == nil {
					err = s.Replace(t.Context(), id, append(slices.Clone(record), '.'), revision)
				}
				switch {
				case err == nil:
					n++
				case !errors.Is(err, store.ErrConflict):
					t.Errorf("want success or a conflict, got %v", err)
					return
				}
			}
		})
	}
	all.Wait()
	got, _, err := s.Use(t.Context(), id, 0, time.Minute)
	if must(t, "Use", err); len(got) != workers*rounds {
		t.Errorf("want each of %d changes once, got %d", workers*rounds, len(got))
	}
}

func expires(t *testing.T, s store.Sessions) {
	id, other := fresh(), fresh()
	const ttl = 300 * time.Millisecond
	must(t, "Create", s.Create(t.Context(), id, nil, ttl))
	must(t, "Create", s.Create(t.Context(), other, nil, ttl))
	for start := time.Now(); time.Since(start) < 2*ttl; {
		_, _, err := s.Use(t.Context(), id, 0, time.Minute) // restarts the expiry: one minute from now
		must(t, "Use", err)
	}
	_, _, err := s.Use(t.Context(), other, 0, ttl)
	want(t, "Use of an expired session", err, store.ErrNoSession)
	want(t, "Replace of an expired session", s.Replace(t.Context(), other, nil, 1), store.ErrNoSession)
	must(t, "Create of an expired session", s.Create(t.Context(), other, nil, ttl))
}

func deletedOnce(t *testing.T, s store.Sessions) {
	id := fresh()
	must(t, "Create", s.Create(t.Context(), id, nil, time.Minute))
	var mu sync.Mutex
	var all sync.WaitGroup
	n := 0
	for range 8 {
		all.Go(func() {
			deleted, err := s.Delete(t.Context(), id, 0)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("Delete: %v", err)
			}
			if deleted {
				n++
			}
		})
	}
	all.Wait()
	if n != 1 {
		t.Errorf("want one call of Delete to delete the session, got %d", n)
	}
	_, _, err := s.Use(t.Context(), id, 0, time.Minute)
	want(t, "Use of a deleted session", err, store.ErrNoSession)
}

func usedIsKept(t *testing.T, s store.Sessions) {
	id := fresh()
	must(t, "Create", s.Create(t.Context(), id, nil, time.Minute))
	if deleted, err := s.Delete(t.Context(), id, time.Minute); deleted || err != nil {
		t.Errorf("want Delete to keep a session that was used less than a minute ago, got %v, %v", deleted, err)
	}
	const unused = 200 * time.Millisecond
	waitUntil(t, "Delete deletes an unused session", func() bool {
		deleted, err := s.Delete(t.Context(), id, unused)
		must(t, "Delete", err)
		return deleted
	})
}

// waitUntil calls is() repeatedly, until the result is true.
func waitUntil(t testing.TB, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); !is(); <-tick.C {
		if time.Since(start) > patience {
			t.Fatalf("want within %v: %s", patience, what)
		}
	}
}

func lives(t *testing.T, s store.Sessions) {
	process := fresh()
	alive := func() bool {
		alive, err := s.Alive(t.Context(), process)
		must(t, "Alive", err)
		return alive
	}
	if alive() {
		t.Error("want a process dead before its first Beat, got it alive")
	}
	const ttl = 200 * time.Millisecond
	for range 2 {
		must(t, "Beat", s.Beat(t.Context(), process, time.Minute))
		if !alive() {
			t.Error("want a process alive after Beat, got it dead")
		}
	}
	must(t, "Beat", s.Beat(t.Context(), process, ttl))
	waitUntil(t, "a process is dead after its ttl", func() bool { return !alive() })
	want(t, "Publish to a dead process", s.Publish(t.Context(), process, nil), store.ErrNoProcess)
	process = fresh()
	must(t, "Beat", s.Beat(t.Context(), process, time.Minute))
	must(t, "Beat", s.Beat(t.Context(), process, 0))
	if alive() {
		t.Error("want a process dead after Beat with ttl 0, got it alive")
	}
}

// receive receives messages until n of them have the prefix.
func receive(t testing.TB, s store.Sessions, process, prefix string, behind int64, n int) (all []store.Message) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for m, err := range s.Receive(ctx, process, behind) {
		if err != nil {
			t.Errorf("Receive: %v", err)
			return all
		}
		if !strings.HasPrefix(string(m.Data), prefix) {
			continue
		}
		if all = append(all, m); len(all) == n {
			return all
		}
	}
	t.Errorf("Receive: want %d messages with the prefix %q, got %d", n, prefix, len(all))
	return all
}

func oneOrder(t *testing.T, s store.Sessions) {
	prefix := fresh()
	const senders, each, receivers = 4, 50, 3
	must(t, "Publish", s.Publish(t.Context(), "", []byte(prefix+"first")))
	got := make([][]store.Message, receivers)
	var all sync.WaitGroup
	for i := range receivers {
		all.Go(func() { got[i] = receive(t, s, "", prefix, 0, senders*each+1) })
	}
	for i := range senders {
		all.Go(func() {
			for n := range each {
				if err := s.Publish(t.Context(), "", fmt.Appendf(nil, "%s%d %d", prefix, i, n)); err != nil {
					t.Errorf("Publish: %v", err)
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	for i, messages := range got {
		for n, m := range messages {
			if string(m.Data) != string(got[0][n].Data) || m.Position != got[0][n].Position {
				t.Fatalf("message %d: want receiver %d to get the same as the first, got %q at %d, not %q at %d",
					n, i, m.Data, m.Position, got[0][n].Data, got[0][n].Position)
			}
			if n > 0 && (m.Previous != messages[n-1].Position || m.Position <= m.Previous) {
				t.Fatalf("message %d of receiver %d: want a position behind %d, which is the previous one, got %d behind %d",
					n, i, messages[n-1].Position, m.Position, m.Previous)
			}
		}
	}
	rest := receive(t, s, "", prefix, got[0][10].Position, senders*each-10)
	if string(rest[0].Data) != string(got[0][11].Data) {
		t.Errorf("messages after a position: got %q first, want %q", rest[0].Data, got[0][11].Data)
	}
}

func own(t *testing.T, s store.Sessions) {
	one, other := fresh(), fresh()
	for _, process := range []string{one, other} {
		must(t, "Beat", s.Beat(t.Context(), process, time.Minute))
		for n := range 3 {
			must(t, "Publish", s.Publish(t.Context(), process, fmt.Appendf(nil, "%s%d", process, n)))
		}
	}
	at := map[string]int64{}
	for _, process := range []string{one, other} {
		for n, m := range receive(t, s, process, "", 0, 3) {
			if string(m.Data) != fmt.Sprint(process, n) || m.Previous != at[process] || m.Position <= m.Previous {
				t.Errorf("want %s%d behind %d, got %q at %d behind %d", process, n, at[process], m.Data, m.Position, m.Previous)
			}
			at[process] = m.Position
		}
	}
	must(t, "Publish", s.Publish(t.Context(), one, []byte("later")))
	for _, m := range receive(t, s, one, "", at[one], 1) {
		if string(m.Data) != "later" || m.Previous != at[one] {
			t.Errorf("want the later message after %d, got %q after %d", at[one], m.Data, m.Previous)
		}
	}
}

func large(t *testing.T, s store.Sessions) {
	process := fresh()
	must(t, "Beat", s.Beat(t.Context(), process, time.Minute))
	data := []byte(strings.Repeat("x", 20<<20))
	must(t, "Publish", s.Publish(t.Context(), process, data))
	if got := receive(t, s, process, "", 0, 1); len(got) == 1 && len(got[0].Data) != len(data) {
		t.Errorf("want %d bytes, got %d", len(data), len(got[0].Data))
	}
}

func receivingEnds(t *testing.T, s store.Sessions) {
	process := fresh()
	must(t, "Beat", s.Beat(t.Context(), process, time.Minute))
	must(t, "Publish", s.Publish(t.Context(), process, nil))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range s.Receive(ctx, process, 0) {
		if err != nil {
			t.Errorf("want the end of the context to be no error, got %v", err)
		}
		cancel()
	}
}

// strange returns different ids that clients may send. Some ids are parts of others.
func strange() []string {
	name := fresh()
	long := strings.Repeat(name, 1<<20/len(name))
	return []string{
		name, name + "{}", "{" + name + "}", name + "}:{x", "{" + name, "}" + name, name + "\x00", name + "\x00x",
		name + "\r\nQUIT\r\n", name + " ", name + "*", name + "?", name + ":events", name + "ä\u202e", long, long + "x",
	}
}

// anyIDs checks that long and unusual ids do not share a session.
func anyIDs(t *testing.T, s store.Sessions) {
	ids := strange()
	for _, id := range ids {
		_, _, err := s.Use(t.Context(), id, 0, time.Minute)
		want(t, fmt.Sprintf("Use of %.60q before Create", id), err, store.ErrNoSession)
		must(t, "Create", s.Create(t.Context(), id, []byte(id), time.Minute))
		want(t, fmt.Sprintf("Create of %.60q again", id), s.Create(t.Context(), id, nil, time.Minute), store.ErrConflict)
		must(t, "Beat", s.Beat(t.Context(), id, time.Minute))
		must(t, "Publish", s.Publish(t.Context(), id, []byte("to "+id)))
	}
	for _, id := range ids {
		if record, _, err := s.Use(t.Context(), id, 0, time.Minute); err != nil || string(record) != id {
			t.Errorf("Use of %.60q: want its own record, got %.60q, %v", id, record, err)
		}
		for m, err := range s.Receive(t.Context(), id, 0) {
			if must(t, "Receive", err); string(m.Data) != "to "+id {
				t.Errorf("Receive for %.60q: want its own message, got %.60q", id, m.Data)
			}
			break
		}
		if deleted, err := s.Delete(t.Context(), id, 0); !deleted || err != nil {
			t.Errorf("Delete of %.60q: want it deleted, got %v, %v", id, deleted, err)
		}
		must(t, "Beat", s.Beat(t.Context(), id, 0))
	}
}
