package tasks

import (
	"context"
	"encoding/json"
	"math"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// introduce records that the client has received the task's id. From now on the session gets status notifications about
// the task.
func (r *Run) introduce() {
	r.mu.Lock()
	r.Legacy.introduced = true
	r.mu.Unlock()
	r.notifyStatus()
}

// news notifies the session of a 2025-11-25 client that the task has a new revision.
// (specification 2025-11-25, basic/utilities/tasks, "Task Status Notification")
func (r *Run) news(t *store.Task) {
	if r.Legacy == nil {
		return
	}
	r.mu.Lock()
	r.Legacy.change = max(r.Legacy.change, t.Change)
	r.mu.Unlock()
	r.notifyStatus()
}

// notifyStatus notifies the session, unless the session already knows the latest change. It does not wait.
func (r *Run) notifyStatus() {
	r.mu.Lock()
	l := r.Legacy
	fresh := l.introduced && l.told < l.change
	if fresh {
		l.told = l.change
	}
	r.mu.Unlock()
	if fresh {
		r.notify(mcp.NotificationLegacyTaskStatus)
	}
}

func (r *Run) notify(method string) {
	if r.Legacy.Session != nil {
		r.Legacy.Session.NotifyTask(method, r.id)
	}
}

// LegacyStatus returns the params of notifications/tasks/status for the state of a task.
func (k *Keeper) LegacyStatus(ctx context.Context, id string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	t, err := k.load(ctx, id)
	if err != nil {
		return nil, err
	}
	return mcp.AppendParams(nil, &mcp.LegacyTaskStatusParams{LegacyTask: k.showLegacy(t)})
}

// progress is the latest progress report of a handler.
type progress struct {
	last, total float64
	message     string
	due         bool // the client has not been notified yet
}

// report records progress. If the client has asked for progress, report notifies the session; the notification has the
// latest progress at the time of sending. (specification 2025-11-25, basic/utilities/tasks, "Task Progress
// Notifications")
func (r *Run) report(value, total float64, message string) {
	if r.Legacy == nil || r.Legacy.Token.IsZero() {
		return
	}
	r.mu.Lock()
	p := &r.Legacy.progress
	grown := value > p.last && !math.IsInf(value, 1)
	if grown {
		*p = progress{value, total, message, true}
	}
	r.mu.Unlock()
	if grown {
		r.notify(mcp.NotificationProgress)
	}
}

// Progress is the content of a progress notification of a task.
type Progress struct {
	Version mcp.Version // revision of the client
	Meta    mcp.Meta
	Token   jsonrpc.ID

	Value, Total float64 // Total is zero or negative if it is unknown
	Message      string
}

// DueProgress returns progress that the client has not been notified of. It reports false if there is none, or if the
// task has ended.
func (k *Keeper) DueProgress(id string) (Progress, bool) {
	r := k.run(id)
	if r == nil {
		return Progress{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.Legacy
	p := l.progress
	l.progress.due = false
	due := p.due && !r.still && !r.record.Status.Terminal()
	return Progress{r.Client.Version, l.meta, l.Token, p.last, p.total, p.message}, due
}
