package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
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

	// Lazy starts the client, and with it the process of a stdio server, at the first call. Until then, a cache answers
	// with the tools and the other lists that the server had last time: see [GroupOptions.ListDir]. If the cache does not
	// know the server, listing its tools starts it, too. When the server runs, the group compares its lists with the
	// cached ones, calls the handlers of changes if they differ, and counts changed tools (mcp_client.tool.changes).
	//
	// A first call waits until the client is ready. The client gives up after three attempts, unless Backoff.Attempts sets
	// another number; then the call fails with the reason, and the next call starts a new client.
	Lazy bool

	// Idle stops the client when nothing has used it for this time: no call, no subscribed resource, no unfinished task and
	// no request of the server. The next use starts a new client. Zero means that the client is never stopped. State that
	// the server keeps for its process or its session is lost with the process, so do not set Idle for a server that
	// needs it.
	Idle time.Duration
}

// onDemand reports whether the group starts or stops the client depending on its use.
func (m *Member) onDemand() bool { return m.Lazy || m.Idle > 0 }

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

	// ListDir is the directory for the lists of members with Lazy or Idle, so that a later process can show their tools
	// without starting the servers. Empty means the directory mcpotel/lists in [os.UserCacheDir]. Only its owner can read
	// the files. A file belongs to one way to start or reach a server: its command, arguments, environment and working
	// directory, or its URL and headers, and the capabilities of the client. Lists of other transports, and of servers
	// with an authorizer, stay in memory. The files have at most 64 MiB; the oldest are removed.
	ListDir string

	// NoListDir keeps the lists in memory, for the life of the group.
	NoListDir bool
}

// Group is a set of clients that are used together. Each client connects to its own server and has its own state; no
// client waits for another. The methods of a Group may be called from any goroutine.
//
// The tools of all members form one list, in which the member's name precedes the tool's name: see [Group.Tools]. For
// resources, prompts and other features, use the client of the member: see [Group.Client].
type Group struct {
	naming    groupname.Naming
	shared    *Options
	listDir   string
	noListDir bool

	mu      sync.Mutex
	members []*member // in the order in which they were added; guarded by mu
	closed  bool      // guarded by mu
}

// member is a client of a group.
type member struct {
	name, prefix string
	options      *Options
	client       *Client   // nil for a member on demand
	demand       *onDemand // nil for a member whose client runs as long as the member

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

// current returns the client of the member, or nil if no client is running.
func (m *member) current() *Client {
	if m.demand != nil {
		return m.demand.running()
	}
	return m.client
}

// use returns the client of the member, which does not stop before release. It starts the client if necessary.
func (m *member) use() (c *Client, release func(), _ error) {
	if m.demand != nil {
		return m.demand.use()
	}
	return m.client, func() {}, nil
}

// pin returns the client of the member, and keeps it as long as the member. It starts the client if necessary.
func (m *member) pin() (*Client, error) {
	if m.demand != nil {
		return m.demand.pin()
	}
	return m.client, nil
}

// close ends the member's client with end.
func (m *member) close(end func(*Client) error) error {
	if m.demand != nil {
		return m.demand.close(end)
	}
	return end(m.client)
}

// NewGroup creates a group. The clients of all members start to connect in the background, except those with Lazy. If an option is invalid,
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
	g := &Group{naming: n, shared: o.Options, listDir: o.ListDir, noListDir: o.NoListDir}
	for _, m := range members {
		if _, err := g.Add(m); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	return g, nil
}

// Add adds a member, whose client starts to connect in the background, and returns that client. For a member with Lazy,
// the client is nil; for one with Idle, use it as [Group.Members] describes. Each member must have a different prefix for
// the names of its tools.
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
	added := &member{name: m.Name, prefix: prefix, options: g.options(m)}
	if err := g.begin(added, m); err != nil {
		return nil, err
	}
	g.members = append(g.members, added)
	return added.current(), nil
}

