package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// maxOwners bounds the memory for the owners of resources and templates, in bytes. If the owner of a resource is
// unknown, the gateway asks the members one after the other.
const maxOwners = 1 << 20

// owners maps the URIs of resources and templates to the members that have listed them.
type owners struct {
	mu        sync.Mutex
	resources map[string]*member // guarded by mu
	templates map[string]*member // guarded by mu
	size      int                // guarded by mu; bytes of the URIs
}

// note stores the member that has listed a resource or a template.
func (o *owners) note(k *kind, uri string, m *member) {
	const overhead = 64
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.resources == nil {
		o.resources, o.templates = map[string]*member{}, map[string]*member{}
	}
	var of map[string]*member
	switch k {
	case resources:
		of = o.resources
	case templates:
		of = o.templates
	default:
		return
	}
	if _, known := of[uri]; !known {
		if o.size+len(uri)+overhead > maxOwners {
			return
		}
		o.size += len(uri) + overhead
		uri = strings.Clone(uri) // it may be a part of a large frame
	}
	of[uri] = m
}

// of returns the members that the gateway asks for a URI, in order. If a member has listed the URI, it returns only
// that member, and listed is true. Otherwise it returns all members. Members with a template that shares a prefix with
// the URI come first, longest prefix first.
func (o *owners) of(uri string, members []*member) (all []*member, listed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, of := range []map[string]*member{o.resources, o.templates} {
		if m := of[uri]; m != nil {
			return []*member{m}, true
		}
	}
	like := map[*member]int{}
	for template, m := range o.templates {
		if beginning, _, _ := strings.Cut(template, "{"); strings.HasPrefix(uri, beginning) {
			like[m] = max(like[m], len(beginning)+1)
		}
	}
	all = slices.Clone(members)
	slices.SortStableFunc(all, func(a, b *member) int { return like[b] - like[a] })
	return all, false
}

// readResource asks the member that has listed the resource. Without such a member, it asks the members one after the
// other until one has the resource.
func readResource(ctx context.Context, r *request, params json.RawMessage) (result json.RawMessage, err error) {
	var p mcp.ReadResourceParams
	if err := decodeParams(params, &p); err != nil {
		return nil, err
	}
	err = r.h.each(ctx, p.URI, func(m *member) error {
		return r.at(ctx, m, func(c *mcpclient.Client, o ...mcpclient.CallOption) error {
			own := &mcp.ReadResourceParams{URI: p.URI, InputRound: r.round()}
			return c.Call(ctx, mcp.MethodReadResource, own, &result, o...)
		})
	})
	return result, err
}

// each calls f for the members that may have a resource, one after the other, until one has it.
func (h *hostGroup) each(ctx context.Context, uri string, f func(*member) error) error {
	candidates, listed := h.owners.of(uri, h.present())
	var why error // error of the first member that may have the resource
	for _, m := range candidates {
		if !listed && m.lacksResources() {
			continue
		}
		if !listed && m.isSilent() {
			continue
		}
		err := f(m)
		_, needs := errors.AsType[*mcpclient.InputRequiredError](err)
		switch {
		case err == nil || needs || listed || ctx.Err() != nil:
			return err
		case why == nil && !unknown(err):
			why = err
		}
	}
	if why != nil {
		return why
	}
	return mcpserver.ResourceNotFound(uri)
}

// lacksResources reports whether a member does not declare resources: if it is connected, or according to the cache.
func (m *member) lacksResources() bool {
	if items, ok := m.cached(resources); ok {
		return items == nil
	}
	c := m.running()
	if c == nil {
		return false
	}
	ready := func() bool { return c.State() == connstate.Ready }
	return ready() && c.ServerCapabilities().Resources == nil && ready() // nil without a connection, too
}

// unknown reports whether a member's error means that the member has no such resource. It covers all revisions and
// SDKs.
func unknown(err error) bool {
	e, ok := errors.AsType[*mcp.Error](err)
	return ok && (e.Code == mcp.CodeResourceNotFound || e.Code == mcp.CodeInvalidParams ||
		e.Code == mcp.CodeMethodNotFound)
}

// watched is a resource that a host watches, or starts to watch.
type watched struct {
	turn  lock.Mutex // held to subscribe and to unsubscribe
	users int        // guarded by hostGroup.mu; goroutines that hold turn or wait for it
	m     *member    // guarded by hostGroup.mu; nil if the host does not watch the resource
	times int        // guarded by hostGroup.mu; subscriptions that are not removed yet, as watch counts them
}

// watchTimeout bounds the time for a member's answer to a subscription, because the gateway reads no other message of
// the host during this time, and to a log level before a call.
const watchTimeout = 10 * time.Second

// enter waits until no other goroutine changes the subscription to a resource. After enter, the goroutine must call
// leave.
func (h *hostGroup) enter(ctx context.Context, uri string) (*watched, error) {
	h.mu.Lock()
	w := h.watched[uri]
	if w == nil {
		uri = strings.Clone(uri)
		w = &watched{}
		h.watched[uri] = w
	}
	w.users++
	h.mu.Unlock()
	if err := w.turn.LockContext(ctx); err != nil {
		h.forgo(uri, w)
		return nil, err
	}
	return w, nil
}

func (h *hostGroup) leave(uri string, w *watched) {
	w.turn.Unlock()
	h.forgo(uri, w)
}

func (h *hostGroup) forgo(uri string, w *watched) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.users--; w.users == 0 && w.m == nil {
		delete(h.watched, uri)
	}
}

// watch subscribes to a resource. In a session, a host may subscribe to a resource several times, but unsubscribes
// once: counted is false, and all its subscriptions count as one. Hosts without sessions share a hostGroup: counted is
// true, and each subscription counts.
func (h *hostGroup) watch(ctx context.Context, uri string, counted bool) error {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	w, err := h.enter(ctx, uri)
	if err != nil {
		return err
	}
	defer h.leave(uri, w)
	if h.again(w, counted) {
		return nil
	}
	return h.each(ctx, uri, func(m *member) error {
		c, release, err := m.ready(ctx, startPatience)
		if err != nil {
			return err
		}
		defer release() // the subscription itself keeps the client
		if err := c.SubscribeResource(ctx, uri); err != nil {
			return m.failure(c, err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		w.m, w.times = m, 1
		return nil
	})
}

// again reports whether the hostGroup already watches a resource. In that case, it adds one to the number of
// subscriptions if counted is true.
func (h *hostGroup) again(w *watched, counted bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.m != nil && counted {
		w.times++
	}
	return w.m != nil
}

// unwatch removes one subscription, as watch counts them. After the last one, it also ends the gateway's own
// subscription on the member.
func (h *hostGroup) unwatch(ctx context.Context, uri string) error {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	w, err := h.enter(ctx, uri)
	if err != nil {
		return err
	}
	defer h.leave(uri, w)
	m := h.last(w)
	if m == nil {
		return nil
	}
	c := m.running()
	if c == nil {
		return nil // the subscription has ended with the client
	}
	return m.failure(c, c.UnsubscribeResource(ctx, uri))
}

// last removes one subscription, as watch counts them. If no subscription is left, it returns the member that has the
// resource, and otherwise nil.
func (h *hostGroup) last(w *watched) (m *member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.m == nil {
		return nil
	}
	if w.times--; w.times == 0 {
		m, w.m = w.m, nil
	}
	return m
}
