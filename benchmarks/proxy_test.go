package benchmarks

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// BenchmarkThroughAProxy measures calls with and without a proxy in between; the difference is the cost of the proxy,
// which runs in the measured process.
func BenchmarkThroughAProxy(b *testing.B) {
	floor := workload.FloorJSON
	floor.HTTP = nil // its requests lack headers that the proxy requires
	workload.TextRoundtrips(b, floor, behindAProxy(floor), workload.Ours, behindAProxy(workload.Ours))
}

// behindAProxy returns a peer whose servers have a proxy in front of them.
func behindAProxy(p workload.Peer) workload.Peer {
	direct := p
	p.Name += "-proxied"
	p.Pipe = nil
	p.Stdio = func(ctx context.Context, command, env []string) (workload.Client, error) {
		proxy, err := mcpproxy.New(&transport.Stdio{Command: command[0], Args: command[1:], Env: env}, nil)
		if err != nil {
			return nil, err
		}
		in, w, r, out, err := workload.Pipes()
		if err != nil {
			return nil, err
		}
		served := make(chan error, 1)
		go func() {
			served <- proxy.Serve(context.Background(), mcpserver.NewStreamConn(in, out, mcpproxy.DefaultFrameLimit))
		}()
		c, err := direct.Pipe(ctx, r, w)
		if err != nil {
			return nil, errors.Join(err, w.Close(), r.Close(), <-served)
		}
		return proxied{c, func() error {
			if err := <-served; err != io.EOF {
				return err
			}
			return nil
		}}, nil
	}
	if direct.HTTP == nil {
		return p
	}
	p.HTTP = func(ctx context.Context, url string) (workload.Client, error) {
		proxy, err := mcpproxy.New(&transport.HTTP{URL: url}, nil)
		if err != nil {
			return nil, err
		}
		h := proxy.HTTPHandler(nil)
		url, stop, err := workload.Listen(http.Handler(h))
		if err != nil {
			return nil, err
		}
		end := func() error {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			defer stop()
			return h.Shutdown(ctx)
		}
		c, err := direct.HTTP(ctx, url)
		if err != nil {
			return nil, errors.Join(err, end())
		}
		return proxied{c, end}, nil
	}
	return p
}

// proxied is a client whose Close also ends its proxy.
type proxied struct {
	workload.Client
	end func() error
}

func (p proxied) Close() error { return errors.Join(p.Client.Close(), p.end()) }
