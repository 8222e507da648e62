package mcpserver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/mcp"
)

// What one session, or one subscription of a modern client, may watch at most.
const (
	maxWatched      = 1024      // URIs
	maxWatchedBytes = 256 << 10 // in all of them together
)

const (
	// maxWatchedAlone bounds the memory for watched URIs on a connection that is not over HTTP, in bytes.
	maxWatchedAlone = 16 << 20
	// watchCost is about how many bytes of memory a watched URI takes besides its text.
	watchCost = 128
)

// ResourceUpdated tells the clients that watch the resource with this URI that it should be read again: those that have
// subscribed to it by resources/subscribe in a session, and modern ones that named it in subscriptions/listen. Updates
// within 10 ms are told once, and a client that takes nothing meanwhile hears of each of its resources once.
//
// All notifications of an update are one trace, below one span. With a shared store, each process with subscribers has
// one such trace.
//
// It does not wait, and may be called from any goroutine. The server need not have the resource any more. Who watches a
// directory, say, is told by its URI, not by that of a file in it.
// (specification 2026-07-28, server/resources, "Subscriptions")
func (s *Server) ResourceUpdated(uri string) {
	if uri != "" {
		s.changed(notice{mcp.NotificationResourceUpdated, uri})
	}
}

// watchlist are the URIs of the resources that a client watches. It is safe for concurrent use, and nil is empty.
type watchlist struct {
	mu     sync.Mutex
	uris   map[string]struct{} // guarded by mu
	bytes  int                 // guarded by mu; in all URIs together
	closed bool                // guarded by mu; nothing is added any more
	room   *quota.Memory       // guarded by mu; nil for as much as there is
	who    quota.Account       // guarded by mu; that takes of it
	taken  int                 // guarded by mu; of room
}

// join makes an account take the memory for the list of a room.
func (w *watchlist) join(room *quota.Memory, who quota.Account) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.room, w.who = room, who
}

// reserve takes so many bytes of the room, and reports whether they were there.
func (w *watchlist) reserve(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(n)
}

// take is reserve; mu is held.
func (w *watchlist) take(n int) bool {
	switch {
	case w.room == nil:
		return true
	case !w.room.Reserve(w.who, n):
		return false
	}
	w.taken += n
	return true
}

// release gives back all that was taken of the room, and takes nothing more.
func (w *watchlist) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.room != nil {
		w.room.Change(w.who, -w.taken)
		w.room, w.taken = nil, 0
	}
}

// add reports false if there are too many, or if the list is closed. A URI that is there already is no other one.
func (w *watchlist) add(uri string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, there := w.uris[uri]; there {
		return true
	}
	if w.closed || len(w.uris) >= maxWatched || w.bytes+len(uri) > maxWatchedBytes || !w.take(len(uri)+watchCost) {
		return false
	}
	if w.uris == nil {
		w.uris = map[string]struct{}{}
	}
	w.uris[strings.Clone(uri)] = struct{}{} // it may lie in a large frame
	w.bytes += len(uri)
	return true
}

// remove reports whether the URI was there.
func (w *watchlist) remove(uri string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, there := w.uris[uri]
	if there {
		delete(w.uris, uri)
		w.bytes -= len(uri)
		if w.room != nil {
			w.room.Change(w.who, -len(uri)-watchCost)
			w.taken -= len(uri) + watchCost
		}
	}
	return there
}

func (w *watchlist) has(uri string) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, there := w.uris[uri]
	return there
}

// replace makes the list one of these URIs, for which another process had room.
func (w *watchlist) replace(uris []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris, w.bytes = make(map[string]struct{}, len(uris)), 0
	for _, uri := range uris {
		w.uris[uri] = struct{}{}
		w.bytes += len(uri)
	}
	if w.room != nil {
		takes := w.bytes + len(uris)*watchCost
		w.room.Change(w.who, takes-w.taken)
		w.taken = takes
	}
}

// close lets nothing be added any more.
func (w *watchlist) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// snapshot returns what is on the list, sorted. With add, it can be restored.
func (w *watchlist) snapshot() []string {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	uris := make([]string, 0, len(w.uris))
	for uri := range w.uris {
		uris = append(uris, uri)
	}
	slices.Sort(uris)
	return uris
}

// watch has a client watch a resource, if that exists.
func (r *resources) watch(ctx context.Context, w *watchlist, uri string) error {
	if h := r.subscriber.Load(); h != nil {
		if err := (*h).SubscribeResource(ctx, uri); err != nil {
			return err
		}
	} else if _, ok := r.locate(uri); !ok {
		return ResourceNotFound(uri)
	}
	if !w.add(uri) {
		_ = r.unwatch(ctx, uri) // the limit is the reason
		return refusal(mcp.CodeInternalError, "too many subscriptions at once")
	}
	return nil
}

// unwatch tells the handler that a client does not watch a resource any more.
func (r *resources) unwatch(ctx context.Context, uri string) error {
	if h := r.subscriber.Load(); h != nil {
		return (*h).UnsubscribeResource(ctx, uri)
	}
	return nil
}

// unwatchAll empties the list of a client that does not watch anything any more.
func (x *exchange) unwatchAll(ctx context.Context, w *watchlist) {
	if x.s.resources.subscriber.Load() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.s.cfg.patience())
	defer cancel()
	if x.conn != nil {
		ctx = withSession(ctx, x.conn.public)
	}
	for _, uri := range w.snapshot() {
		if w.remove(uri) {
			// an error could be told to no client
			x.Peer.Guard(ctx, mcp.MethodUnsubscribe, func() { _ = x.s.resources.unwatch(ctx, uri) })
		}
	}
}

// subscribe answers resources/subscribe. (specification 2025-11-25, server/resources, "Subscriptions")
func (r *resources) subscribe(ctx context.Context, c *call) (any, error) {
	if c.uri == "" {
		return nil, errNoURI
	}
	if c.x.conn == nil {
		return nil, invalidRequest("there is no session in which updates could be sent")
	}
	watched := &c.x.conn.watched
	if err := r.watch(ctx, watched, c.uri); err != nil {
		return nil, err
	}
	if err := c.x.amend(ctx, func() { watched.add(c.uri) }); err != nil {
		if watched.remove(c.uri) {
			_ = r.unwatch(ctx, c.uri) // err is the reason
		}
		return nil, err
	}
	return nil, nil
}

// unsubscribe answers resources/unsubscribe; what was not watched may be left too.
func (r *resources) unsubscribe(ctx context.Context, c *call) (any, error) {
	if c.uri == "" {
		return nil, errNoURI
	}
	if conn := c.x.conn; conn != nil {
		watched := &conn.watched
		conn.notices.drop(notice{mcp.NotificationResourceUpdated, c.uri})
		if watched.remove(c.uri) {
			kept := c.x.amend(ctx, func() { watched.remove(c.uri) })
			return nil, errors.Join(r.unwatch(ctx, c.uri), kept)
		}
	}
	return nil, nil
}
