package mcpserver_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// severed is one process's access to a store of sessions and events. The flags make the store fail for this process.
type severed struct {
	store.Sessions
	store.SharedEvents
	cut  atomic.Bool
	deaf atomic.Bool // the process misses the signals that go to all processes
	lose atomic.Bool // the next Append succeeds, but its result is lost
	lag  atomic.Bool // appended events are lost, as after a failover to a lagging replica
	back atomic.Bool // the store has lost the latest message that this process received
	all  atomic.Bool // the store repeats its messages to all processes before the next one, as after a loss
}

var errCutOff = errors.New("cut off")

func (s *severed) Use(ctx context.Context, id string, known int64, ttl time.Duration) ([]byte, int64, error) {
	if s.cut.Load() {
		return nil, 0, errCutOff
	}
	return s.Sessions.Use(ctx, id, known, ttl)
}

func (s *severed) Create(ctx context.Context, id string, record []byte, ttl time.Duration) error {
	if s.cut.Load() {
		return errCutOff
	}
	return s.Sessions.Create(ctx, id, record, ttl)
}

func (s *severed) Replace(ctx context.Context, id string, record []byte, revision int64) error {
	if s.cut.Load() {
		return errCutOff
	}
	return s.Sessions.Replace(ctx, id, record, revision)
}

func (s *severed) Delete(ctx context.Context, id string, unused time.Duration) (bool, error) {
	if s.cut.Load() {
		return false, errCutOff
	}
	return s.Sessions.Delete(ctx, id, unused)
}

func (s *severed) Beat(ctx context.Context, process string, ttl time.Duration) error {
	if s.cut.Load() {
		return errCutOff
	}
	return s.Sessions.Beat(ctx, process, ttl)
}

func (s *severed) Publish(ctx context.Context, process string, message []byte) error {
	switch {
	case s.cut.Load():
		return errCutOff
	case s.lag.Load():
		return nil
	}
	return s.Sessions.Publish(ctx, process, message)
}

func (s *severed) Receive(ctx context.Context, process string, behind int64) iter.Seq2[store.Message, error] {
	return func(yield func(store.Message, error) bool) {
		var before []store.Message
		for m, err := range s.Sessions.Receive(ctx, process, behind) {
			if process == "" && s.all.CompareAndSwap(true, false) {
				for _, old := range before {
					yield(old, nil)
				}
			}
			before = append(before, m)
			if process == "" && s.deaf.Load() {
				continue
			}
			if process == "" && s.back.CompareAndSwap(true, false) {
				m.Previous--
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

func (s *severed) Append(ctx context.Context, session string, e store.Event) error {
	if s.cut.Load() {
		return errCutOff
	}
	if s.lag.Load() {
		return nil
	}
	err := s.SharedEvents.Append(ctx, session, e)
	if s.lose.CompareAndSwap(true, false) {
		return errCutOff
	}
	return err
}

func (s *severed) Behind(ctx context.Context, session string, id store.EventID) iter.Seq2[store.Event, error] {
	if s.cut.Load() {
		return func(yield func(store.Event, error) bool) { yield(store.Event{}, errCutOff) }
	}
	return s.SharedEvents.Behind(ctx, session, id)
}

// process is one of several processes that share a store.
type process struct {
	*web
	server *mcpserver.Server
	store  *severed
}

// change changes the list of tools.
func (p process) change() {
	p.server.RemoveTools("changing")
	if err := mcpserver.AddTool(p.server, &mcp.Tool{Name: "changing"}, greet); err != nil {
		panic(err)
	}
}

// processes runs each server as a process of its own. All processes share one store.
func processes(t *testing.T, o mcpserver.HTTPOptions, servers ...*mcpserver.Server) []process {
	t.Helper()
	sessions := store.NewMemorySessions()
	events := store.NewMemoryEvents(0, 0)
	all := make([]process, len(servers))
	for i, s := range servers {
		store := &severed{Sessions: sessions, SharedEvents: events}
		o.Sessions = store
		if !o.NotResumable {
			o.Events = store
		}
		all[i] = process{serveWeb(t, s, &o), s, store}
	}
	return all
}

// twoProcesses runs two servers with the usual tools.
func twoProcesses(t *testing.T, o mcpserver.HTTPOptions) (a, b process) {
	t.Helper()
	all := processes(t, o, newWebServer(t, mcpserver.Options{}), newWebServer(t, mcpserver.Options{}))
	return all[0], all[1]
}

// isolated runs two servers in a synctest bubble.
func isolated(t *testing.T, o mcpserver.HTTPOptions, test func(t *testing.T, a, b process)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a, b := twoProcesses(t, o)
		test(t, a, b)
		a.end()
		b.end()
	})
}
