package engine

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Exchange extends an [rpc.Exchange] with the sender of the messages, the sender's terms and the HTTP request. A role
// embeds an Exchange, and implements the methods NewCall, Notified and Cancellation of [rpc.Server].
type Exchange struct {
	rpc.Exchange
	Home   *Server
	Client *Peer
	Terms  *Terms
	Conn   *Conn // nil for a stateless message over HTTP

	Headers     web.Headers   // headers of a modern message over HTTP; nil otherwise
	HTTPRequest *http.Request // HTTP request with the message; nil for any other connection
}

// base returns x. A role's exchange embeds an Exchange, so it has this method, too.
func (x *Exchange) base() *Exchange { return x }

// Stateless holds the data of a stateless request for package web and for this package, in one allocation with the
// exchange and the call of a role.
type Stateless struct {
	web.Stateless
	sender Peer
}

// With connects x to e, a part of the role's exchange, and to c, the role's call. It returns the part of x for package
// web.
func (x *Stateless) With(e *Exchange, role rpc.Server, c *rpc.Call) *web.Stateless {
	e.Server, e.Client = role, &x.sender
	x.Exchange, x.Call = &e.Exchange, c
	return &x.Stateless
}

// Carry prepares x, a copy of a connection's exchange, for the messages of one HTTP request. role is the copy of the
// role's exchange that embeds x.
func (x *Exchange) Carry(r *http.Request, role rpc.Server) *rpc.Exchange {
	x.Server = role
	x.Work = within.Values(x.Work, r.Context())
	x.HTTPRequest = r
	return &x.Exchange
}

// Version implements [rpc.Server].
func (x *Exchange) Version() mcp.Version {
	if a := x.Terms.Agreed.Load(); a != nil {
		return a.Version
	}
	return ""
}

// Elsewhere implements [rpc.Server].
func (x *Exchange) Elsewhere() rpc.Elsewhere {
	if x.Conn == nil || x.Conn.others == nil {
		return nil
	}
	return x.Conn.others
}

// Amend changes the stored state of a session in all processes. See [web.Others].
func (x *Exchange) Amend(ctx context.Context, change func()) error {
	if x.Conn == nil || x.Conn.others == nil {
		change()
		return nil
	}
	return x.Conn.others.Amend(ctx, change)
}

// Describe implements [rpc.Server].
func (x *Exchange) Describe(m *jsonrpc.Message) instrument.Incoming {
	in := instrument.Incoming{
		Method: m.Method, Known: true, Notification: true, Size: m.Size(), Untrusted: x.Peer.Untrusted,
	}
	x.describeHTTP(&in)
	p, err := m.Params()
	if err == nil {
		rpc.DescribeTrace(&in, &p)
	}
	if a := x.Terms.Agreed.Load(); a != nil {
		in.Peer = x.Peer.Seen(a.Version)
		in.ClientName, in.ClientVersion = a.Client.Name, a.Client.Version
	} else if x.HTTPRequest != nil {
		in.Peer = x.Peer.Seen(mcp.Version(x.HTTPRequest.Header.Get(web.HeaderVersion)))
	} else if v, ok := x.Home.Speaks(p.ProtocolVersion); ok {
		in.Peer = x.Peer.Seen(v)
	}
	return in
}

// Incoming describes a request for telemetry. m is its method, nil if the method is unknown.
func (x *Exchange) Incoming(c *rpc.Call, p *jsonrpc.Params, m *Method, target, uri string) instrument.Incoming {
	name, v := c.Handler.About()
	in := instrument.Incoming{
		Method: name, Target: target, Known: m != nil, URI: uri, Size: c.Size,
		Peer: x.Peer.Seen(v), Untrusted: x.Peer.Untrusted, Principal: x.Client.Principal, ReportsTool: true,
	}
	in.ID, _ = c.ID.Text()
	in.IntID, in.HasIntID = c.ID.Int()
	if m != nil {
		in.TargetKind = m.Kind
	}
	x.describeHTTP(&in)
	rpc.DescribeTrace(&in, p)
	return in
}

// Introduced returns the client's name and version, empty if they are unknown.
func (x *Exchange) Introduced(method string, from Sender, params json.RawMessage) (name, version string) {
	switch {
	case from.Agreed != nil:
		return from.Agreed.Client.Name, from.Agreed.Client.Version
	case method == mcp.MethodInitialize:
		from.Info, _ = mcp.Object(params).Lookup("clientInfo")
	}
	return x.Home.Introductions.Read(from.Info)
}

// describeHTTP adds the remote address and the headers of the HTTP request, if there is one.
func (x *Exchange) describeHTTP(in *instrument.Incoming) {
	if r := x.HTTPRequest; r != nil {
		in.RemoteAddr, in.Header = r.RemoteAddr, r.Header
	}
}

// CountRefused implements [rpc.Server].
func (x *Exchange) CountRefused(reason string, a rpc.Answer, told bool) {
	r := instrument.Refusal{Reason: reason, Err: a.Err, Told: told}
	if x.HTTPRequest != nil {
		r.Status, r.RemoteAddr = web.StatusOf(a, x.Headers != nil), x.HTTPRequest.RemoteAddr
	}
	x.Peer.Tel.Refused(x.Work, r)
}

// countRefusal counts a request that the server refused because of a limit, a shutdown or a failing session store. The
// error is already on the request's span.
func (x *Exchange) countRefusal(err error) {
	if reason := refusalReason(err); reason != "" {
		x.CountRefused(reason, rpc.Answer{Err: err, Refused: true}, true)
	}
}

// Outcome describes the end of a request for telemetry, and counts a refused request. end describes the result or err.
// lost is the reason why the answer could not be sent.
func (x *Exchange) Outcome(c *rpc.Call, end instrument.Result, err, lost error) instrument.Result {
	if c.Refused != nil {
		x.countRefusal(c.Refused)
	}
	end.Told = err == rpc.ErrPanicked
	switch {
	case c.Ended != nil:
		end = Interrupted(end, c.Ended)
	case err != nil:
		end = Interrupted(end, err)
	case lost != nil:
		end = instrument.Result{ErrorType: names.ErrorConnectionLost, Err: lost}
	}
	return end
}
