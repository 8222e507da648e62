package redisstore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/mcpserver/redisstore"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// TestFollowerGetsEventsDespiteLostPubSub cuts the pub/sub connection that notifies readers.
func TestFollowerGetsEventsDespiteLostPubSub(t *testing.T) {
	s, c := open(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stream, err := s.Events().Open(ctx, "session", nil)
	if err != nil {
		t.Fatal(err)
	}
	const events = 5
	heard := make(chan store.Event)
	go func() {
		defer close(heard)
		for e, err := range s.Events().Follow(ctx, "session", store.EventID{Stream: stream}) {
			if err != nil {
				t.Errorf("want no error, got %v", err)
				return
			}
			if heard <- e; e.ID.Sequence == events {
				return
			}
		}
	}()
	for n := range int64(events) {
		if err := s.Events().Append(ctx, "session", store.Event{ID: store.EventID{Stream: stream}}); err != nil {
			t.Fatal(err)
		}
		if e := <-heard; e.ID.Sequence != n+1 {
			t.Fatalf("want event %d, got %s", n+1, e.ID)
		}
		if err := c.Do(ctx, "CLIENT", "KILL", "TYPE", "pubsub").Err(); err != nil {
			t.Fatal(err)
		}
	}
	<-heard
}

// TestReceiverDetectsMessagesLostByRedis deletes messages that a receiver has already received: all messages, as in a
// restart without data, or the latest ones, as in a failover to a lagging replica. The test then sends as many
// messages as it deleted, so that the number of messages does not reveal the loss.
func TestReceiverDetectsMessagesLostByRedis(t *testing.T) {
	for _, kept := range []int{0, 1} {
		for receiver, process := range map[string]string{"all": "", "one process": "process"} {
			t.Run(fmt.Sprintf("%s, %d kept", receiver, kept), func(t *testing.T) {
				s, c := open(t, nil)
				sessions, ctx := s.Sessions(), t.Context()
				publish := func(text string) {
					t.Helper()
					if err := sessions.Publish(ctx, process, []byte(text)); err != nil {
						t.Fatal(err)
					}
				}
				if err := sessions.Beat(ctx, "process", time.Minute); err != nil {
					t.Fatal(err)
				}
				snapshot := dump(t, c, t.Name()+":")
				for n := range 3 {
					if n == kept {
						snapshot = dump(t, c, t.Name()+":")
					}
					publish(fmt.Sprint("early ", n))
				}
				last := receive(t, sessions, process, 0, 3)[2].Position
				restore(t, c, t.Name()+":", snapshot)
				for n := range 3 {
					publish(fmt.Sprint("late ", n))
				}
				got := receive(t, sessions, process, last, 3)
				for n, m := range got {
					if want := fmt.Sprint("late ", n); string(m.Data) != want {
						t.Errorf("want %q, got %q", want, m.Data)
					}
				}
				if got[0].Previous == last {
					t.Errorf("want a gap behind %d, got none", last)
				}
				if got[1].Previous != got[0].Position {
					t.Errorf("want no gap behind %d, got one behind %d", got[0].Position, got[1].Previous)
				}
			})
		}
	}
}

// TestFollowerDetectsEventsLostByRedis deletes events that a follower has already read, as in a failover to a lagging
// replica. The test then appends as many events and opens as many streams as it deleted.
func TestFollowerDetectsEventsLostByRedis(t *testing.T) {
	s, c := open(t, nil)
	events, ctx := s.Events(), t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	say := func(text string) {
		t.Helper()
		must(events.Append(ctx, "session", store.Event{Data: []byte(text)}))
	}
	behind := func(id store.EventID) (all []store.Event) {
		t.Helper()
		for e, err := range events.Behind(ctx, "session", id) {
			must(err)
			all = append(all, e)
		}
		return all
	}
	stream, err := events.Open(ctx, "session", []byte("note"))
	must(err)
	add := func(sequence int64) {
		t.Helper()
		must(events.Append(ctx, "session", store.Event{ID: store.EventID{Stream: stream, Sequence: sequence}}))
	}
	say("early 0")
	add(1)
	snapshot := dump(t, c, t.Name()+":")
	say("early 1")
	say("early 2")
	add(2)
	lost, err := events.Open(ctx, "session", nil)
	must(err)
	last := behind(store.EventID{})[2].ID
	restore(t, c, t.Name()+":", snapshot)

	if latest, err := events.Latest(ctx, "session"); err != nil || latest >= last.Sequence {
		t.Errorf("want the latest event before %d, got %d, %v", last.Sequence, latest, err)
	}
	say("late 0")
	say("late 1")
	got := behind(last)
	if len(got) != 2 || string(got[0].Data) != "late 0" || got[0].Previous == last.Sequence ||
		got[1].Previous != got[0].ID.Sequence {
		t.Errorf("want two events and a gap behind %s, got %+v", last, got)
	}
	add(3) // the process that writes the stream continues
	if got := behind(store.EventID{Stream: stream, Sequence: 2}); len(got) != 1 || got[0].ID.Sequence != 3 {
		t.Errorf("want the third event of a stream of which the second is lost, got %+v", got)
	}
	if next, err := events.Open(ctx, "session", nil); err != nil || next == lost {
		t.Errorf("want a stream that no process has, got %d again, %v", next, err)
	}
}

// receive receives n messages.
func receive(t *testing.T, s store.Sessions, process string, behind int64, n int) (all []store.Message) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for m, err := range s.Receive(ctx, process, behind) {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, m); len(all) == n {
			return all
		}
	}
	t.Fatalf("want %d messages, got %d", n, len(all))
	return nil
}

