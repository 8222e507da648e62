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
	mcp.Tool        // as listed by the member, except for the Name, which is the name in the group
	Member   string `json:"-"`
	Original string `json:"-"` // the tool's name at the member
}

// Tools yields the tools of all members: the members in the order of their addition, their tools in the order of the
// server's list. Each iteration asks all members, concurrently.
//
// The name of a tool in the group consists of the member's name, the separator, and the tool's own name. If that is too
// long or has invalid characters, the tool gets a stable name that is derived from its own. No two tools have the same
// name.
// (specification 2026-07-28, server/tools, "Tool Names")
//
// If a member is not ready, or its list fails, Tools yields a [*MemberError] after the tools that it has listed,
// and continues with the next member. With [WaitForReady] it waits for the member. A member without tools yields
// nothing.
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

// usable reports whether all has every available tool of the member.
func (all *memberTools) usable() bool { return all.err == nil || errors.Is(all.err, ErrListCutShort) }

// list lists the tools of a member, and remembers derived names.
func (g *Group) list(ctx context.Context, m *member, options []CallOption) (all memberTools) {
	var known groupname.Aliases
	seen := map[string]bool{}
	for t, err := range m.client.Tools(ctx, options...) {
		if err != nil {
			all.err = err
			break
		}
		tool := &GroupTool{Tool: *t, Member: m.name, Original: t.Name}
		tool.Name = g.naming.Name(m.prefix, t.Name)
		if seen[tool.Name] {
			continue // a server that lists a tool twice
		}
		seen[tool.Name] = true
		all.tools = append(all.tools, tool)
		if tool.Name != m.prefix+t.Name {
			known.Add(tool.Name, t.Name)
		}
	}
	if s := m.client.core.Present(); s != conn.NoSession && s.Capabilities.Tools == nil {
		return memberTools{}
	}
	if all.usable() {
		m.mu.Lock()
		m.aliases = known
		m.mu.Unlock()
	}
	return all
}

// Route returns the client of the tool with this name in the group, and the tool's own name. Only the server knows
// whether the tool exists. If the name is a derived one that was not listed yet, Route lists the tools; options for
// timeouts and [WaitForReady] apply to the listing. The error is [ErrNoMember] if no member matches the name.
func (g *Group) Route(ctx context.Context, name string, options ...CallOption) (*Client, string, error) {
	c, tool, _, err := g.route(ctx, name, options)
	if err != nil {
		return nil, "", err
	}
	return c, tool, nil
}

// route is like Route, but also returns the options with the remaining time. With an error it returns the client that
// could not list its tools, nil if there is none.
func (g *Group) route(ctx context.Context, name string, options []CallOption) (*Client, string, []CallOption, error) {
	prefix, rest, ok := g.naming.Split(name)
	for _, m := range g.present() {
		if !ok || m.prefix != prefix {
			continue
		}
		if !groupname.LooksLikeAlias(rest) {
			return m.client, rest, options, nil
		}
		options = m.client.cfg.timed(options, time.Now())
		tool, err := g.original(ctx, m, name, rest, options)
		return m.client, tool, options, err
	}
	none := fmt.Errorf("tool %q: %w; names of tools begin with %s", name, ErrNoMember, g.prefixes())
	return nil, "", nil, &Error{Kind: KindInvalid, Op: mcp.MethodCallTool, Unsent: true, cause: none}
}

// prefixes returns the prefixes of the tools' names, in the order of the members.
func (g *Group) prefixes() string {
	var all []string
	for _, m := range g.present() {
		all = append(all, m.prefix)
	}
	return strings.Join(all, ", ")
}

// original returns the own name of a tool with a derived name, from the last list or from a new one.
func (g *Group) original(ctx context.Context, m *member, name, rest string, options []CallOption) (string, error) {
	if tool, ok := m.remembered(name); ok {
		return tool, nil
	}
	got := g.list(ctx, m, m.client.cfg.toList(options))
	if !got.usable() {
		return "", got.err
	}
	for _, t := range got.tools {
		if t.Name == name {
			return strings.Clone(t.Original), nil
		}
	}
	return rest, nil // the server reports the unknown tool
}

func (m *member) remembered(name string) (tool string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.aliases.Own(name)
}
