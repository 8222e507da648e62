package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// TaskStore keeps tasks: for one process, or for all that serve the same clients. Package taskstoretest has the tests that
// a store of one's own must pass. Its methods may be called from any goroutine.
//
// A record that is handed over or returned is the receiver's to change, but nobody changes what it refers to: maps and
// bytes may be shared.
type TaskStore interface {
	// Load returns the task called id, and [ErrTaskNotFound] if there is none or its time is up.
	Load(ctx context.Context, id string) (*TaskRecord, error)

	// Save keeps r in place of the revision before it, atomically: of several callers that have made the same revision,
	// one succeeds. Revision 1 is a new task. It returns [ErrTaskConflict] if the store has another revision than the one
	// before r, or any at all if r is new; [ErrTaskNotFound] if it has no task to be replaced, or its time is up; and
	// [ErrTaskStoreFull] if there is no room. When it returns nil, Load finds r, in whatever process.
	//
	// The task is kept until r.Expires, and no longer.
	Save(ctx context.Context, r *TaskRecord) error

	// List returns what Load would find of a principal's tasks: at most limit of those behind a place, in the order of their
	// places. Fewer are the last. The principal is not empty. The records may lack Requests, Responses, Result and Error. A task that is saved for the
	// first time meanwhile may be missing.
	List(ctx context.Context, principal string, behind TaskPlace, limit int) ([]*TaskRecord, error)

	// Watch sees to it that changed is called with each revision that is saved from now on, by this process or another,
	// until stop is called; ctx bounds the beginning only. changed may be called from several goroutines and does not
	// wait. A call that is missed, such as while a connection is broken, delays what follows from the change and loses
	// nothing. When stop returns, changed is not called any more.
	Watch(ctx context.Context, changed func(id string, revision int64)) (stop func(), err error)
}

// Errors of a [TaskStore], for [errors.Is].
var (
	ErrTaskNotFound  = errors.New("no such task")
	ErrTaskConflict  = errors.New("the task has changed meanwhile")
	ErrTaskStoreFull = errors.New("no room for another task")
)

// TaskRecord is all that is kept of a task. Its JSON, in the way of encoding/json, says everything.
type TaskRecord struct {
	ID       string `json:"id"`
	Revision int64  `json:"revision"` // counts what was saved, from 1
	Change   int64  `json:"change"`   // counts what of that clients can see

	Principal string      `json:"principal,omitzero"` // who alone may see it; empty for whoever knows the id
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

	Result json.RawMessage `json:"result,omitzero"` // when completed, or failed with a result of 2025-11-25, as JSON of the Version
	Error  *mcp.Error      `json:"error,omitzero"`  // when failed otherwise

	CancelRequested bool      `json:"cancelRequested,omitzero"` // by the client
	Owner           string    `json:"owner,omitzero"`           // the server that runs the handler
	Lease           time.Time `json:"lease,omitzero"`           // when the owner counts as gone, unless it says otherwise
}

// TaskPlace is where a task stands in a list: by the time of its creation, then by its id, byte for byte. The zero value is in
// front of all.
type TaskPlace struct {
	Created int64 // in ms since 1970, not negative
	ID      string
}

// Place returns where the task stands in a list. It never changes.
func (r *TaskRecord) Place() TaskPlace { return TaskPlace{max(0, r.Created.UnixMilli()), r.ID} }

// Compare returns a negative number if p is in front of q, and a positive one if it is behind.
func (p TaskPlace) Compare(q TaskPlace) int {
	return cmp.Or(cmp.Compare(p.Created, q.Created), strings.Compare(p.ID, q.ID))
}

// Expired reports whether the time of the task is up.
func (r *TaskRecord) Expired(now time.Time) bool {
	return !r.Expires.IsZero() && !now.Before(r.Expires)
}

// orphaned reports whether the one who should finish the task is gone.
func (r *TaskRecord) orphaned(now time.Time) bool { return !r.Status.Terminal() && now.After(r.Lease) }

// settle makes the status a final one.
func (r *TaskRecord) settle(status mcp.TaskStatus, message string, now time.Time) {
	r.Requests, r.Responses, r.Lease = nil, nil, time.Time{}
	r.become(status, now)
	r.Message = message
}

// become changes the status, or what belongs to it.
func (r *TaskRecord) become(status mcp.TaskStatus, now time.Time) {
	r.Status, r.Updated = status, now
	r.Change++
}

// fail ends a task whose request has failed.
// (tasks extension, "Task Execution Errors")
func (r *TaskRecord) fail(e *mcp.Error, now time.Time) {
	r.settle(mcp.TaskFailed, e.Message, now)
	r.Error = e
}

// abandon ends a task that nobody works on any more.
func (r *TaskRecord) abandon(e *mcp.Error, now time.Time) {
	if r.CancelRequested {
		r.settle(mcp.TaskCancelled, "", now)
		return
	}
	r.fail(e, now)
}
