package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/keepalive"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrSilent is the reason for the end of a session if the client has not answered a ping.
var ErrSilent = errors.New("the client has not answered a ping")

// Watch starts to ping a silent client, if [Options.KeepAlive] is set.
func (c *Conn) Watch() {
	if every := c.Server.KeepAlive; every > 0 {
		c.alive = keepalive.Start(every, func() bool { return c.ping(2 * every) }, func() { c.Quit(ErrSilent) })
	}
}

// ping starts to send a ping and reports whether the client can get a ping. Only legacy clients get pings, and only
// after the answer to initialize. patience limits the wait for the answer; the end of the session also ends the wait.
// (specification 2025-11-25, basic/utilities/ping)
func (c *Conn) ping(patience time.Duration) bool {
	agreed := c.X.Terms.Agreed.Load()
	if at := c.X.Out.Reach(); agreed == nil || !at.Asks || !at.Read {
		return false
	}
	q := rpc.Inquirer{Exchange: &c.X.Exchange, Out: c.X.Out, Version: agreed.Version, Context: c.X.Work}
	return c.X.Group.Start(&pinging{q, patience})
}

// pinging is the task that sends the ping. It ignores the answer, because every received message counts as a sign of
// life.
type pinging struct {
	q        rpc.Inquirer
	patience time.Duration
}

// Run implements the task.
func (p *pinging) Run() {
	ctx, cancel := context.WithTimeout(p.q.Context, p.patience)
	defer cancel()
	_, _ = p.q.Ask(ctx, pingQuestion{})
}

// pingQuestion is the ping as a question to the client.
type pingQuestion struct{}

func (pingQuestion) Method() string                              { return mcp.MethodPing }
func (pingQuestion) Params() json.RawMessage                     { return nil }
func (pingQuestion) Meta() mcp.Meta                              { return nil }
func (pingQuestion) Take(context.Context, json.RawMessage) error { return nil }
