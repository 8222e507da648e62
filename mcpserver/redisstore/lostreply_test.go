package redisstore_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/mcpserver/redisstore"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// lossy is a proxy in front of Redis that can lose replies.
type lossy struct {
	net.Listener
	lose atomic.Bool // cut the connection instead of passing on the reply to the next script
	lost atomic.Int64
	runs sync.WaitGroup

	mu    sync.Mutex
	to    string                // guarded by mu; address of Redis; empty means that clients are rejected
	conns map[net.Conn]struct{} // guarded by mu; connections of clients
}

func newLossy(t *testing.T, redisAddress string) *lossy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &lossy{Listener: l, to: redisAddress, conns: map[net.Conn]struct{}{}}
	p.runs.Go(func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.runs.Go(func() { p.pass(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.switchTo("")
		p.runs.Wait()
	})
	return p
}

// switchTo cuts all connections, and connects later clients to the address. An empty address rejects them.
func (p *lossy) switchTo(redisAddress string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = redisAddress
	for c := range p.conns {
		c.Close()
	}
}

// enter registers a client and returns the address of its Redis.
func (p *lossy) enter(client net.Conn) (redisAddress string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[client] = struct{}{}
	return p.to
}

func (p *lossy) leave(client net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	client.Close()
	delete(p.conns, client)
}

// pass connects a client to Redis until one of them closes the connection, or a reply is lost.
func (p *lossy) pass(client net.Conn) {
	defer p.leave(client)
	server, err := net.Dial("tcp", p.enter(client))
	if err != nil {
		return
	}
	defer server.Close()
	var losing atomic.Bool
	p.runs.Go(func() {
		defer server.Close()
		for b := make([]byte, 64<<10); ; {
			n, err := client.Read(b)
			if bytes.Contains(bytes.ToLower(b[:n]), []byte("evalsha")) && p.lose.CompareAndSwap(true, false) {
				losing.Store(true)
			}
			if _, failed := server.Write(b[:n]); err != nil || failed != nil {
				return
			}
		}
	})
	for b := make([]byte, 64<<10); ; {
		n, err := server.Read(b)
		if losing.Load() {
			p.lost.Add(1)
			return
		}
		if _, failed := client.Write(b[:n]); err != nil || failed != nil {
			return
		}
	}
}

// TestRepeatedWriteTakesEffectOnce makes the Redis client repeat each kind of write. Each write must succeed, and take
// effect once.
func TestRepeatedWriteTakesEffectOnce(t *testing.T) {
	proxy := newLossy(t, address)
	c := redis.NewClient(&redis.Options{Addr: proxy.Addr().String()})
	s := redisstore.New(c, &redisstore.Options{Prefix: t.Name() + ":"})
	t.Cleanup(func() {
		s.Close()
		c.Close()
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	sessions, events, tasks := s.Sessions(), s.Events(), s.Tasks()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// once runs a write whose reply is lost.
	once := func(what string, write func() error) {
		t.Helper()
		before := proxy.lost.Load()
		proxy.lose.Store(true)
		if err := write(); err != nil {
			t.Errorf("%s: want no error, got %v", what, err)
		}
		if proxy.lost.Load() != before+1 {
			t.Errorf("%s: want one reply lost, got %d", what, proxy.lost.Load()-before)
		}
	}
	count := func(what string, id store.EventID, want int) {
		t.Helper()
		got := 0
		for _, err := range events.Behind(ctx, "session", id) {
			must(err)
			got++
		}
		if got != want {
			t.Errorf("%s: want %d events, got %d", what, want, got)
		}
	}
	// Redis loads the scripts now, because it can run only a loaded script by its hash.
	warm, err := events.Open(ctx, "warm", nil)
	must(err)
	must(events.Append(ctx, "warm", store.Event{ID: store.EventID{Stream: warm, Sequence: 1}}))
	must(sessions.Create(ctx, "warm", nil, time.Minute))
	must(sessions.Replace(ctx, "warm", nil, 1))
	_, err = sessions.Delete(ctx, "warm", 0)
	must(err)
	must(sessions.Publish(ctx, "", []byte("warm")))
	must(tasks.Save(ctx, &store.Task{ID: "warm", Revision: 1}))

	once("Create", func() error { return sessions.Create(ctx, "session", []byte("x"), time.Minute) })
	once("Replace", func() error { return sessions.Replace(ctx, "session", []byte("y"), 1) })
	if record, revision, err := sessions.Use(ctx, "session", 0, time.Minute); string(record) != "y" || revision != 2 {
		t.Errorf("Use: want y, 2, got %q, %d, %v", record, revision, err)
	}
	var stream int64
	once("Open", func() (err error) {
		stream, err = events.Open(ctx, "session", []byte("note"))
		return err
	})
	if next, err := events.Open(ctx, "session", nil); stream <= 0 || next <= stream {
		t.Errorf("Open: want a stream above %d, got %d, %v", stream, next, err)
	}
	for n := range int64(3) {
		e := store.Event{ID: store.EventID{Stream: stream, Sequence: n + 1}, Data: []byte("x"), Final: n == 2}
		once("Append", func() error { return events.Append(ctx, "session", e) })
	}
	count("a stream", store.EventID{Stream: stream}, 3)
	once("Append to stream 0", func() error { return events.Append(ctx, "session", store.Event{Data: []byte("x")}) })
	count("stream 0", store.EventID{}, 1)
	once("Publish", func() error { return sessions.Publish(ctx, "", []byte("published")) })
	must(sessions.Publish(ctx, "", []byte("end")))
	published := 0
	for m, err := range sessions.Receive(ctx, "", 0) {
		must(err)
		if string(m.Data) == "end" {
			break
		}
		if string(m.Data) == "published" {
			published++
		}
	}
	if published != 1 {
		t.Errorf("Publish: want one message, got %d", published)
	}
	for revision := range int64(2) {
		once("Save", func() error { return tasks.Save(ctx, &store.Task{ID: "task", Revision: revision + 1}) })
	}
	once("Delete", func() error {
		deleted, err := sessions.Delete(ctx, "session", 0)
		if !deleted {
			t.Error("Delete: want true, got false")
		}
		return err
	})
}
