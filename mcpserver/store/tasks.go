package store

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// Tasks keeps tasks: for one process, or for all that serve the same clients. [NewMemoryTasks] returns one for one
// process; package redisstore has one for many. The tests in package storetest say what a store must do. Its methods
// may be called from any goroutine.
//
// A record that is handed over or returned is the receiver's to change, but neither side changes what it refers to:
// maps and bytes may be shared.
type Tasks interface {
	// Load returns the task called id, and [ErrNoTask] if there is none or its time is up.
	Load(ctx context.Context, id string) (*Task, error)

	// Save keeps r in place of the revision before it, atomically: of several callers that have made the same revision,
	// one succeeds. Revision 1 is a new task. It returns [ErrConflict] if the store has another revision than the one
	// before r, or any at all if r is new; [ErrNoTask] if it has no task to be replaced, or its time is up; and
	// [ErrFull] if there is no room. When it returns nil, Load finds r, in whatever process.
	//
	// The task is kept until r.Expires, and no longer.
	Save(ctx context.Context, r *Task) error

	// List returns what Load would find of a principal's tasks: at most limit of those behind a place, in the order of
	// their places. Fewer are the last. The principal is not empty. The records may lack Requests, Responses, Result and
	// Error. A task that is saved for the first time meanwhile may be missing.
	List(ctx context.Context, principal string, behind TaskPlace, limit int) ([]*Task, error)

	// Watch sees to it that changed is called with each revision that is saved from now on, by this process or another,
	// until stop is called; ctx bounds the beginning only. changed may be called from several goroutines and does not
	// wait. A call that is missed, such as while a connection is broken, delays what follows from the change and loses
	// nothing. When stop returns, changed is not called any more.
	Watch(ctx context.Context, changed func(id string, revision int64)) (stop func(), err error)
}

// Task is all that is kept of a task. Its JSON, in the way of encoding/json, says everything.
type Task struct {
	ID       string `json:"id"`
	Revision int64  `json:"revision"` // counts what was saved, from 1
	Change   int64  `json:"change"`   // counts what of that clients can see

	Principal string      `json:"principal,omitzero"` // who alone may see it; empty if everyone may who knows the id
	Version   mcp.Version `json:"version"`            // of the protocol, that the task was created by
	Method    string      `json:"method"`             // of the request that became the task
	Target    string      `json:"target,omitzero"`    // what that was about: the name of the tool

	Status  mcp.TaskStatus `json:"status"`
	Message string         `json:"message,omitzero"` // about the status, for people
	Created time.Time      `json:"created"`
	Updated time.Time      `json:"updated"`          // the latest change that clients can see
	Expires time.Time      `json:"expires,omitzero"` // zero for never

	Requests  mcp.InputRequests  `json:"requests,omitzero"`  // that are open
	Responses mcp.InputResponses `json:"responses,omitzero"` // to those that were, until the handler has them
	Asked     int64              `json:"asked,omitzero"`     // how many requests there have been

	// when completed, or failed with a result of 2025-11-25, as JSON of the Version
	Result json.RawMessage `json:"result,omitzero"`
	Error  *mcp.Error      `json:"error,omitzero"` // when failed otherwise

	CancelRequested bool      `json:"cancelRequested,omitzero"` // by the client
	Owner           string    `json:"owner,omitzero"`           // the server that runs the handler
	Lease           time.Time `json:"lease,omitzero"`           // when the owner counts as gone, unless it says otherwise
}

// TaskPlace is where a task stands in a list: by the time of its creation, then by its id, byte for byte. The zero
// value is in front of all.
type TaskPlace struct {
	Created int64 // in ms since 1970, not negative
	ID      string
}

// Place returns where the task stands in a list. It never changes.
func (r *Task) Place() TaskPlace { return TaskPlace{max(0, r.Created.UnixMilli()), r.ID} }

// Compare returns a negative number if p is in front of q, and a positive one if it is behind.
func (p TaskPlace) Compare(q TaskPlace) int {
	return cmp.Or(cmp.Compare(p.Created, q.Created), strings.Compare(p.ID, q.ID))
}

// Expired reports whether the time of the task is up.
func (r *Task) Expired(now time.Time) bool {
	return !r.Expires.IsZero() && !now.Before(r.Expires)
}

// Weight returns about how many bytes a task takes that the client or the handler has chosen.
func (r *Task) Weight() int {
	n := len(r.ID) + len(r.Principal) + len(r.Target) + len(r.Message) + len(r.Result)
	for key, request := range r.Requests {
		n += len(key) + len(request.Method) + len(request.Params)
	}
	for key, response := range r.Responses {
		n += len(key) + len(response)
	}
	if r.Error != nil {
		n += len(r.Error.Message) + len(r.Error.Data)
	}
	return n
}

// TaskSlack is how many bytes a task that is there may grow even if the store is full: it must be possible to say that
// it has failed.
const TaskSlack = 1 << 10
