package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// kind is a kind of item in lists.
type kind struct {
	one, method string
	list        string // member of the result with the items
	name        string // member of an item with its name
	prefixed    bool   // names have the gateway's prefix
	has         func(*mcp.ServerCapabilities) bool
}

var (
	tools = &kind{"tool", mcp.MethodListTools, "tools", "name", true,
		func(c *mcp.ServerCapabilities) bool { return c.Tools != nil }}
	prompts = &kind{"prompt", mcp.MethodListPrompts, "prompts", "name", true,
		func(c *mcp.ServerCapabilities) bool { return c.Prompts != nil }}
	resources = &kind{"resource", mcp.MethodListResources, "resources", "uri", false, hasResources}
	templates = &kind{"template", mcp.MethodListResourceTemplates, "resourceTemplates", "uriTemplate", false, hasResources}
)

func hasResources(c *mcp.ServerCapabilities) bool { return c.Resources != nil }

// Limits for the list of one member, all pages together.
const (
	maxListPages = 1000
	maxListBytes = 64 << 20 // a single page may be larger
)

// listTimeout bounds the time for the list of one member if the gateway has other members. Lists omit a slower member
// until the member answers again: see [member.fallsSilent].
const listTimeout = 10 * time.Second

// maxListed bounds the memory in bytes for all lists that a gateway builds concurrently: for all members, hosts and
// requests. A page counts only after it has been loaded, so each list may need the memory of one more page.
const maxListed = 256 << 20

// listBudget counts the memory for lists. A page counts three times the size of its text: for the original, for the
// text with the gateway's names, and for the answer. In addition, each item of the page counts as listedItem bytes.
type listBudget struct{ used atomic.Int64 }

const (
	listedCopies = 3
	listedItem   = 192 // bytes for each item of a list, in addition to its text
)

// take reserves memory for a page. ok is false if the budget is exhausted.
func (b *listBudget) take(bytes, items int) (taken int64, ok bool) {
	taken = int64(listedCopies*bytes + listedItem*items)
	if b.used.Add(taken) > maxListed {
		b.used.Add(-taken)
		return 0, false
	}
	return taken, true
}

var errListsFull = &mcp.Error{
	Code:    mcp.CodeInternalError,
	Message: "the gateway has reached its memory limit for lists; try again later",
}

// item is an item of a list.
type item struct {
	name string // name for the host
	text json.RawMessage
}

// listing returns the function that answers a list request. The answer contains the lists of all members, in the order
// of the members, on one page. Of several items with the same name, it contains the first.
func listing(k *kind) asking {
	return func(ctx context.Context, r *request, _ json.RawMessage) (json.RawMessage, error) {
		members := r.h.present()
		lists := make([]list, len(members))
		defer func() {
			for _, l := range lists {
				r.h.g.listed.used.Add(-l.taken)
			}
		}()
		var asked sync.WaitGroup
		for i, m := range members {
			asked.Go(func() { m.list(ctx, k, &lists[i]) })
		}
		asked.Wait()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		hidden := false
		for _, l := range lists {
			if l.err == errListsFull {
				return nil, errListsFull
			}
			hidden = hidden || l.hidden
		}
		if hidden {
			g := r.h.g.guard
			g.decided(ctx, instrument.Decision{Method: k.method, Request: true}, names.PolicyHidden, 0)
		}
		seen := map[string]bool{}
		result := fmt.Appendf(nil, `{"%s":[`, k.list)
		for i, l := range lists {
			for _, one := range l.items {
				if seen[one.name] {
					continue
				}
				seen[one.name] = true
				if len(seen) > 1 {
					result = append(result, ',')
				}
				result = append(result, one.text...)
				r.h.owners.note(k, one.name, members[i])
			}
		}
		result = append(result, ']')
		if r.info.Version.Era() == mcp.Modern { // a modern result must declare its lifetime: zero
			result = append(result, `,"ttlMs":0,"cacheScope":"private"`...)
		}
		return append(result, '}'), nil
	}
}

// list is the list of one member.
type list struct {
	items  []item
	taken  int64 // memory taken from the budget
	hidden bool  // the policy has removed items
	err    error
}

// list adds the list of a member to into, with the names of the gateway and without hidden items. It adds nothing if
// the member is not connected or its list fails.
func (m *member) list(ctx context.Context, k *kind, into *list) {
	if into.err = m.walkInTime(ctx, k, into); into.err != nil {
		into.items = nil
		m.mu.Lock()
		m.missing = true
		m.mu.Unlock()
		return
	}
	if !k.prefixed {
		return
	}
	g := m.h.g
	var known groupname.Aliases
	kept := into.items[:0]
	for _, one := range into.items {
		own := one.name
		if !g.o.NoPrefix {
			one.name = g.naming.Name(m.prefix, own)
			one.text = renamed(one.text, k.name, one.name)
			if one.name != m.prefix+own {
				known.Add(one.name, own)
			}
		}
		if k == tools && g.guard != nil && !g.guard.permit(m.names(own)...) {
			into.hidden = true
			continue
		}
		kept = append(kept, one)
	}
	into.items = kept
	m.mu.Lock()
	m.aliases[k.list] = known
	m.mu.Unlock()
}

