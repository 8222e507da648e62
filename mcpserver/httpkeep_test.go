package mcpserver_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// TestEventStoreFaultDoesNotEndStream makes the store fail for some of the events before an answer. The client gets
// each event once, whether it stays connected or reconnects to either process.
func TestEventStoreFaultDoesNotEndStream(t *testing.T) {
	type fault struct {
		name       string
		from, till int // steps: 2 is the second progress report, 3 is the answer, and 4 is the time after the answer
		lose       bool
	}
	for _, f := range []fault{
		{"disconnected for an event", 2, 3, false}, {"disconnected for the answer", 3, 4, false},
		{"disconnected for both", 2, 4, false},
		{"the reply to an event is lost", 2, 3, true}, {"the reply to the answer is lost", 3, 4, true},
	} {
		for _, reads := range []string{"reads on", "comes back to the process", "comes back to the other", "waits there"} {
			t.Run(f.name+"/"+reads, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testFault(t, f.from, f.till, f.lose, reads) })
			})
		}
	}
}

func testFault(t *testing.T, from, till int, lose bool, reads string) {
	steps := make(chan int)
	stepped := func() *mcpserver.Server {
		return withTool(t, mcpserver.Options{}, "gated",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				_ = r.Progress(ctx, 1, 0, "")
				for n := range steps {
					if n == 3 {
						break
					}
					if err := r.Progress(ctx, float64(n), 0, ""); err != nil {
						t.Errorf("Progress %d: %v", n, err)
					}
				}
				return nil, nil
			})
	}
	all := processes(t, mcpserver.HTTPOptions{}, stepped(), stepped())
	a, b := all[0], all[1]
	session := a.open("2025-11-25")
	s := a.stream("POST", gatedCall, "Mcp-Session-Id", session)
	s.next()
	var ids []string
	var came chan sse.Event
	listen := func() { // reads immediately, so that no writer blocks
		reader, events := s.reader, make(chan sse.Event, 10)
		came = events
		go func() { // ends with the stream
			defer close(events)
			for {
				e, err := reader.Next()
				if err != nil {
					return
				}
				events <- e
			}
		}()
	}
	listen()
	read := func() sse.Event {
		e := <-came
		ids = append(ids, e.ID)
		return e
	}
	read()
	switch reads {
	case "waits there":
		s = b.resumed(session, ids[0])
		listen()
		synctest.Wait()
	case "reads on":
	default:
		s.leave()
		synctest.Wait()
	}
	for n := 2; n <= 4; n++ {
		switch {
		case n == from && lose:
			a.store.lose.Store(true)
		case n == from:
			a.store.cut.Store(true)
		case n == till:
			time.Sleep(3 * time.Second)
			a.store.cut.Store(false)
		}
		if n < 4 {
			steps <- n
			synctest.Wait()
		}
	}
	switch reads {
	case "comes back to the process":
		s = a.resumed(session, ids[0])
		listen()
	case "comes back to the other":
		s = b.resumed(session, ids[0])
		listen()
	}
	if m := decoded(t, string(read().Data)); m.Method != mcp.NotificationProgress {
		t.Errorf("got %+v, want progress", m)
	}
	if m := decoded(t, string(read().Data)); m.ID != 5.0 || m.Result == nil {
		t.Errorf("got %+v, want the answer", m)
	}
	if e, more := <-came; more {
		t.Errorf("got %s behind the answer, want the end", e.Data)
	}
	time.Sleep(3 * time.Second)
	for _, p := range all { // the store has all events, without a gap
		s = p.resumed(session, ids[0])
		for _, want := range ids[1:] {
			if e := s.next(); e.ID != want {
				t.Errorf("afterwards got event %s, want %s", e.ID, want)
			}
		}
		s.over()
	}
	if p := b.post(pingRequest, "Mcp-Session-Id", session); p.status != http.StatusOK {
		t.Errorf("a request in the session got %d, want 200", p.status)
	}
	a.end()
	b.end()
}
