package upstream

import (
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// wishes holds the requests that want notifications before their answers. It finds the request that a notification
// belongs to, on a stream that all requests share.
type wishes struct {
	shared bool // several peers without sessions share the server

	mu         sync.Mutex
	progress   map[jsonrpc.ID]*request // guarded by mu; by the token that the server has received
	logs       map[*request]struct{}   // guarded by mu; requests that want log messages, in modern revisions
	replaced   uint64                  // guarded by mu; number of replaced tokens
	unanswered *conn.Session           // guarded by mu; latest session in which a request in logs ended without an answer
}

// maxToken bounds the size of a progress token, in bytes. Longer tokens are not tracked.
const maxToken = 1 << 10

// enter adds a request that is about to be sent. It may replace the request's progress token: several peers in front
// may choose the same token, and the server may still report progress of an ended request.
func (w *wishes) enter(q *request) {
	token, logs := q.params.Asks()
	text, _ := token.Text()
	if len(text) > maxToken {
		token = jsonrpc.ID{}
	}
	if token.IsZero() && !logs {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if logs {
		if w.logs == nil {
			w.logs = map[*request]struct{}{}
		}
		w.logs[q] = struct{}{}
	}
	if token.IsZero() {
		return
	}
	q.token = token
	for again := w.shared; again || w.progress[q.token] != nil; again = false {
		w.replaced++
		q.token = jsonrpc.StringID(fmt.Sprint("progress-", w.replaced))
	}
	if q.token != token {
		q.params.Replace(q.token)
	}
	if q.given.IsZero() {
		q.given = token
	}
	if w.progress == nil {
		w.progress = map[jsonrpc.ID]*request{}
	}
	w.progress[q.token] = q
}

// leave removes a request. If the request was not answered, the server may still send notifications that belong to the
// request but do not name it.
func (w *wishes) leave(q *request, answered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, logs := w.logs[q]; logs && !answered && (w.unanswered == nil || q.Session.Epoch > w.unanswered.Epoch) {
		w.unanswered = q.Session
	}
	delete(w.logs, q)
	if !q.token.IsZero() {
		delete(w.progress, q.token)
	}
}

// origin returns the request that a notification belongs to. It returns nil if the request is unknown.
func (c *Server) origin(r *conn.Reader, m *jsonrpc.Message, p *jsonrpc.Params) *request {
	if q, ok := r.Request().(*request); ok {
		return q
	}
	if p.SubscriptionID != nil {
		return c.restored.of(p.SubscriptionID)
	}
	w := &c.wishes
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case m.Method == mcp.NotificationProgress:
		raw, _ := mcp.Object(m.Middle()).Lookup(progressToken)
		token, _ := jsonrpc.ParseID(raw)
		return w.progress[token]
	case m.Method == mcp.NotificationMessage && len(w.logs) == 1 && (w.unanswered == nil || w.unanswered != r.Session):
		// With several requests, the notification may belong to any of them.
		for q := range w.logs {
			return q
		}
	}
	return nil
}

const progressToken = "progressToken"

// withToken returns params of notifications/progress with the token that the peer in front has chosen.
func (q *request) withToken(params []byte) []byte {
	if q.token == q.given {
		return params
	}
	for o := jsonscan.ObjectAt(params, 0); o.Next(); {
		if string(o.Key()) == progressToken {
			return spliced(params, o.At(), len(o.Raw()), q.given.AppendJSON(nil))
		}
	}
	return params
}