// walkInTime calls walk. If there are other members, it limits the time to listTimeout.
func (m *member) walkInTime(ctx context.Context, k *kind, into *list) error {
	if len(m.h.present()) == 1 {
		return m.walk(ctx, k, into)
	}
	if m.isSilent() {
		return errSilent
	}
	limited, cancel := context.WithTimeoutCause(ctx, listTimeout, errSilent)
	defer cancel()
	err := m.walk(limited, k, into)
	if context.Cause(limited) == errSilent && ctx.Err() == nil {
		m.fallsSilent()
	}
	return err
}

var errSilent = errors.New("the server does not answer")

func (m *member) isSilent() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.silent
}

// fallsSilent records that the member does not answer, for example because subscriptions/listen has blocked it. It
// sends the member a ping. After the answer to the ping, or the end of the connection, lists include the member again.
func (m *member) fallsSilent() {
	m.mu.Lock()
	before := m.silent
	m.silent = true
	m.mu.Unlock()
	if before {
		return
	}
	m.h.background(func() {
		if c := m.running(); c != nil {
			_ = c.Ping(m.h.life, mcpclient.WithTimeout(-1)) // an error means that the connection has ended
		}
		m.mu.Lock()
		m.silent = false
		m.mu.Unlock()
		m.settle()
	})
}

// walk reads all pages of a member's list.
func (m *member) walk(ctx context.Context, k *kind, into *list) error {
	if items, ok := m.cached(k); ok {
		return m.add(items, len(items), k, into)
	}
	c, release, err := m.ready(ctx, m.h.g.o.Patience)
	if err != nil {
		return err
	}
	defer release()
	if able := c.ServerCapabilities(); !k.has(&able) {
		return nil
	}
	size := 0
	var page mcp.PageParams
	for range maxListPages {
		var result json.RawMessage
		if err := c.Call(ctx, k.method, page, &result); err != nil {
			return err
		}
		if size += len(result); size > maxListBytes && page.Cursor != nil {
			return fmt.Errorf("the list has more than %d bytes", maxListBytes)
		}
		raw, _ := mcp.Object(result).Lookup(k.list)
		if err := m.add(raw, len(result), k, into); err != nil {
			return err
		}
		var next string
		if more, err := mcp.Object(result).Decode("nextCursor", &next); err != nil || !more {
			return err
		}
		page.Cursor = &next
	}
	return errors.New("the list has too many pages")
}

// cached returns the list of a member whose client is not ready, if the group has the list in its cache.
func (m *member) cached(k *kind) (items json.RawMessage, ok bool) {
	if !m.demand {
		return nil, false
	}
	return m.h.group().CachedList(m.name, k.method)
}

// add adds a page of the given size in bytes to the list.
func (m *member) add(items json.RawMessage, size int, k *kind, into *list) error {
	taken, ok := m.h.g.listed.take(size, countOf(items))
	if !ok {
		return errListsFull
	}
	into.taken += taken
	into.items = append(into.items, itemsOf(items, k)...)
	return nil
}

// countOf returns the number of elements of an array.
func countOf(list json.RawMessage) (n int) {
	if len(list) == 0 || list[0] != '[' {
		return 0
	}
	for a := jsonscan.ArrayAt(list, 0); a.Next(); {
		n++
	}
	return n
}

// itemsOf returns the items of a page that have a name.
func itemsOf(list json.RawMessage, k *kind) (all []item) {
	if len(list) == 0 || list[0] != '[' {
		return nil
	}
	a := jsonscan.ArrayAt(list, 0)
	for a.Next() {
		text := a.Raw()
		var name string
		if ok, err := mcp.Object(text).Decode(k.name, &name); ok && err == nil && name != "" {
			all = append(all, item{name, text})
		}
	}
	return all
}

// renamed returns the JSON object text with name as the value of the given member. The rest is unchanged.
func renamed(text json.RawMessage, member, name string) json.RawMessage {
	w := rewriter{from: text}
	o := jsonscan.ObjectAt(text, 0)
	for o.Next() {
		is := string(o.Key()) == member
		at := o.At()
		if raw := o.Raw(); is {
			w.replace(at, at+len(raw), jsonscan.AppendString(nil, name))
		}
	}
	return w.result()
}

// original returns the name that the member itself uses for an item, from memory or from a new list. If there is no
// such item, it returns rest, so that the member reports the error.
func (m *member) original(ctx context.Context, k *kind, name, rest string) string {
	for range 2 {
		m.mu.Lock()
		names := m.aliases[k.list]
		own, known := names.Own(name)
		m.mu.Unlock()
		if known {
			return own
		}
		var l list
		m.list(ctx, k, &l)
		m.h.g.listed.used.Add(-l.taken)
	}
	return rest
}
