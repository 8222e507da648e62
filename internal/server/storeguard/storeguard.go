// Package storeguard calls the user's stores. Most store calls do not belong to a request. So each call runs in a new
// goroutine, and a panic of the store becomes an error. The server calls the in-memory stores of this module directly.
package storeguard

import (
	"context"
	"iter"
	"time"

	"github.com/mcpotel/mcpotel/internal/identity"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// Apart calls f in a new goroutine. If f fails, Apart reports and returns the failure. name is the method of the store.
type Apart func(ctx context.Context, name string, f func()) error

// Events wraps events. Each call of the wrapper returns, with an error if the store's code panics or ends the
// goroutine.
func (a Apart) Events(events store.Events) store.Events {
	if _, own := events.(identity.Own); own || events == nil {
		return events
	}
	if e, shared := events.(store.SharedEvents); shared {
		return guardedSharedEvents{guardedEvents{a, e}, e}
	}
	return guardedEvents{a, events}
}

// Sessions wraps sessions. Each call of the wrapper returns, with an error if the store's code panics or ends the
// goroutine.
func (a Apart) Sessions(sessions store.Sessions) store.Sessions {
	if _, own := sessions.(identity.Own); own || sessions == nil {
		return sessions
	}
	return guardedSessions{a, sessions}
}

// Tasks wraps tasks. Each call of the wrapper returns, with an error if the store's code panics or ends the goroutine.
func (a Apart) Tasks(tasks store.Tasks) store.Tasks {
	if _, own := tasks.(identity.Own); own {
		return tasks
	}
	return guardedTasks{a, tasks}
}

type guardedEvents struct {
	apart Apart
	store store.Events
}

func (g guardedEvents) Append(ctx context.Context, session string, e store.Event) (err error) {
	return g.apart.asked(ctx, "store.Events.Append", &err, func() { err = g.store.Append(ctx, session, e) })
}

func (g guardedEvents) Behind(ctx context.Context, session string, id store.EventID) iter.Seq2[store.Event, error] {
	return guardedSeq(ctx, g.apart, "store.Events.Behind",
		func() iter.Seq2[store.Event, error] { return g.store.Behind(ctx, session, id) })
}

func (g guardedEvents) Forget(session string) {
	_ = g.apart(context.Background(), "store.Events.Forget", func() { g.store.Forget(session) }) // reported by apart
}

type guardedSharedEvents struct {
	guardedEvents
	store store.SharedEvents
}

func (g guardedSharedEvents) Open(ctx context.Context, session string, note []byte) (stream int64, err error) {
	err = g.apart.asked(ctx, "store.Events.Open", &err, func() { stream, err = g.store.Open(ctx, session, note) })
	return stream, err
}

func (g guardedSharedEvents) Note(ctx context.Context, session string, stream int64) (note []byte, err error) {
	err = g.apart.asked(ctx, "store.Events.Note", &err, func() { note, err = g.store.Note(ctx, session, stream) })
	return note, err
}

func (g guardedSharedEvents) Latest(ctx context.Context, session string) (sequence int64, err error) {
	err = g.apart.asked(ctx, "store.Events.Latest", &err, func() { sequence, err = g.store.Latest(ctx, session) })
	return sequence, err
}

func (g guardedSharedEvents) Follow(ctx context.Context, session string, id store.EventID) iter.Seq2[store.Event,
	error] {
	return guardedSeq(ctx, g.apart, "store.Events.Follow",
		func() iter.Seq2[store.Event, error] { return g.store.Follow(ctx, session, id) })
}

type guardedSessions struct {
	apart Apart
	store store.Sessions
}

func (g guardedSessions) Create(ctx context.Context, id string, record []byte, ttl time.Duration) (err error) {
	return g.apart.asked(ctx, "store.Sessions.Create", &err, func() { err = g.store.Create(ctx, id, record, ttl) })
}

func (g guardedSessions) Use(ctx context.Context, id string, known int64, ttl time.Duration) (record []byte,
	revision int64, err error) {
	err = g.apart.asked(ctx, "store.Sessions.Use", &err, func() {
		record, revision, err = g.store.Use(ctx, id, known, ttl)
	})
	return record, revision, err
}

func (g guardedSessions) Replace(ctx context.Context, id string, record []byte, revision int64) (err error) {
	return g.apart.asked(ctx, "store.Sessions.Replace", &err, func() { err = g.store.Replace(ctx, id, record, revision) })
}

func (g guardedSessions) Delete(ctx context.Context, id string, unused time.Duration) (deleted bool, err error) {
	err = g.apart.asked(ctx, "store.Sessions.Delete", &err, func() { deleted, err = g.store.Delete(ctx, id, unused) })
	return deleted, err
}

func (g guardedSessions) Beat(ctx context.Context, process string, ttl time.Duration) (err error) {
	return g.apart.asked(ctx, "store.Sessions.Beat", &err, func() { err = g.store.Beat(ctx, process, ttl) })
}

func (g guardedSessions) Alive(ctx context.Context, process string) (alive bool, err error) {
	err = g.apart.asked(ctx, "store.Sessions.Alive", &err, func() { alive, err = g.store.Alive(ctx, process) })
	return alive, err
}

func (g guardedSessions) Publish(ctx context.Context, process string, message []byte) (err error) {
	return g.apart.asked(ctx, "store.Sessions.Publish", &err, func() { err = g.store.Publish(ctx, process, message) })
}

func (g guardedSessions) Receive(ctx context.Context, process string, behind int64) iter.Seq2[store.Message, error] {
	return guardedSeq(ctx, g.apart, "store.Sessions.Receive", func() iter.Seq2[store.Message, error] {
		return g.store.Receive(ctx, process, behind)
	})
}

type guardedTasks struct {
	apart Apart
	store store.Tasks
}

func (g guardedTasks) Load(ctx context.Context, id string) (r *store.Task, err error) {
	err = g.apart.asked(ctx, "store.Tasks.Load", &err, func() { r, err = g.store.Load(ctx, id) })
	return r, err
}

func (g guardedTasks) Save(ctx context.Context, r *store.Task) (err error) {
	return g.apart.asked(ctx, "store.Tasks.Save", &err, func() { err = g.store.Save(ctx, r) })
}

func (g guardedTasks) List(ctx context.Context, principal string, behind store.TaskPlace,
	limit int) (found []*store.Task, err error) {
	err = g.apart.asked(ctx, "store.Tasks.List", &err, func() { found, err = g.store.List(ctx, principal, behind, limit) })
	return found, err
}

func (g guardedTasks) Watch(ctx context.Context, changed func(id string, revision int64)) (stop func(), err error) {
	var end func()
	err = g.apart.asked(ctx, "store.Tasks.Watch", &err, func() { end, err = g.store.Watch(ctx, changed) })
	if err != nil {
		return nil, err
	}
	return func() { _ = g.apart(context.Background(), "store.Tasks.Watch", end) }, nil // reported by apart
}

// asked calls ask, which assigns the store's error to err. asked returns that error, or the failure of ask.
func (a Apart) asked(ctx context.Context, name string, err *error, ask func()) error {
	if failed := a(ctx, name, ask); failed != nil {
		return failed
	}
	return *err
}

// guardedSeq wraps the sequence that a store returns. If the store fails, the sequence ends with an error. The body of
// a loop over the sequence runs in the goroutine of the store.
func guardedSeq[T any](ctx context.Context, apart Apart, name string, ask func() iter.Seq2[T, error]) iter.Seq2[T,
	error] {
	return func(yield func(T, error) bool) {
		left := false
		failed := apart(ctx, name, func() {
			for v, err := range ask() {
				if left = !yield(v, err); left {
					return
				}
			}
		})
		if failed != nil && !left {
			var none T
			yield(none, failed)
		}
	}
}
