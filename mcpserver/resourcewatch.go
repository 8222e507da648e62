package mcpserver

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
)

// What one session, or one subscription of a modern client, may watch at most.
const (
	maxWatched      = 1024      // URIs
	maxWatchedBytes = 256 << 10 // in all of them together
)

// ResourceUpdated tells the clients that watch the resource with this URI that it should be read again: those that have
// subscribed to it by resources/subscribe in a session, and modern ones that named it in subscriptions/listen. Updates
// within 10 ms are told once, and a client that takes nothing meanwhile hears of each of its resources once.
//
// It does not wait, and may be called from any goroutine. The server need not have the resource any more. Who watches a
// directory, say, is told by its URI, not by that of a file in it.
// (specification 2026-07-28, server/resources, "Subscriptions")
func (s *Server) ResourceUpdated(uri string) {
	if uri != "" {
		s.changed(notice{mcp.NotificationResourceUpdated, uri})
	}
}

// watchlist are the URIs of the resources that somebody watches. It is safe for concurrent use, and nil is empty.
type watchlist struct {
	mu    sync.Mutex
	uris  map[string]struct{} // guarded by mu
	bytes int                 // guarded by mu; in all URIs together
}

// add reports false if there are too many. A URI that is there already is no other one.
func (w *watchlist) add(uri string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, there := w.uris[uri]; there {
		return true
	}
	if len(w.uris) >= maxWatched || w.bytes+len(uri) > maxWatchedBytes {
		return false
	}
	if w.uris == nil {
		w.uris = map[string]struct{}{}
	}
	w.uris[strings.Clone(uri)] = struct{}{} // it may lie in a large frame
	w.bytes += len(uri)
	return true
}

func (w *watchlist) remove(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, there := w.uris[uri]; there {
		delete(w.uris, uri)
		w.bytes -= len(uri)
	}
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

// subscribe answers resources/subscribe. (specification 2025-11-25, server/resources, "Subscriptions")
func (s *Server) subscribe(_ context.Context, c *call) (any, error) {
	watched := c.x.session.watched
	if c.uri == "" {
		return nil, errNoURI
	}
	if watched == nil {
		return nil, invalidRequest("there is no session in which updates could be sent")
	}
	if _, ok := s.locate(c.uri); !ok {
		return nil, ResourceNotFound(c.uri)
	}
	if !watched.add(c.uri) {
		return nil, refusal(mcp.CodeInternalError, "too many subscriptions in one session")
	}
	return nil, nil
}

// unsubscribe answers resources/unsubscribe; what was not watched may be left too.
func (s *Server) unsubscribe(_ context.Context, c *call) (any, error) {
	if c.uri == "" {
		return nil, errNoURI
	}
	if watched := c.x.session.watched; watched != nil {
		watched.remove(c.uri)
		c.x.notices.drop(notice{mcp.NotificationResourceUpdated, c.uri})
	}
	return nil, nil
}
