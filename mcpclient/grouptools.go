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

// GroupTool is a tool of a member of a group.
type GroupTool struct {
	mcp.Tool        // as the member lists it, but for the Name, which is the one in the group
	Member   string `json:"-"`
	Original string `json:"-"` // its name there
}

// Tools yields the tools of all members: those of a member in its server's order, the members in the order in which
// they were added. The members are asked at once, and again each time.
//
// In the group a tool is called what its member is called, the separator, and its own name. Where that would be too
// long or has characters that names of tools do not have, it gets another name that is made from the whole of its own
// and is the same each time. No two tools have the same name. (specification 2026-07-28, server/tools, "Tool Names")
//
// A member that is not ready, or whose list fails, yields a [*MemberError] in the place of its tools, behind those that
// it has listed, and the next member follows. With [WaitForReady] it is waited for. One whose server has no tools
// yields nothing.
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

// memberTools are the tools of one member, as far as they could be had.
type memberTools struct {
	tools []*GroupTool
	err   error
}

// usable reports whether the tools are all that can be had.
func (all *memberTools) usable() bool { return all.err == nil || errors.Is(all.err, ErrListCutShort) }

// list lists the tools of a member, and remembers those that do not have their own names.
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

// Route returns whom a tool belongs to that has this name in the group, and what it is called there. Whether there is
// such a tool only its server knows, which is asked for its list if the name is one that had to be made up and has not
// been listed yet; options for timeouts and [WaitForReady] are for that. The error is [ErrNoMember] if no member's
// tools have such names.
func (g *Group) Route(ctx context.Context, name string, options ...CallOption) (*Client, string, error) {
	c, tool, _, err := g.route(ctx, name, options)
	if err != nil {
		return nil, "", err
	}
	return c, tool, nil
}

// route is Route, and returns the options with the time that is left, if some of it is gone. Beside an error it returns
// the client that could not list its tools, nil if there is none.
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
	none := fmt.Errorf("tool %q: %w; the names of tools begin with %s", name, ErrNoMember, g.prefixes())
	return nil, "", nil, &Error{Kind: KindInvalid, Op: mcp.MethodCallTool, Unsent: true, cause: none}
}

// prefixes are how the names of tools in the group begin, in the order of the members.
func (g *Group) prefixes() string {
	var all []string
	for _, m := range g.present() {
		all = append(all, m.prefix)
	}
	return strings.Join(all, ", ")
}

// original returns the own name of a tool that has another one in the group: what is remembered of it, or listed.
func (g *Group) original(ctx context.Context, m *member, name, rest string, options []CallOption) (string, error) {
	if tool, ok := m.remembered(name); ok {
		return tool, nil
	}
	got := g.list(ctx, m, toList(options))
	if !got.usable() {
		return "", got.err
	}
	for _, t := range got.tools {
		if t.Name == name {
			return strings.Clone(t.Original), nil
		}
	}
	return rest, nil // the server will say that it has no such tool
}

func (m *member) remembered(name string) (tool string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.aliases.Own(name)
}