// dump returns the values of all keys with a prefix. restore replaces all keys with that prefix by these values.
func dump(t *testing.T, c *redis.Client, prefix string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, key := range keys(t, c, prefix) {
		raw, err := c.Dump(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		all[key] = raw
	}
	return all
}

func restore(t *testing.T, c *redis.Client, prefix string, all map[string]string) {
	t.Helper()
	if now := keys(t, c, prefix); len(now) > 0 {
		if err := c.Del(t.Context(), now...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for key, raw := range all {
		if err := c.Restore(t.Context(), key, time.Minute, raw).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// keys returns the keys with a prefix.
func keys(t *testing.T, c *redis.Client, prefix string) (all []string) {
	t.Helper()
	for i := c.Scan(t.Context(), 0, prefix+"*", 100).Iterator(); i.Next(t.Context()); {
		all = append(all, i.Val())
	}
	return all
}

// TestAllKeysExpire checks that all keys of a server expire after the server has disappeared.
func TestAllKeysExpire(t *testing.T) {
	s, c := open(t, &redisstore.Options{KeepEvents: time.Minute})
	ctx, sessions, events := t.Context(), s.Sessions(), s.Events()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(sessions.Beat(ctx, "process", time.Minute))
	check(sessions.Publish(ctx, "process", []byte("x")))
	check(sessions.Create(ctx, "session", nil, time.Hour))
	for _, session := range []string{"session", "events only", "appended only"} {
		if session != "appended only" {
			_, err := events.Open(ctx, session, []byte("note"))
			check(err)
		}
		check(events.Append(ctx, session, store.Event{Data: []byte("x")}))
	}
	_, _, err := sessions.Use(ctx, "session", 0, time.Hour)
	check(err)
	check(s.Tasks().Save(ctx, &store.Task{ID: "task", Revision: 1, Expires: time.Now().Add(time.Hour)}))
	all := keys(t, c, t.Name()+":")
	writes := 0
	for _, key := range all {
		if strings.Contains(key, ":write:") {
			writes++
		}
	}
	if len(all)-writes != 11 || writes != 8 {
		t.Errorf("want 11 keys and 8 of writes, got %d and %d: %q", len(all)-writes, writes, all)
	}
	for _, key := range all {
		ttl, err := c.PTTL(ctx, key).Result()
		check(err)
		most := 2 * time.Minute
		if strings.Contains(key, "{session}") || strings.Contains(key, "{task}") {
			most = time.Hour
		}
		if ttl <= 0 || ttl > most {
			t.Errorf("%s is kept for %v, want %v at most", key, ttl, most)
		}
	}
	events.Forget("session")
	if _, err := sessions.Delete(ctx, "session", 0); err != nil {
		t.Error(err)
	}
	for _, key := range keys(t, c, t.Name()+":") {
		if strings.Contains(key, "{session}") && !strings.Contains(key, ":write:") { // keys with :write: stay until they expire
			t.Errorf("%s is left, want nothing of a session that is over", key)
		}
	}
}
