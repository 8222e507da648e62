package store

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// Tasks stores tasks for one process, or for all processes that serve the same clients. [NewMemoryTasks] returns a
// store for one process, and package redisstore has a store for several processes. Package storetest has the
// conformance tests. A Tasks must be safe for concurrent use.
//
// The receiver of a record may change the record itself. Neither the store nor its caller may change the maps and
// bytes to which a record refers, because both sides may share them.
type Tasks interface {
	// Load returns the task with that id. It returns [ErrNoTask] if the task does not exist or has expired.
	Load(ctx context.Context, id string) (*Task, error)

	// Save atomically replaces the previous revision of a task by r. If several callers save the same revision, one of
	// them succeeds. Revision 1 is a new task. Save returns [ErrConflict] if the stored revision is not the one before r,
	// or if a new task already exists. It returns [ErrNoTask] if there is no task to replace or the task has expired, and
	// [ErrFull] if the store is full. After Save has returned nil, Load returns r in every process.
	//
	// The store keeps the task until r.Expires, and no longer.
	Save(ctx context.Context, r *Task) error

	// List returns the stored tasks of a principal after the place behind, ordered by place, and at most limit tasks.
	// Fewer than limit tasks mean that no more follow. principal is not empty. The records may lack Requests,
	// Responses, Result and Error. List may miss a task that another call saves for the first time during List.
	List(ctx context.Context, principal string, behind TaskPlace, limit int) ([]*Task, error)

	// Watch calls changed for each revision that any process saves from now on, until the caller calls stop. ctx bounds
	// only the call of Watch itself. changed does not wait; the store may call it concurrently. Watch may miss changes,
	// for example while a connection is broken; the server then reacts later and loses nothing. After stop has returned,
	// the store calls changed no more.
	Watch(ctx context.Context, changed func(id string, revision int64)) (stop func(), err error)
}

// Task is the complete record of a task. Encoding to JSON (encoding/json) loses nothing.
type Task struct {
	ID       string `json:"id"`
	Revision int64  `json:"revision"` // number of saved revisions, from 1
	Change   int64  `json:"change"`   // number of changes that clients can see

	Principal string      `json:"principal,omitzero"` // owner of the task; empty if everyone who knows the id may see it
	Version   mcp.Version `json:"version"`            // protocol version of the request that created the task
	Method    string      `json:"method"`             // method of the request that became the task
	Target    string      `json:"target,omitzero"`    // target of that request: the name of the tool

	Status  mcp.TaskStatus `json:"status"`
	Message string         `json:"message,omitzero"` // about the status, for people
	Created time.Time      `json:"created"`
	Updated time.Time      `json:"updated"`          // time of the latest change that clients can see
	Expires time.Time      `json:"expires,omitzero"` // zero for never

	Requests  mcp.InputRequests  `json:"requests,omitzero"`  // open requests to the client
	Responses mcp.InputResponses `json:"responses,omitzero"` // responses that the handler has not read yet
	Asked     int64              `json:"asked,omitzero"`     // number of requests so far

	// Result is the result of a completed task, or of a failed task of 2025-11-25, as JSON of the Version.
	Result json.RawMessage `json:"result,omitzero"`
	Error  *mcp.Error      `json:"error,omitzero"` // error of any other failed task; else nil

	CancelRequested bool      `json:"cancelRequested,omitzero"` // the client has requested cancellation
	Owner           string    `json:"owner,omitzero"`           // the server that runs the handler
	Lease           time.Time `json:"lease,omitzero"`           // the owner counts as dead after this time
}

// TaskPlace is the position of a task in a list. Places are ordered by creation time, then by id, byte for byte. The
// zero value is before all tasks.
type TaskPlace struct {
	Created int64 // in ms since 1970, not negative
	ID      string
}

// Place returns the position of the task in a list. The position never changes.
func (r *Task) Place() TaskPlace { return TaskPlace{max(0, r.Created.UnixMilli()), r.ID} }

// Compare returns a negative number if p is before q, a positive number if p is after q, and otherwise 0.
func (p TaskPlace) Compare(q TaskPlace) int {
	return cmp.Or(cmp.Compare(p.Created, q.Created), strings.Compare(p.ID, q.ID))
}

// Expired reports whether the task has expired.
func (r *Task) Expired(now time.Time) bool {
	return !r.Expires.IsZero() && !now.Before(r.Expires)
}

// Weight returns the approximate size, in bytes, of the parts of a task that the client or the handler controls.
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

// TaskSlack is the number of bytes by which a task may grow in a full store, so that the task can fail with an error.
const TaskSlack = 1 << 10
