package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/keepalive"
	"github.com/mcpotel/mcpotel/mcp"
)

// ErrSessionSilent is the reason for the end of a session if the client has not answered a ping; see
// [Options.KeepAlive].
var ErrSessionSilent = errors.New("the client has not answered a ping")

// watchOver starts to ping a silent client, if [Options.KeepAlive] is set.
func (c *connection) watchOver() {
	if every := c.exchange.s.cfg.KeepAlive; every > 0 {
		c.alive = keepalive.Start(every, func() bool { return c.ping(2 * every) }, func() { c.quit(ErrSessionSilent) })
	}
}

// ping starts to send a ping, and reports whether it can: only legacy clients get pings, after the answer to
// initialize. patience limits the wait for the answer; the session ends earlier. (specification 2025-11-25,
// basic/utilities/ping)
func (c *connection) ping(patience time.Duration) bool {
	agreed := c.exchange.terms.agreed.Load()
	if agreed == nil {
		return false
	}
	q, err := c.inquirer(agreed.version)
	if err != nil {
		return false
	}
	return c.exchange.Group.Start(pinging{q, patience})
}

// pinging is the task that sends the ping. It ignores the answer, because every received message counts as a sign of
// life.
type pinging struct {
	q        *inquirer
	patience time.Duration
}

func (p pinging) Run() {
	ctx, cancel := context.WithTimeout(p.q.Context, p.patience)
	defer cancel()
	_ = p.q.inquire(ctx, &inquiry{question: pingQuestion{}, key: mcp.MethodPing})
}

// pingQuestion is the ping as a question to the client.
type pingQuestion struct{}

func (pingQuestion) Method() string { return mcp.MethodPing }

func (pingQuestion) check() error { return nil }

func (pingQuestion) missing(_ mcp.Version, _, _ *mcp.ClientCapabilities) bool { return false }

func (pingQuestion) params(mcp.Version, *mcp.ClientCapabilities) (any, error) { return nil, nil }

func (pingQuestion) Take(context.Context, json.RawMessage) error { return nil }