// begin starts the client of a member, or prepares its start on demand.
func (g *Group) begin(added *member, m Member) (err error) {
	if m.Idle < 0 {
		return &MemberError{m.Name, errors.New("group: Idle is negative; use zero for a client that is never stopped")}
	}
	if !m.onDemand() {
		if added.client, err = New(m.Transport, added.options); err != nil {
			return &MemberError{m.Name, err}
		}
		return nil
	}
	if added.demand, err = newOnDemand(m, added.options, newListCache(m, added.options, g.listDir, g.noListDir)); err != nil {
		return &MemberError{m.Name, err}
	}
	if m.Lazy {
		return nil
	}
	_, release, err := added.demand.use()
	if err == nil {
		release()
	}
	return err
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
	if err := m.close((*Client).Close); err != nil {
		return &MemberError{name, err}
	}
	return nil
}

// Client returns the client of a member, for features other than tools. The group owns the client and closes it. If
// there is no such member, the error is [ErrNoMember].
//
// Client starts the client of a member with Lazy, and the group no longer stops a client with Idle, because the caller
// may keep it. For a limited time, call [Group.Use].
func (g *Group) Client(name string) (*Client, error) {
	m, err := g.member(name)
	if err != nil {
		return nil, err
	}
	return m.pin()
}

// Use returns the client of a member, as [Group.Client] does, and starts it if it is not running. The caller must call
// release, once or more often, when it no longer uses the client. Until then, the group does not stop the client as idle;
// after that, calls of the client may fail with [ErrShutdown], unsent. A client that has just been started is not ready:
// calls need [WaitForReady].
func (g *Group) Use(name string) (c *Client, release func(), _ error) {
	m, err := g.member(name)
	if err != nil {
		return nil, nil, err
	}
	return m.use()
}

func (g *Group) member(name string) (*member, error) {
	all := g.present()
	for _, m := range all {
		if m.name == name {
			return m, nil
		}
	}
	return nil, &Error{Kind: KindInvalid, Unsent: true, cause: noMember(name, all)}
}

// CachedList returns a list of a member with Lazy or Idle from the cache, as a JSON array of items in the server's own
// form: see [GroupOptions.ListDir]. method is tools/list, prompts/list, resources/list or resources/templates/list. The
// list is nil if the server does not have the feature. ok is false if the member's client is ready, and if the cache has
// no lists of the server: then ask the client, see [Group.Use].
func (g *Group) CachedList(name, method string) (items json.RawMessage, ok bool) {
	m, err := g.member(name)
	if err != nil || m.demand == nil {
		return nil, false
	}
	return m.demand.cached(method)
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
// Members to report the states of the clients. Members omits a member with Lazy or Idle while its client is not running,
// and the group may stop its client at any time: to call such a client, use [Group.Use]. [Group.Inspect] has all members.
func (g *Group) Members() iter.Seq2[string, *Client] {
	return func(yield func(string, *Client) bool) {
		for _, m := range g.present() {
			if c := m.current(); c != nil && !yield(m.name, c) {
				return
			}
		}
	}
}

// Inspect returns the states of the present members, in the order in which they were added, also of members whose
// clients are not running.
func (g *Group) Inspect() []inspect.Member {
	all := []inspect.Member{}
	for _, m := range g.present() {
		if m.demand != nil {
			all = append(all, m.demand.Inspect())
			continue
		}
		all = append(all, inspect.Member{Name: m.name, Client: m.client.number, Starts: 1})
	}
	return all
}

// present returns the present members. The slice is immutable: a change of the group creates a new slice.
func (g *Group) present() []*member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clip(g.members)
}

// WaitForReady waits until each member is ready or has given up, or until ctx ends. The error joins a [*MemberError]
// for each member that is not ready. The group still works with the other members. WaitForReady starts no client, and
// does not wait for members with Lazy or Idle whose clients are not running.
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
	to, err := g.route(ctx, name, options)
	defer to.release()
	p := &mcp.CallToolParams{Name: name, Arguments: arguments}
	switch {
	case err == nil:
		return to.client.CallTool(ctx, to.tool, arguments, to.options...)
	case to.client != nil:
		err = to.client.failed(ctx, mcp.MethodCallTool, p, options, err)
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
		if to = all[0].options.Telemetry; to == nil {
			to = telemetry.New()
		}
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
