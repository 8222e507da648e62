package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Member is one server of a [Group].
type Member struct {
	// Name is the server's name in the group. In the group, the names of the server's tools begin with Name. Name must not
	// be empty.
	Name string

	// Transport connects to the server.
	Transport transport.Transport

	// Options configures the server's client. Nil means [GroupOptions.Options]. An empty Options.Name means Name.
	Options *Options
}

// GroupOptions configures a group. A nil *GroupOptions, and the zero value of every field, select the defaults stated
// here.
type GroupOptions struct {
	// Separator separates the name of a member from the name of its tool. It consists of the characters _ - and . but must
	// not contain all three. Empty means "_". In a member's name, the group replaces each character of the separator by
	// the first of - _ and . that the separator does not contain.
	Separator string

	// NameLimit is the maximum length of a tool's name in the group, in characters. Zero means 128, which is also the
	// largest valid value.
	NameLimit int

	// Options are for members without options of their own. Options.Name is ignored, because each member has its own name.
	// Nil means the defaults.
	Options *Options
}

// Group is a set of clients that are used together. Each client connects to its own server and has its own state; no
// client waits for another. The methods of a Group may be called from any goroutine.
//
// The tools of all members form one list, in which the member's name precedes the tool's name: see [Group.Tools]. For
// resources, prompts and other features, use the client of the member: see [Group.Client].
type Group struct {
	naming groupname.Naming
	shared *Options

	mu      sync.Mutex
	members []*member // in the order in which they were added; guarded by mu
	closed  bool      // guarded by mu
}

// member is a client of a group.
type member struct {
	name, prefix string
	client       *Client

	mu      sync.Mutex
	aliases groupname.Aliases // guarded by mu
}

// ErrNoMember means that the group has no member with that name, or no member to which a tool with that name could
// belong.
var ErrNoMember = errors.New("the group has no such member")

// MemberError is an error of one member of a group.
type MemberError struct {
	Member string
	Err    error
}

// Error returns the member's name and the error.
func (e *MemberError) Error() string { return e.Member + ": " + e.Err.Error() }

// Unwrap returns the error.
func (e *MemberError) Unwrap() error { return e.Err }

// NewGroup creates a group. The clients of all members start to connect in the background. If an option is invalid,
// NewGroup closes all members and returns an error. The caller must end the group with [Group.Close] or
// [Group.Shutdown].
func NewGroup(members []Member, o *GroupOptions) (*Group, error) {
	if o == nil {
		o = &GroupOptions{}
	}
	n, err := groupname.New(cmp.Or(o.Separator, "_"), cmp.Or(o.NameLimit, 128))
	if err != nil {
		return nil, err
	}
	g := &Group{naming: n, shared: o.Options}
	for _, m := range members {
		if _, err := g.Add(m); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	return g, nil
}

// Add adds a member, whose client starts to connect in the background, and returns that client. Each member must have a
// different prefix for the names of its tools.
func (g *Group) Add(m Member) (*Client, error) {
	prefix, err := g.naming.Prefix(m.Name)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, &Error{Kind: KindShutdown, Op: "add " + m.Name, Unsent: true, cause: ErrShutdown}
	}
	for _, other := range g.members {
		if other.prefix == prefix {
			return nil, fmt.Errorf("group: the tools of members %q and %q would have the same prefix %s; rename one member",
				other.name, m.Name, prefix)
		}
	}
	c, err := New(m.Transport, g.options(m))
	if err != nil {
		return nil, &MemberError{m.Name, err}
	}
	g.members = append(g.members, &member{name: m.Name, prefix: prefix, client: c})
	return c, nil
}

// options returns the options of a member's client.
func (g *Group) options(m Member) *Options {
	var o Options
	switch {
	case m.Options != nil:
		o = *m.Options
		o.Name = cmp.Or(o.Name, m.Name)
	case g.shared != nil:
		o = *g.shared
		o.Name = m.Name
	default:
		o.Name = m.Name
	}
	return &o
}

// Remove removes a member from the group and closes its client, as [Client.Close] does.
func (g *Group) Remove(name string) error {
	g.mu.Lock()
	i := slices.IndexFunc(g.members, func(m *member) bool { return m.name == name })
	if i < 0 {
		defer g.mu.Unlock()
		return noMember(name, g.members)
	}
	m := g.members[i]
	g.members = slices.Delete(slices.Clone(g.members), i, i+1)
	g.mu.Unlock()
	if err := m.client.Close(); err != nil {
		return &MemberError{name, err}
	}
	return nil
}

// Client returns the client of a member, for features other than tools. The group owns the client and closes it. If
// there is no such member, the error is [ErrNoMember].
func (g *Group) Client(name string) (*Client, error) {
	for _, m := range g.present() {
		if m.name == name {
			return m.client, nil
		}
	}
	return nil, &Error{Kind: KindInvalid, Unsent: true, cause: noMember(name, g.present())}
}

// noMember returns the error for an unknown member name. Its text lists the members.
func noMember(name string, members []*member) error {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
	}
	return fmt.Errorf("%w: %q; its members are %q", ErrNoMember, name, names)
}

// Members yields the names and clients of the present members, in the order in which they were added. A program can use
// Members to report the states of the clients.
func (g *Group) Members() iter.Seq2[string, *Client] {
	return func(yield func(string, *Client) bool) {
		for _, m := range g.present() {
			if !yield(m.name, m.client) {
				return
			}
		}
	}
}

// present returns the present members. The slice is immutable: a change of the group creates a new slice.
func (g *Group) present() []*member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clip(g.members)
}

// WaitForReady waits until each member is ready or has given up, or until ctx ends. The error joins a [*MemberError]
// for each member that is not ready. The group still works with the other members.
func (g *Group) WaitForReady(ctx context.Context) error {
	var failed []error
	for name, c := range g.Members() {
		if err := c.WaitForReady(ctx); err != nil {
			failed = append(failed, &MemberError{name, err})
		}
	}
	return errors.Join(failed...)
}

// CallTool calls a tool by its name in the group, as [Client.CallTool] does.
func (g *Group) CallTool(ctx context.Context, name string, arguments any, options ...CallOption) (*mcp.CallToolResult,
	error) {
	c, tool, within, err := g.route(ctx, name, options)
	p := &mcp.CallToolParams{Name: name, Arguments: arguments}
	switch {
	case err == nil:
		return c.CallTool(ctx, tool, arguments, within...)
	case c != nil:
		err = c.failed(ctx, mcp.MethodCallTool, p, options, err)
	default:
		g.failed(ctx, p, options, err)
	}
	return nil, err
}

// failed records the call of a tool that belongs to no member, and so to no client. It uses the telemetry of the group,
// or the telemetry of the first member, under the name "group".
func (g *Group) failed(ctx context.Context, p *mcp.CallToolParams, options []CallOption, err error) {
	var cfg config
	if g.shared != nil {
		cfg.Options = *g.shared
	}
	to := cfg.Telemetry
	if all := g.present(); to == nil && len(all) > 0 {
		to = all[0].client.cfg.Telemetry
	}
	if to == nil {
		return
	}
	tel := instrument.NewClient(to, "group", instrument.Network{})
	defer tel.Close()
	r := instrument.Request{Method: mcp.MethodCallTool, TargetKind: instrument.Tool, Target: p.Name, Stranger: true,
		Attributes: cfg.asked(options).spanAttributes}
	if tel.Audits() {
		r.Params, _ = mcp.AppendParams(nil, p)
	}
	_, op := tel.StartRequest(ctx, r)
	op.Waiting()
	op.End(*endedBy(err))
}
