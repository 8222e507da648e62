package conn

import (
	"errors"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/keepalive"
)

// errSilent is why a connection is given up that hangs.
var errSilent = &failure{event: machine.TransportDown,
	err: errors.New("the server says nothing, and does not answer a ping")}

// watchOver begins to look after the server of a session, if the options say so and the session has a connection:
// without one, there is nothing between two requests that could hang.
func (c *Conn) watchOver(s *Session) *keepalive.Watch {
	every := c.Settings.KeepAlive
	if every == 0 || s.OwnStreams {
		return nil
	}
	return keepalive.Start(every, func() bool { return c.features.AskForLife(s) }, func() { c.fail(s.Epoch, errSilent) })
}
