package simulation

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// reach is the access of one process to the shared stores. While it is cut, each use of a store fails.
type reach struct {
	sessions store.Sessions
	events   store.SharedEvents
	tasks    store.Tasks

	mu  sync.Mutex
	cut chan struct{} // guarded by mu; closed while the process is cut off
}

func newReach(s stores) *reach {
	return &reach{sessions: s.sessions, events: s.events, tasks: s.tasks, cut: make(chan struct{})}
}

var errCutOff = errors.New("the process is cut off from its store")

// setCut cuts or restores the access.
func (r *reach) setCut(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cut {
		close(r.cut)
	} else {
		r.cut = make(chan struct{})
	}
}

// isCut returns a channel that is closed while the process is cut off.
func (r *reach) isCut() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cut
}

// err returns an error while the access is cut.
func (r *reach) err() error {
	select {
	case <-r.isCut():
		return errCutOff
	default:
		return nil
	}
}

// reading forwards the results of follow until the access is cut. It then ends with an error.
func reading[T any](ctx context.Context, r *reach,
	follow func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err := r.err(); err != nil {
			yield(none, err)
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		cut, done := r.isCut(), make(chan struct{})
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			select {
			case <-cut:
				cancel(errCutOff)
			case <-done:
			}
		}()
		defer func() { close(done); <-watched }()
		for v, err := range follow(ctx) {
			if !yield(v, err) {
				return
			}
		}
		if context.Cause(ctx) == errCutOff {
			yield(none, errCutOff)
		}
	}
}

// The stores as seen by one process.
type (
	reachedSessions struct{ *reach }
	reachedEvents   struct{ *reach }
	reachedTasks    struct{ *reach }
)

func (r reachedSessions) Create(ctx context.Context, id string, record []byte, ttl time.Duration) error {
	if err := r.err(); err != nil {
		return err
	}
	return r.sessions.Create(ctx, id, record, ttl)
}

func (r reachedSessions) Use(ctx context.Context, id string, known int64, ttl time.Duration) ([]byte, int64, error) {
	if err := r.err(); err != nil {
		return nil, 0, err
	}
	return r.sessions.Use(ctx, id, known, ttl)
}

func (r reachedSessions) Replace(ctx context.Context, id string, record []byte, revision int64) error {
	if err := r.err(); err != nil {
		return err
	}
	return r.sessions.Replace(ctx, id, record, revision)
}

func (r reachedSessions) Delete(ctx context.Context, id string, unused time.Duration) (bool, error) {
	if err := r.err(); err != nil {
		return false, err
	}
	return r.sessions.Delete(ctx, id, unused)
}

func (r reachedSessions) Beat(ctx context.Context, process string, ttl time.Duration) error {
	if err := r.err(); err != nil {
		return err
	}
	return r.sessions.Beat(ctx, process, ttl)
}

func (r reachedSessions) Alive(ctx context.Context, process string) (bool, error) {
	if err := r.err(); err != nil {
		return false, err
	}
	return r.sessions.Alive(ctx, process)
}

func (r reachedSessions) Publish(ctx context.Context, process string, message []byte) error {
	if err := r.err(); err != nil {
		return err
	}
	return r.sessions.Publish(ctx, process, message)
}

func (r reachedSessions) Receive(ctx context.Context, process string, behind int64) iter.Seq2[store.Message, error] {
	return reading(ctx, r.reach, func(ctx context.Context) iter.Seq2[store.Message, error] {
		return r.sessions.Receive(ctx, process, behind)
	})
}

func (r reachedEvents) Append(ctx context.Context, session string, e store.Event) error {
	if err := r.err(); err != nil {
		return err
	}
	return r.events.Append(ctx, session, e)
}

func (r reachedEvents) Behind(ctx context.Context, session string, id store.EventID) iter.Seq2[store.Event, error] {
	return reading(ctx, r.reach, func(ctx context.Context) iter.Seq2[store.Event, error] {
		return r.events.Behind(ctx, session, id)
	})
}

func (r reachedEvents) Forget(session string) {
	if r.err() == nil {
		r.events.Forget(session)
	}
}

func (r reachedEvents) Open(ctx context.Context, session string, note []byte) (int64, error) {
	if err := r.err(); err != nil {
		return 0, err
	}
	return r.events.Open(ctx, session, note)
}

func (r reachedEvents) Note(ctx context.Context, session string, stream int64) ([]byte, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.events.Note(ctx, session, stream)
}

func (r reachedEvents) Latest(ctx context.Context, session string) (int64, error) {
	if err := r.err(); err != nil {
		return 0, err
	}
	return r.events.Latest(ctx, session)
}

func (r reachedEvents) Follow(ctx context.Context, session string, id store.EventID) iter.Seq2[store.Event, error] {
	return reading(ctx, r.reach, func(ctx context.Context) iter.Seq2[store.Event, error] {
		return r.events.Follow(ctx, session, id)
	})
}

func (r reachedTasks) Load(ctx context.Context, id string) (*store.Task, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.tasks.Load(ctx, id)
}

func (r reachedTasks) Save(ctx context.Context, t *store.Task) error {
	if err := r.err(); err != nil {
		return err
	}
	return r.tasks.Save(ctx, t)
}

func (r reachedTasks) List(ctx context.Context, principal string, behind store.TaskPlace, limit int) ([]*store.Task,
	error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.tasks.List(ctx, principal, behind, limit)
}

func (r reachedTasks) Watch(ctx context.Context, changed func(id string, revision int64)) (func(), error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.tasks.Watch(ctx, changed)
}
