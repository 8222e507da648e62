package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/mcp"
)

// GroupTool is a tool of one group member.
type GroupTool struct {
	mcp.Tool        // as the member lists it, but Name is the name in the group
	Member   string `json:"-"`
	Original string `json:"-"` // the tool's name at the member
}

// Tools yields the tools of all members: the members in the order in which they were added, the tools of each member in
// the order of the server's list. Each iteration asks all members concurrently.
//
// The name of a tool in the group consists of the member's name, the separator, and the tool's own name. If that name
// is too long or has invalid characters, the tool gets a stable name that is derived from its own name. No two tools
// have the same name. (specification 2026-07-28, server/tools, "Tool Names")
//
// If a member is not ready, or its list fails, Tools yields the tools that this member has listed so far, then a
// [*MemberError], and continues with the next member. With [WaitForReady], Tools waits until each member is ready. For
// a member without tools, Tools yields nothing. For a member with Lazy or Idle that is not ready, Tools yields the cached
// list; without a cached list, Tools starts the member's client and waits for it.
func (g *Group) Tools(ctx context.Context, options ...CallOption) iter.Seq2[*GroupTool, error] {
	return func(yield func(*GroupTool, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var asking sync.WaitGroup
		defer asking.Wait()
		defer cancel()
		members := g.present()
		lists := make([]chan memberTools, len(members))
		for i, m := range members {
			lists[i] = make(chan memberTools, 1)
			asking.Go(func() { lists[i] <- g.list(ctx, m, options) })
		}
		for i, m := range members {
			got := <-lists[i]
			for _, t := range got.tools {
				if !yield(t, nil) {
					return
				}
			}
			if got.err != nil && !yield(nil, &MemberError{m.name, got.err}) {
				return
			}
		}
	}
}

// memberTools is the result of listing one member.
type memberTools struct {
	tools []*GroupTool
	err   error
}

// usable reports whether the list contains every available tool of the member.
func (all *memberTools) usable() bool { return all.err == nil || errors.Is(all.err, ErrListCutShort) }

// list lists the tools of a member, and stores the derived names.
func (g *Group) list(ctx context.Context, m *member, options []CallOption) (all memberTools) {
	var known groupname.Aliases
	seen := map[string]bool{}
	add := func(t *mcp.Tool) {
		tool := &GroupTool{Tool: *t, Member: m.name, Original: t.Name}
		tool.Name = g.naming.Name(m.prefix, t.Name)
		if seen[tool.Name] {
			return // the server listed the tool twice
		}
		seen[tool.Name] = true
		all.tools = append(all.tools, tool)
		if tool.Name != m.prefix+t.Name {
			known.Add(tool.Name, t.Name)
		}
	}
	if has, err := m.tools(ctx, options, add); !has {
		return memberTools{}
	} else {
		all.err = err
	}
	if all.usable() {
		m.mu.Lock()
		m.aliases = known
		m.mu.Unlock()
	}
	return all
}

// tools calls add for the tools of a member. has is false if the member has no tools.
func (m *member) tools(ctx context.Context, options []CallOption, add func(*mcp.Tool)) (has bool, _ error) {
	if m.demand != nil {
		if list, ok := m.demand.cached(mcp.MethodListTools); ok {
			for _, t := range decodeTools(list) {
				add(t)
			}
			return list != nil, nil
		}
		options = append(options[:len(options):len(options)], WaitForReady())
	}
	c, release, err := m.use()
	if err != nil {
		return true, err
	}
	defer release()
	for t, err := range c.Tools(ctx, options...) {
		if err != nil {
			s := c.core.Present()
			return s == conn.NoSession || s.Capabilities.Tools != nil, err
		}
		add(t)
	}
	return true, nil
}

// Route returns the client of the tool with this name in the group, and the tool's own name. Only the server knows
// whether the tool exists. If the name is a derived name that has not been listed yet, Route lists the tools; options
// for timeouts and [WaitForReady] apply to the listing. If no member matches the name, the error is [ErrNoMember]. Route
// starts and keeps a client with Lazy or Idle, as [Group.Client] does.
func (g *Group) Route(ctx context.Context, name string, options ...CallOption) (*Client, string, error) {
	to, err := g.route(ctx, name, options)
	defer to.release()
	if err != nil {
		return nil, "", err
	}
	c, err := to.member.pin()
	if err != nil {
		return nil, "", err
	}
	return c, to.tool, nil
}

// destination is the tool of a member that a call names.
type destination struct {
	member  *member
	client  *Client // nil if there is none
	release func()  // ends the use of the client; never nil
	tool    string  // the tool's own name
	options []CallOption
}

// route returns the destination of a call, and the options with the remaining time. If a client could not list its
// tools, route returns that client with the error.
func (g *Group) route(ctx context.Context, name string, options []CallOption) (to destination, err error) {
	to.release = func() {}
	prefix, rest, ok := g.naming.Split(name)
	for _, m := range g.present() {
		if !ok || m.prefix != prefix {
			continue
		}
		c, release, err := m.use()
		if err != nil {
			return to, err
		}
		to = destination{member: m, client: c, release: release, tool: rest, options: options}
		if m.demand != nil {
			to.options = append(options[:len(options):len(options)], WaitForReady())
		}
		if groupname.LooksLikeAlias(rest) {
			to.options = c.cfg.timed(to.options, time.Now())
			to.tool, err = g.original(ctx, to, name)
		}
		return to, err
	}
	none := fmt.Errorf("tool %q: %w; the tool names in the group begin with %s", name, ErrNoMember, g.prefixes())
	return to, &Error{Kind: KindInvalid, Op: mcp.MethodCallTool, Unsent: true, cause: none}
}

// prefixes returns the prefixes of the tools' names, in the order of the members, for an error text.
func (g *Group) prefixes() string {
	var all []string
	for _, m := range g.present() {
		all = append(all, m.prefix)
	}
	return strings.Join(all, ", ")
}

// original returns a tool's own name for a derived name. It looks in the last list and, if the name is not there, in a
// new list.
func (g *Group) original(ctx context.Context, to destination, name string) (string, error) {
	if tool, ok := to.member.remembered(name); ok {
		return tool, nil
	}
	got := g.list(ctx, to.member, to.client.cfg.toList(to.options))
	if !got.usable() {
		return "", got.err
	}
	for _, t := range got.tools {
		if t.Name == name {
			return strings.Clone(t.Original), nil
		}
	}
	return to.tool, nil // the server itself reports the unknown tool
}

func (m *member) remembered(name string) (tool string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.aliases.Own(name)
}
