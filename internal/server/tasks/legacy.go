package tasks

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// The files legacy.go, news.go and wait.go implement the tasks of 2025-11-25. A client requests such a task in the
// call. Handlers and records are the same as for the extension. (specification 2025-11-25, basic/utilities/tasks)

// Legacy is a request of a client of 2025-11-25 for a task, together with what the session knows about the task.
type Legacy struct {
	TTL      *int64          // requested lifetime of the task in ms; nil if the client does not request one
	Token    jsonrpc.ID      // progress token; zero for none
	Answered context.Context // ends when the client has received the answer to the call
	Session  Session         // nil for a client without a session

	meta mcp.Meta // _meta of all messages about the task

	introduced bool     // guarded by Run.mu; the client has received the task's id
	change     int64    // guarded by Run.mu; the latest known change of the task
	told       int64    // guarded by Run.mu; the latest change that the session was notified of
	progress   progress // guarded by Run.mu
}

// initLegacy prepares the run for a task of 2025-11-25, which is created immediately.
func (r *Run) initLegacy() error {
	meta, err := mcp.Meta(nil).With(mcp.MetaRelatedTask, mcp.RelatedTask{TaskID: r.id})
	if err != nil {
		return err
	}
	l := r.Legacy
	l.meta, l.change, l.told = meta, 1, 1
	l.progress.last = math.Inf(-1)
	r.Waits, r.After = false, 0
	r.TTL = legacyTTL(l.TTL, r.TTL, r.Keeper.Options.PollInterval)
	context.AfterFunc(l.Answered, r.introduce)
	return nil
}

// legacyTTL returns the lifetime of a task. asked is the requested lifetime in ms, or nil. most is the server's
// maximum; zero means no maximum. The result is not below least, so that the client can see the task, but never above
// most.
func legacyTTL(asked *int64, most, least time.Duration) time.Duration {
	if asked == nil {
		return most
	}
	limit := most
	if most == 0 {
		limit = math.MaxInt64
	}
	ms := min(*asked, int64(limit/time.Millisecond))
	return min(max(time.Duration(ms)*time.Millisecond, least), limit)
}

// Meta returns the _meta of messages about a task of 2025-11-25.
func (r *Run) Meta() mcp.Meta { return r.Legacy.meta }

// related adds the related-task metadata of a task of 2025-11-25 to a result.
// (specification 2025-11-25, basic/utilities/tasks, "Related Task Metadata")
func (r *Run) related(answer *mcp.CallToolResult) (*mcp.CallToolResult, error) {
	if r.Legacy == nil {
		return answer, nil
	}
	meta, err := r.Legacy.relate(answer.Meta)
	if err != nil {
		return nil, err
	}
	answer = new(*answer)
	answer.Meta = meta
	return answer, nil
}

// relate adds the related-task metadata to a _meta.
func (l *Legacy) relate(meta mcp.Meta) (mcp.Meta, error) {
	task, _ := l.meta.Lookup(mcp.MetaRelatedTask)
	return meta.With(mcp.MetaRelatedTask, task)
}

// relateParams adds the related-task metadata to the params of a request. params may be nil.
func (l *Legacy) relateParams(params json.RawMessage) (json.RawMessage, error) {
	var meta mcp.Meta
	if own, ok := mcp.Object(params).Lookup("_meta"); ok {
		meta = mcp.Meta(own)
	}
	meta, err := l.relate(meta)
	if err != nil {
		return nil, err
	}
	with, err := mcp.Object(params).With("_meta", json.RawMessage(meta))
	return json.RawMessage(with), err
}

// Related returns the _meta for notifications about a request of the server. It is the related-task metadata in the
// request's params, or nil.
func Related(params json.RawMessage) mcp.Meta {
	meta, _ := mcp.Object(params).Lookup("_meta")
	task, ok := mcp.Object(meta).Lookup(mcp.MetaRelatedTask)
	if !ok {
		return nil
	}
	related, _ := mcp.Meta(nil).With(mcp.MetaRelatedTask, task) // no error: task was parsed from valid JSON
	return related
}

// settleLegacy marks a task as failed if its tool reports a failure. The result of the task is still the tool's result.
// (specification 2025-11-25, basic/utilities/tasks, "Task Execution Errors")
func (r *Run) settleLegacy(t *store.Task, answer *mcp.CallToolResult) {
	if r.Legacy == nil || answer == nil || !answer.IsError || t.Status != mcp.TaskCompleted {
		return
	}
	t.Status, t.Message = mcp.TaskFailed, shortened(answer.Text())
}

// maxStatusMessage limits the excerpt of a failed result that becomes the status message, in bytes.
const maxStatusMessage = 1 << 10

func shortened(s string) string {
	if len(s) <= maxStatusMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxStatusMessage], "") + "…"
}
