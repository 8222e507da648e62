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

// The files legacy.go, news.go and wait.go make the tasks of clients of 2025-11-25, which ask for each with the call.
// Handlers and records are those of the extension.
// (specification 2025-11-25, basic/utilities/tasks)

// Legacy is the wish of a client of 2025-11-25 for a task, and what the session of the client knows of the task.
type Legacy struct {
	TTL      *int64          // how long the client wants the task to be kept, in ms; nil if it does not matter
	Token    jsonrpc.ID      // of progress notifications; zero for none
	Answered context.Context // ends when the client has the answer to the call
	Session  Session         // nil for a client without a session

	meta mcp.Meta // of all messages about the task

	introduced bool     // guarded by Run.mu; the client knows the task
	change     int64    // guarded by Run.mu; the latest known change of the task
	told       int64    // guarded by Run.mu; the latest change of which the session is notified
	progress   progress // guarded by Run.mu
}

// initLegacy makes the run that of a task of 2025-11-25, which begins at once.
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

// legacyTTL returns how long a task is kept whose client has asked for some milliseconds, nil for any time: not longer
// than the server keeps it, zero standing for ever, and not so short that the client would never see it.
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

// Meta returns the _meta of all messages about a task of 2025-11-25.
func (r *Run) Meta() mcp.Meta { return r.Legacy.meta }

// related returns a result whose _meta has the task of 2025-11-25.
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

// relate adds the task to a _meta.
func (l *Legacy) relate(meta mcp.Meta) (mcp.Meta, error) {
	task, _ := l.meta.Lookup(mcp.MetaRelatedTask)
	return meta.With(mcp.MetaRelatedTask, task)
}

// relateParams adds the task to the params of a request, nil for none.
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

// Related returns the _meta for notifications about a request of the server: the task of 2025-11-25 in the params of
// the request, if there is one.
func Related(params json.RawMessage) mcp.Meta {
	meta, _ := mcp.Object(params).Lookup("_meta")
	task, ok := mcp.Object(meta).Lookup(mcp.MetaRelatedTask)
	if !ok {
		return nil
	}
	related, _ := mcp.Meta(nil).With(mcp.MetaRelatedTask, task) // which has been read
	return related
}

// settleLegacy makes a task fail whose tool reports a failure. The result of the tool is still the result of the task.
// (specification 2025-11-25, basic/utilities/tasks, "Task Execution Errors")
func (r *Run) settleLegacy(t *store.Task, answer *mcp.CallToolResult) {
	if r.Legacy == nil || answer == nil || !answer.IsError || t.Status != mcp.TaskCompleted {
		return
	}
	t.Status, t.Message = mcp.TaskFailed, shortened(answer.Text())
}

// maxStatusMessage bounds the part of a failed result that becomes a status message, in bytes.
const maxStatusMessage = 1 << 10

func shortened(s string) string {
	if len(s) <= maxStatusMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxStatusMessage], "") + "…"
}
