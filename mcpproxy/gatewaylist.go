package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// kind is a kind of things that servers list.
type kind struct {
	one, method string
	list        string // the member of the result that has them
	name        string // the member of each that names it
	prefixed    bool   // the names are those of the gateway
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

// The bounds of one list of one member, all its pages together.
const (
	maxListPages = 1000
	maxListBytes = 64 << 20 // or one page that is larger
)

// item is a thing in a list.
type item struct {
	name string // as the host sees it
	text json.RawMessage
}

// listing returns what answers a request for a list: the members' one behind the other, in the order of the members,
// without pages. Of two with one name the first counts.
func listing(k *kind) asking {
	return func(ctx context.Context, r *request, _ json.RawMessage) (json.RawMessage, error) {
		members := r.h.present()
		lists := make([][]item, len(members))
		var asked sync.WaitGroup
		for i, m := range members {
			asked.Go(func() { lists[i] = m.list(ctx, k) })
		}
		asked.Wait()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		seen := map[string]bool{}
		result := fmt.Appendf(nil, `{"%s":[`, k.list)
		for i, list := range lists {
			for _, one := range list {
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
		if r.info.Version.Era() == mcp.Modern { // which says how long a list may be kept: not at all
			result = append(result, `,"ttlMs":0,"cacheScope":"private"`...)
		}
		return append(result, '}'), nil
	}
}

// list returns what a member lists, with the names of the gateway, nothing if it is not connected or its list fails.
func (m *member) list(ctx context.Context, k *kind) []item {
	all, err := m.walk(ctx, k)
	if err != nil {
		m.mu.Lock()
		m.missing = true
		m.mu.Unlock()
		return nil
	}
	var known groupname.Aliases
	for i := range all {
		one := &all[i]
		if !k.prefixed || m.h.g.o.NoPrefix {
			continue
		}
		own := one.name
		one.name = m.h.g.naming.Name(m.prefix, own)
		one.text = renamed(one.text, k.name, one.name)
		if one.name != m.prefix+own {
			known.Add(one.name, own)
		}
	}
	m.mu.Lock()
	m.aliases[k.list] = known
	m.mu.Unlock()
	return all
}

// walk returns the list of a member, all its pages.
func (m *member) walk(ctx context.Context, k *kind) (all []item, err error) {
	if err := m.ready(ctx); err != nil {
		return nil, err
	}
	if c := m.client.ServerCapabilities(); !k.has(&c) {
		return nil, nil
	}
	size := 0
	var page mcp.PageParams
	for range maxListPages {
		var result json.RawMessage
		if err := m.client.Call(ctx, k.method, page, &result); err != nil {
			return nil, err
		}
		if size += len(result); size > maxListBytes && page.Cursor != nil {
			return nil, fmt.Errorf("the list has more than %d bytes", maxListBytes)
		}
		items, _ := mcp.Object(result).Lookup(k.list)
		all = append(all, itemsOf(items, k)...)
		var next string
		if more, err := mcp.Object(result).Decode("nextCursor", &next); err != nil || !more {
			return all, err
		}
		page.Cursor = &next
	}
	return nil, errors.New("the list has too many pages")
}

// itemsOf returns the things of a page that have a name.
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

// renamed returns a definition with another name, and all else as it was.
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

// original returns the own name of a thing that has another one in the gateway: what is remembered of it, or listed. If
// there is no such, it is rest, and the member will say so.
func (m *member) original(ctx context.Context, k *kind, name, rest string) string {
	for range 2 {
		m.mu.Lock()
		names := m.aliases[k.list]
		own, known := names.Own(name)
		m.mu.Unlock()
		if known {
			return own
		}
		m.list(ctx, k)
	}
	return rest
}
