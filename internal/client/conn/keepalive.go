package conn

import (
	"errors"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/keepalive"
)

// errSilent is the reason for closing a connection whose server does not respond.
var errSilent = &failure{event: machine.TransportDown,
	err: errors.New("the server sends nothing and does not answer a ping")}

// watchOver starts the keep-alive of a session if the options require one. A session over HTTP with one stream for each
// request needs no keep-alive: between two requests, no stream is open that could hang.
func (c *Conn) watchOver(s *Session) *keepalive.Watch {
	every := c.Settings.KeepAlive
	if every == 0 || s.OwnStreams {
		return nil
	}
	return keepalive.Start(every, func() bool { return c.features.AskForLife(s) }, func() { c.fail(s.Epoch, errSilent) })
}
