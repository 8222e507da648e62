package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrSessionClosed is the default reason of [Session.Close], for a nil reason.
var ErrSessionClosed = errors.New("the server has closed the session")

// AskAll asks the client of the session several questions at once, outside of any request. For example, a server may
// need the roots after a change, or a background job may need a message from the client's model. Otherwise AskAll
// behaves like [RequestInfo.AskAll]. It waits for the answers until ctx or the session ends.
//
// The server sends the requests on the connection, or over HTTP on the stream that the client has opened by GET.
// AskAll returns [ErrUnsupported] if the client has not declared the capability, has not opened such a stream, or
// has not sent notifications/initialized. Over HTTP, it also returns [ErrUnsupported] if another process may hold
// the stream (see [HTTPOptions.Sessions]). Modern clients have no sessions and can be asked only during a request.
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
		return nil, fmt.Errorf("%w: it has opened no stream for messages outside of requests", ErrUnsupported)
	}
	return &inquirer{
		Inquirer: rpc.Inquirer{
			Exchange: &c.exchange.Exchange.Exchange, Out: c.exchange.Out, Version: v, Context: c.exchange.Work,
		},
		sites: c.sites,
	}, nil
}

// Close ends the session and its connection: the contexts of its handlers end, and [Server.Serve] returns reason.
// Over HTTP, the client gets 404 for its next request and opens another session, as after an expired session. A
// [Terminator] gets the reason; a nil reason means [ErrSessionClosed]. Close does not wait, and does nothing if the
// session has ended.
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

// inquireAll asks a legacy client several questions. While inquireAll waits, the request blocks no other request.
func (c *call) inquireAll(ctx context.Context, items []*inquiry) error {
	c.x.Reader.Release(&c.Call)
	c.x.Asks.Pause(&c.Call)
	defer c.x.Asks.Resume(&c.Call)
	back, ok := c.x.WaitForClient()
	if !ok {
		return rpc.ErrBusy
	}
	defer back()
	return c.inquirer().inquireEach(ctx, items)
}

// inquirer asks a legacy client the questions of handlers.
type inquirer struct {
	rpc.Inquirer
	sites  *sites  // URL elicitations of the client
	rounds *rounds // keeps the answers for further rounds; nil outside of a request
}

// inquirer returns an inquirer that uses the connection or stream on which the client waits for the answer to c.
func (c *call) inquirer() *inquirer {
	return &inquirer{
		Inquirer: rpc.Inquirer{Exchange: c.Call.Exchange, Out: c.Out, Version: c.info.Version, Context: c.Context()},
		sites:    c.x.conn.sites, rounds: &c.rounds,
	}
}

// inquireEach asks several questions concurrently. The first failure cancels the others.
func (q *inquirer) inquireEach(ctx context.Context, items []*inquiry) error {
	if len(items) == 1 {
		return q.inquire(ctx, items[0])
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		asking sync.WaitGroup
		once   sync.Once
		first  error
	)
	fail := func(err error) {
		once.Do(func() { first = err })
		cancel(err)
	}
	for _, it := range items {
		asking.Go(func() { // the goroutine ends with the answer or with ctx
			usercode.Run(func() {
				if err := q.inquire(ctx, it); err != nil {
					fail(err)
				}
			}, func(broken *usercode.Failure) { fail(broken) })
		})
	}
	asking.Wait()
	if broken, ok := errors.AsType[*usercode.Failure](first); ok {
		broken.Repeat() // repeats the panic in the goroutine of the handler that asked
	}
	return first
}

// inquire asks a legacy client one question and waits for the answer.
func (q *inquirer) inquire(ctx context.Context, it *inquiry) error {
	answer, err := q.Ask(ctx, it)
	if err == nil && q.rounds != nil {
		q.rounds.keep(it.key, answer)
	}
	return clientError(err)
}

// Ask sends a request and waits for the answer. It stores the id of a URL elicitation for ElicitationComplete.
func (q *inquirer) Ask(ctx context.Context, it rpc.Question) (json.RawMessage, error) {
	if id, ok := mcp.Object(it.Params()).Lookup("elicitationId"); ok {
		name, _ := jsonrpc.Text(id)
		q.sites.add(name)
	}
	return q.Inquirer.Ask(ctx, it)
}

// clientError converts the refusal of a client to a [*ClientError], and returns any other err unchanged.
func clientError(err error) error {
	if refused, ok := errors.AsType[*rpc.RefusalError](err); ok {
		return (*ClientError)(refused)
	}
	return err
}

func (it *inquiry) Params() json.RawMessage { return it.encoded }
func (it *inquiry) Meta() mcp.Meta          { return tasks.Related(it.encoded) }
