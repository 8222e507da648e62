package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrSessionClosed is why a session ends that [Session.Close] has ended for no reason of its own.
var ErrSessionClosed = errors.New("the server has closed the session")

// AskAll asks the client of the session for everything at once, outside of any request: roots that have changed, a
// sample for a job of the server's own. It is [AskAll] otherwise, and waits for the answers as long as ctx and the
// session last.
//
// What is asked goes where nothing belongs to a request: on the connection, or over HTTP on the stream that the client
// has opened by GET. The error is [ErrUnsupported] if the client has not opened one, if it has not declared that it
// answers, before its notifications/initialized, and over HTTP where another process may have that stream (see
// [HTTPOptions.Sessions]). Modern clients have no sessions, and can only be asked in answer to a request.
// (specification 2025-11-25, client; basic/transports, "Listening for Messages from the Server")
func (s *Session) AskAll(ctx context.Context, asks ...*Ask) error {
	if s == nil || s.conn == nil {
		return fmt.Errorf("%w: there is no session", ErrUnsupported)
	}
	agreed := s.conn.exchange.terms.agreed.Load()
	switch {
	case agreed == nil:
		return fmt.Errorf("%w: its session is not open", ErrUnsupported)
	case !s.conn.exchange.terms.confirmed.Load():
		return errUnconfirmed
	}
	q, err := s.conn.inquirer(agreed.version)
	if err != nil {
		return err
	}
	from := client{agreed: agreed}
	items, err := from.inquiries(agreed.version, asks)
	if err != nil {
		return err
	}
	return q.inquireEach(ctx, items)
}

// inquirer returns what asks a client of a revision outside of any request.
func (c *connection) inquirer(v mcp.Version) (*inquirer, error) {
	if at := c.exchange.Out.Reach(); !at.Asks || !at.Read {
		return nil, fmt.Errorf("%w: it listens to no stream for what belongs to no request", ErrUnsupported)
	}
	return &inquirer{
		Inquirer: rpc.Inquirer{
			Exchange: &c.exchange.Exchange, Out: c.exchange.Out, Version: v, Context: c.exchange.Work,
		},
		sites: c.sites,
	}, nil
}

// Close ends the session, and the connection that it is on: the contexts of its handlers end, and [Server.Serve]
// returns reason. Over HTTP the client gets 404 from then on and opens another session, as when it has expired. A
// [Terminator] hears of the reason, nil standing for [ErrSessionClosed]. Close does not wait, and does nothing for a
// session that has ended. (specification 2025-11-25, basic/transports, "Session Management")
func (s *Session) Close(reason error) {
	if s == nil || s.conn == nil {
		return
	}
	if reason == nil {
		reason = ErrSessionClosed
	}
	s.conn.quit(reason)
}
