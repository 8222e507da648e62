package mcpserver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Limits on the resources that one session, or one subscription of a modern client, may watch.
const (
	maxWatched      = 1024      // number of URIs
	maxWatchedBytes = 256 << 10 // bytes of all URIs together
)

// watchCost is the approximate memory in bytes for a watched URI, in addition to its text.
const watchCost = 128

// ResourceUpdated notifies the clients that watch the resource with this URI that they should read the resource again.
// Legacy clients watch a resource after resources/subscribe in a session, and modern clients watch it after
// subscriptions/listen with the URI. Updates within 10 ms cause one notification. While a client does not read, at most
// one notification waits for each of its resources.
//
// All notifications of an update are in one trace, below one span. With a shared store, each process with subscribers
// has one such trace.
//
// ResourceUpdated does not wait, and is safe for concurrent use. The server need not have the resource any more. A
// client that watches a directory, for example, gets a notification only if uri is the URI of the directory, not of a
// file in the directory.
// (specification 2026-07-28, server/resources, "Subscriptions")
func (s *Server) ResourceUpdated(uri string) {
	if uri != "" {
		s.changed(notice{mcp.NotificationResourceUpdated, uri})
	}
}

// watchlist holds the URIs of the resources that a client watches. It is safe for concurrent use. A nil watchlist is
// empty.
type watchlist struct {
	mu     sync.Mutex
	uris   map[string]struct{} // guarded by mu
	bytes  int                 // guarded by mu; length of all URIs together
	closed bool                // guarded by mu; add refuses new URIs
	room   *quota.Memory       // guarded by mu; memory budget shared with other lists; nil for no limit
	who    quota.Account       // guarded by mu; account for which the list reserves memory in room
	taken  int                 // guarded by mu; bytes that the list has reserved in room
}

// join makes the list reserve its memory for the account who, in the budget room, which other lists share.
func (w *watchlist) join(room *quota.Memory, who quota.Account) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.room, w.who = room, who
}

// reserve reserves n bytes in room. It returns false if they are not available.
func (w *watchlist) reserve(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(n)
}

// take is reserve for callers that hold mu.
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

// release returns all reserved memory to room. Later calls reserve nothing.
func (w *watchlist) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.room != nil {
		w.room.Change(w.who, -w.taken)
		w.room, w.taken = nil, 0
	}
}

// add adds a URI, unless the list already has it. It returns false if the list is full or closed.
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
	w.uris[strings.Clone(uri)] = struct{}{} // uri may be part of a large frame
	w.bytes += len(uri)
	return true
}

// remove removes a URI. It returns false if the URI was not on the list.
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

// replace replaces the URIs of the list. It checks no limits, because another process has checked them.
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

// close makes add refuse new URIs.
func (w *watchlist) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// snapshot returns the URIs of the list, sorted.
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

// watch adds a resource to the list of a client. The subscriber decides whether the client may watch the resource;
// without a subscriber, the resource must exist.
func (r *resources) watch(ctx context.Context, w *watchlist, uri string) error {
	if h := r.subscriber.Load(); h != nil {
		if err := (*h).SubscribeResource(ctx, uri); err != nil {
			return err
		}
	} else if _, ok := r.locate(uri); !ok {
		return ResourceNotFound(uri)
	}
	if !w.add(uri) {
		_ = r.unwatch(ctx, uri) // ignore the error: the client gets the limit as the error
		return rpc.Refusal(mcp.CodeInternalError, "too many subscriptions at once")
	}
	return nil
}

// unwatch reports to the subscriber that a client no longer watches a resource.
func (r *resources) unwatch(ctx context.Context, uri string) error {
	if h := r.subscriber.Load(); h != nil {
		return (*h).UnsubscribeResource(ctx, uri)
	}
	return nil
}

// unwatchAll empties the list of a client that has left, or of a subscription that has ended.
func (x *exchange) unwatchAll(ctx context.Context, w *watchlist) {
	if x.s.resources.subscriber.Load() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.s.engine.Patience())
	defer cancel()
	if x.conn != nil {
		ctx = withSession(ctx, x.conn.public)
	}
	for _, uri := range w.snapshot() {
		if w.remove(uri) {
			// no client waits for an error
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
		return nil, rpc.InvalidRequest("subscribing to a resource requires a session")
	}
	watched := &c.x.conn.watched
	if err := r.watch(ctx, watched, c.uri); err != nil {
		return nil, err
	}
	if err := c.x.Amend(ctx, func() { watched.add(c.uri) }); err != nil {
		if watched.remove(c.uri) {
			_ = r.unwatch(ctx, c.uri) // ignore the error: the client gets err
		}
		return nil, err
	}
	return nil, nil
}

// unsubscribe answers resources/unsubscribe. It also succeeds if the client does not watch the resource.
func (r *resources) unsubscribe(ctx context.Context, c *call) (any, error) {
	if c.uri == "" {
		return nil, errNoURI
	}
	if conn := c.x.conn; conn != nil {
		watched := &conn.watched
		conn.notices.drop(notice{mcp.NotificationResourceUpdated, c.uri})
		if watched.remove(c.uri) {
			kept := c.x.Amend(ctx, func() { watched.remove(c.uri) })
			return nil, errors.Join(r.unwatch(ctx, c.uri), kept)
		}
	}
	return nil, nil
}
