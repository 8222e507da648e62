package workload

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Reconnects measures the time from the end of a server on a pipe, which restarts at once, until the next call has its
// answer. [Ours] reconnects by itself, without backoff; the caller waits for readiness and repeats a lost call. With
// the other peers the caller makes a new client when a call fails.
func Reconnects(b *testing.B, peers ...Peer) {
	for _, e := range Eras {
		for _, p := range peers {
			b.Run("transport=pipe/era="+string(e)+"/peer="+p.Name, func(b *testing.B) {
				if p.Name == Ours.Name {
					reconnects(b, &phoenix{era: e})
				} else {
					connectsAnew(b, &phoenix{era: e}, p)
				}
			})
		}
	}
}

// phoenix is a server that ends and restarts.
type phoenix struct {
	era Era

	mu   sync.Mutex
	kill func() // ends the running server and waits for its end; guarded by mu
}

// start returns the client's ends of the pipes to the server.
func (p *phoenix) start() (r, w *os.File, err error) {
	in, w, r, out, err := Pipes()
	if err != nil {
		return nil, nil, err
	}
	var server sync.WaitGroup
	server.Go(func() { // ends when its pipes are closed
		_ = Canned{Era: p.era, Shape: Text, Size: Tiny}.Serve(in, out)
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kill = func() {
		_ = in.Close()
		_ = out.Close()
		server.Wait()
	}
	return r, w, nil
}

func (p *phoenix) die() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kill()
}

func connectsAnew(b *testing.B, server *phoenix, p Peer) {
	connect := func() Client {
		r, w, err := server.start()
		if err != nil {
			b.Fatal(err)
		}
		c, err := p.Pipe(WithEra(b.Context(), server.era), r, w)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	c := connect()
	repeat(b, 1, func(context.Context) error {
		server.die()
		if _, err := c.Call(b.Context(), TinyTool); err == nil {
			return errors.New("a call to a server that had ended succeeded")
		}
		_ = c.Close()
		c = connect()
		_, err := c.Call(b.Context(), TinyTool)
		return err
	})
	_ = c.Close()
	server.die()
}

func reconnects(b *testing.B, server *phoenix) {
	c, err := mcpclient.Connect(b.Context(), server, &mcpclient.Options{
		ClientInfo: mcp.Implementation{Name: "ours", Version: "1.0"}, Telemetry: telemetry.New(),
		Backoff: mcpclient.Backoff{Min: time.Nanosecond, Max: time.Nanosecond},
	})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := c.CallTool(b.Context(), TinyTool, Hello); err != nil {
		b.Fatal(err)
	}
	repeat(b, 1, func(context.Context) error {
		server.die()
		for {
			_, err := c.CallTool(b.Context(), TinyTool, Hello, mcpclient.WaitForReady())
			if !errors.Is(err, mcpclient.ErrConnectionLost) {
				return err
			}
		}
	})
	if err := c.Close(); err != nil {
		b.Error(err)
	}
	server.die()
}

// A phoenix is a transport that is dialled each time the server has gone.
func (p *phoenix) Name() string               { return "phoenix" }
func (p *phoenix) Network() transport.Network { return transport.Network{Transport: "pipe"} }

func (p *phoenix) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	r, w, err := p.start()
	if err != nil {
		return nil, err
	}
	return Streams(r, w).Dial(ctx, cfg)
}
