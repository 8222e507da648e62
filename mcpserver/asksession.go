package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrSessionClosed is the reason for the end of a session after a [Session.Close] with a nil reason.
var ErrSessionClosed = errors.New("the server has closed the session")

// AskAll asks the client of the session several questions at once, outside of any request, for example for changed
// roots or for a sample that a background job needs. Otherwise it behaves like the function [AskAll]. It waits for the
// answers until ctx or the session ends.
//
// The requests are sent on the connection, or over HTTP on the stream that the client has opened by GET. AskAll returns
// [ErrUnsupported] if the client has not declared the capability, has not opened such a stream, or has not sent
// notifications/initialized, and over HTTP if another process may hold the stream (see [HTTPOptions.Sessions]). Modern
// clients have no sessions and can be asked only during a request.
// (specification 2025-11-25, client; basic/transports, "Listening for Messages from the Server")
func (s *Session) AskAll(ctx context.Context, asks ...*Ask) error {
	if s == nil || s.conn == nil {
		return fmt.Errorf("%w: there is no session", ErrUnsupported)
	}
	agreed := s.conn.exchange.Terms.Agreed.Load()
	switch {
	case agreed == nil:
		return fmt.Errorf("%w: its session is not open", ErrUnsupported)
	case !s.conn.exchange.Terms.Confirmed.Load():
		return errUnconfirmed
	}
	q, err := s.conn.inquirer(agreed.Version)
	if err != nil {
		return err
	}
	from := engine.Sender{Agreed: agreed}
	items, err := inquiries(&from, agreed.Version, asks)
	if err != nil {
		return err
	}
	return q.inquireEach(ctx, items)
}

// inquirer returns an inquirer that asks a client of revision v outside of any request.
func (c *connection) inquirer(v mcp.Version) (*inquirer, error) {
	if at := c.exchange.Out.Reach(); !at.Asks || !at.Read {
		return nil, fmt.Errorf("%w: it listens to no stream for what belongs to no request", ErrUnsupported)
	}
	return &inquirer{
		Inquirer: rpc.Inquirer{
			Exchange: &c.exchange.Exchange.Exchange, Out: c.exchange.Out, Version: v, Context: c.exchange.Work,
		},
		sites: c.sites,
	}, nil
}

// Close ends the session and its connection: the contexts of its handlers end, and [Server.Serve] returns reason. Over
// HTTP, the client then gets 404 and opens another session, as for an expired session. A [Terminator] gets the reason;
// a nil reason means [ErrSessionClosed]. Close does not wait, and does nothing if the session has ended.
// (specification 2025-11-25, basic/transports, "Session Management")
func (s *Session) Close(reason error) {
	if s == nil || s.conn == nil {
		return
	}
	if reason == nil {
		reason = ErrSessionClosed
	}
	s.conn.Quit(reason)
}
