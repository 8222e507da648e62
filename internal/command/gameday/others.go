package gameday

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// described returns a function that changes the description of the tool bad and lists the tools.
func (s *stage) described(o *mcpclient.Options) (func(ctx context.Context, description string) error, error) {
	server, err := s.serve(nil)
	if err != nil {
		return nil, err
	}
	c, err := s.connect(to(server), o)
	shown := ""
	return func(ctx context.Context, description string) error {
		if description != shown {
			server.RemoveTools(bad)
			if err := add(server, bad, description, ok); err != nil {
				return err
			}
			shown = description
		}
		_, err := c.ListTools(ctx, nil, mcpclient.WithoutCache(), mcpclient.WaitForReady())
		return err
	}, err
}

// growing makes the list of tools grow by 4 % in each round, from 8 KiB. The size then stays far above the median of
// the earlier sizes for long enough to raise the alert.
func growing(_ context.Context, s *stage) (round, error) {
	list, err := s.described(nil)
	size := 8192.0
	return func(ctx context.Context, broken bool) error {
		if !broken {
			size = 8192
		}
		text := strings.Repeat("x", int(math.Min(size, 1<<20)))
		size *= 1.04
		return list(ctx, text)
	}, err
}

// changing changes the description of a tool in every sixth round.
func changing(_ context.Context, s *stage) (round, error) {
	list, err := s.described(&mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseDriftDetection(nil)}})
	n := 0
	return func(ctx context.Context, broken bool) error {
		if broken {
			n++
		}
		return list(ctx, fmt.Sprintf("version %d", (n+5)/6))
	}, err
}

// gate is a transport that can be closed, together with its connection.
type gate struct {
	transport.Transport
	closed atomic.Bool
	cut    atomic.Pointer[context.CancelFunc] // ends the latest connection
}

// at returns a gate in front of a server. The gate is closed at first.
func at(server *mcpserver.Server) *gate {
	g := &gate{}
	g.Transport = transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		g.cut.Store(&cancel)
		_ = server.Serve(ctx, p)
	})
	g.closed.Store(true)
	return g
}

// close cuts the connection and refuses new ones.
func (g *gate) close() {
	g.closed.Store(true)
	if cut := g.cut.Load(); cut != nil {
		(*cut)()
	}
}

func (g *gate) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	if g.closed.Load() {
		return nil, errors.New("this is a game day: the server cannot be reached")
	}
	return g.Transport.Dial(ctx, cfg)
}

// unreachable makes the server unreachable for the client, whose calls do not wait for the connection.
func unreachable(_ context.Context, s *stage) (round, error) {
	server, err := s.serve(nil)
	if err != nil {
		return nil, err
	}
	g := at(server)
	c, err := s.connect(g, &mcpclient.Options{Backoff: mcpclient.Backoff{Max: 2 * time.Second}})
	return func(ctx context.Context, broken bool) error {
		if !broken {
			g.closed.Store(false)
			return calls(ctx, c, 1)
		}
		g.close()
		if err := c.WaitForState(ctx, connstate.Backoff); err != nil {
			return err
		}
		_, err := c.CallTool(ctx, fine, nil)
		return wrong(err)
	}, err
}

// breaking breaks the connection repeatedly, each time after a successful call.
func breaking(_ context.Context, s *stage) (round, error) {
	c, err := s.pair(map[string]tool{bad: ok}, chaos.Fault{Kind: chaos.Cut, Tool: bad})
	n := 0
	return func(ctx context.Context, broken bool) error {
		if err := calls(ctx, c, 1); err != nil || !broken {
			return err
		}
		if n++; !due(n) {
			return nil
		}
		return wrong(call(ctx, c, bad))
	}, err
}

// slowly is the server's end of a connection. It reads only one message per second while asked is set.
type slowly struct {
	*transport.Peer
	asked *atomic.Bool
}

func (p slowly) Receive(ctx context.Context) ([]byte, error) {
	if p.asked.Load() {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	return p.Peer.Receive(ctx)
}

// unread makes messages wait until the server reads them.
func unread(_ context.Context, s *stage) (round, error) {
	server, err := s.serve(nil)
	if err != nil {
		return nil, err
	}
	var slow atomic.Bool
	t := transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		_ = server.Serve(ctx, mcpserver.Conn(slowly{p, &slow}))
	})
	c, err := s.connect(t, nil)
	return func(ctx context.Context, broken bool) error {
		if slow.Store(broken); !broken {
			return calls(ctx, c, making)
		}
		for range 2 {
			s.behind.Go(func() { _ = calls(ctx, c, 1) }) // ends with its timeout
		}
		return nil
	}, err
}

// presence simulates a process that starts and ends. The process is a separate service with a client; each round uses
// the client once.
func (s *stage) presence(use func(ctx context.Context, c *mcpclient.Client) error) round {
	var c *mcpclient.Client
	return func(ctx context.Context, here bool) (err error) {
		if !here {
			c = nil
			return s.close(ctx)
		}
		if c == nil {
			if s.service, err = s.begin(ctx); err != nil {
				return err
			}
			s.closing = append(s.closing, s.service.Shutdown)
			if c, err = s.pair(nil); err != nil {
				return err
			}
		}
		return use(ctx, c)
	}
}

// overflowing makes calls and pings, which need more series than the SDK of the process allows. The process ends when
// broken is false.
func overflowing(_ context.Context, s *stage) (round, error) {
	return s.presence(func(ctx context.Context, c *mcpclient.Client) error {
		return errors.Join(calls(ctx, c, 1), c.Ping(ctx))
	}), nil
}

// absent ends the process and starts it again.
func absent(_ context.Context, s *stage) (round, error) {
	present := s.presence(func(ctx context.Context, c *mcpclient.Client) error { return calls(ctx, c, 1) })
	return func(ctx context.Context, broken bool) error { return present(ctx, !broken) }, nil
}
