package benchmarks

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// BenchmarkReconnect is a call to a server on a pipe that has gone since the last one, and is there anew at once: until
// the call has its answer. The floors make a client anew when a call fails. Ours has no backoff, and its caller waits
// for readiness and repeats a call that was lost.
func BenchmarkReconnect(b *testing.B) {
	for _, e := range workload.Eras {
		name := "transport=pipe/era=" + string(e) + "/peer="
		for _, p := range []workload.Peer{workload.Floor, workload.FloorJSON} {
			b.Run(name+p.Name, func(b *testing.B) { connectsAnew(b, &phoenix{era: e}, p) })
		}
		b.Run(name+workload.Ours.Name, func(b *testing.B) { reconnects(b, &phoenix{era: e}) })
	}
}

// phoenix is a server that ends and is there anew.
type phoenix struct {
	era workload.Era

	mu   sync.Mutex
	kill func() // ends the server there is and waits for it; guarded by mu
}

// start returns the client's ends of the pipes to the server.
func (p *phoenix) start() (r, w *os.File, err error) {
	in, w, r, out, err := workload.Pipes()
	if err != nil {
		return nil, nil, err
	}
	var server sync.WaitGroup
	server.Go(func() { // ends when its pipes are closed
		_ = workload.Canned{Era: p.era, Shape: workload.Text, Size: workload.Tiny}.Serve(in, out)
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

func connectsAnew(b *testing.B, server *phoenix, p workload.Peer) {
	connect := func() workload.Client {
		r, w, err := server.start()
		if err != nil {
			b.Fatal(err)
		}
		c, err := p.Pipe(workload.WithEra(b.Context(), server.era), r, w)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	c := connect()
	each(b, 0, func() error {
		server.die()
		if _, err := c.Call(b.Context(), workload.TinyTool); err == nil {
			return errWrong
		}
		_ = c.Close()
		c = connect()
		_, err := c.Call(b.Context(), workload.TinyTool)
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
	tiny(b, c)
	each(b, 0, func() error {
		server.die()
		for {
			_, err := c.CallTool(b.Context(), workload.TinyTool, workload.Hello, mcpclient.WaitForReady())
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
	return workload.Streams(r, w).Dial(ctx, cfg)
}
