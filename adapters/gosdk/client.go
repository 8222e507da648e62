package gosdk

import (
	"context"
	"runtime"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Client is an instrumented [mcp.Client]. Use it in place of the original client; only Connect differs.
type Client struct {
	*mcp.Client
	links *links
}

// InstrumentClient observes everything that c sends and receives from now on. The name identifies the server: it is the
// value of mcp_client.name. Each session of the client is a separate client in the telemetry.
//
// Connections through the returned Client have more telemetry than connections through c: the attempt to connect, and
// the network.
func InstrumentClient(c *mcp.Client, tel *telemetry.Telemetry, name string) *Client {
	ls := &links{tel: tel, name: name}
	c.AddSendingMiddleware(ls.sending)
	c.AddReceivingMiddleware(ls.receiving)
	return &Client{Client: c, links: ls}
}

// Connect is like [mcp.Client.Connect], and observes the attempt to connect.
func (c *Client) Connect(ctx context.Context, t mcp.Transport, opts *mcp.ClientSessionOptions) (*mcp.ClientSession,
	error) {
	l := c.links.open(networkOf(t))
	ctx, attempt := l.tel.StartAttempt(ctx, instrument.AttemptStart{Number: 1})
	l.attempt, l.connecting = attempt.Ref(), true
	session, err := c.Client.Connect(context.WithValue(ctx, linkKey{}, l), t, opts)
	if err == nil {
		name, version := serverOf(session)
		attempt.Ready(l.peer.Load(), name, version)
	}
	attempt.End(err)
	l.connected(err)
	return session, err
}

// serverOf returns the name and version that the server has announced, if any.
func serverOf(s *mcp.ClientSession) (name, version string) {
	if r := s.InitializeResult(); r != nil && r.ServerInfo != nil {
		return r.ServerInfo.Name, r.ServerInfo.Version
	}
	return "", ""
}

// linkKey is the context key for the link that is being connected.
type linkKey struct{}

// links are the connections of one client.
type links struct {
	tel  *telemetry.Telemetry
	name string
	all  sync.Map // *link by weak.Pointer[mcp.ClientSession], because callers may use a session after its end
}

// open returns the link of a new connection.
func (ls *links) open(n instrument.Network) *link {
	return newLink(instrument.NewClient(ls.tel, ls.name, n), n)
}

// of returns the link of a session. The context of the session's first message has the link.
func (ls *links) of(ctx context.Context, s *mcp.ClientSession) *link {
	key := weak.Make(s)
	if l, ok := ls.all.Load(key); ok {
		return l.(*link)
	}
	l, ok := ctx.Value(linkKey{}).(*link)
	if !ok {
		l = ls.open(instrument.Network{}) // connected through the SDK's own client
	}
	if first, taken := ls.all.LoadOrStore(key, l); taken {
		if first != l {
			l.tel.Close()
		}
		return first.(*link)
	}
	runtime.AddCleanup(s, func(key weak.Pointer[mcp.ClientSession]) { ls.all.Delete(key) }, key)
	l.up()
	go func() { l.over(s.Wait()) }() // ends with the session
	return l
}

func (ls *links) sending(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		s, ok := req.GetSession().(*mcp.ClientSession)
		if !ok {
			return next(ctx, method, req)
		}
		l := ls.of(ctx, s)
		l.identify(method, s)
		l.calling()
		result, err := send(ctx, l.tel, l.peer.Load(), method, req, next)
		l.called(err)
		l.learn(s, result, err)
		return result, err
	}
}

func (ls *links) receiving(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		s, ok := req.GetSession().(*mcp.ClientSession)
		if !ok {
			return next(ctx, method, req)
		}
		l := ls.of(ctx, s)
		return receive(withoutSpan(ctx), l.tel, incoming(method, req.GetParams(), l.peer.Load()), req, nil, next)
	}
}
