package redisstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/mcpserver/redisstore"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// TestWhoFollowsHearsWhatComesThoughTheBellIsCut cuts the connection on which readers are told that there is something
// new.
func TestWhoFollowsHearsWhatComesThoughTheBellIsCut(t *testing.T) {
	s, c := open(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	const events = 5
	heard := make(chan store.Event)
	go func() {
		defer close(heard)
		for e, err := range s.Events().Follow(ctx, "session", store.EventID{}) {
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
		if err := s.Events().Append(ctx, "session", store.Event{Data: []byte("x")}); err != nil {
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

// TestAReceiverBeginsAnewWhenRedisHasLostTheMessages deletes the keys, as a Redis does that has lost its memory.
func TestAReceiverBeginsAnewWhenRedisHasLostTheMessages(t *testing.T) {
	s, c := open(t, nil)
	sessions := s.Sessions()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	publish := func(text string) {
		t.Helper()
		if err := sessions.Publish(ctx, "", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	publish("one")
	publish("two")
	var got []string
	for m, err := range sessions.Receive(ctx, "", 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(m.Data))
		switch string(m.Data) {
		case "two":
			if err := c.Del(ctx, keys(t, c, t.Name()+":")...).Err(); err != nil {
				t.Fatal(err)
			}
			publish("three")
		case "three":
			if m.Position != 1 {
				t.Errorf("want position 1, got %d", m.Position)
			}
			cancel()
		}
	}
	if want := "one two three"; strings.Join(got, " ") != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

// keys returns the keys that begin with a prefix.
func keys(t *testing.T, c *redis.Client, prefix string) (all []string) {
	t.Helper()
	for i := c.Scan(t.Context(), 0, prefix+"*", 100).Iterator(); i.Next(t.Context()); {
		all = append(all, i.Val())
	}
	return all
}

// TestNothingIsKeptForEver looks at what would be left of a server that is never heard of again.
func TestNothingIsKeptForEver(t *testing.T) {
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
	if len(all) != 11 {
		t.Errorf("want 11 keys, got %d: %q", len(all), all)
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
		if strings.Contains(key, "{session}") {
			t.Errorf("%s is left, want nothing of a session that is over", key)
		}
	}
}
