// Package fleet runs thousands of clients in one process, which lose their servers at the same time and reconnect
// later. It measures their cost, and whether their attempts to reconnect are spread over time.
//
// Start a [Fleet] with [Connect]; the program in cmd/fleet prints the cost of each phase of a fleet's life. The servers
// are in the same process and in memory, so that the fleet can live in a bubble of testing/synctest, where a minute
// takes no time.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// groups is the number of groups of the clients.
const groups = 10

// A Fleet is a set of clients with a server that may be down. Its methods may be called from any goroutine.
type Fleet struct {
	server  *mcpserver.Server
	clients []*mcpclient.Client

	mu       sync.Mutex
	away     bool
	attempts []time.Time // attempts to connect since the latest outage began
	peers    map[*transport.Peer]struct{}
}

var errAway = errors.New("the server is away")

// Connect returns a fleet of n clients that are ready.
func Connect(ctx context.Context, n int, t *telemetry.Telemetry) (*Fleet, error) {
	f := &Fleet{
		server: mcpserver.New(mcp.Implementation{Name: "fleet", Version: "1"},
			&mcpserver.Options{Telemetry: telemetry.Off()}),
		peers: map[*transport.Peer]struct{}{},
	}
	dial := dialer{transport.InMemory(f.serve), f}
	for i := range n {
		c, err := mcpclient.New(dial, &mcpclient.Options{
			Name: fmt.Sprintf("server-%05d", i), TelemetryGroup: fmt.Sprint("tenant-", i%groups), Telemetry: t,
		})
		if err != nil {
			return f, err
		}
		f.clients = append(f.clients, c)
	}
	return f, f.Await(ctx)
}

// dialer records each attempt, and fails while the server is down.
type dialer struct {
	transport.Transport
	f *Fleet
}

func (d dialer) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	if d.f.attempt() {
		return nil, errAway
	}
	return d.Transport.Dial(ctx, cfg)
}

func (f *Fleet) attempt() (away bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attempts = append(f.attempts, time.Now())
	return f.away
}

func (f *Fleet) serve(ctx context.Context, p *transport.Peer) {
	f.mu.Lock()
	f.peers[p] = struct{}{}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.peers, p)
	}()
	_ = f.server.Serve(ctx, p) // ends with the connection
}

// Leave stops the server: all connections are lost, and no attempt succeeds.
func (f *Fleet) Leave() {
	f.mu.Lock()
	f.away, f.attempts = true, nil
	var all []*transport.Peer
	for p := range f.peers {
		all = append(all, p)
	}
	f.mu.Unlock()
	for _, p := range all {
		p.Close()
	}
}

// Return starts the server again.
func (f *Fleet) Return() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = false
}

// Await waits until all clients are ready.
func (f *Fleet) Await(ctx context.Context) error {
	for _, c := range f.clients {
		if err := c.WaitForReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Attempts divides the time after since into steps and returns how many attempts to connect began in each of them.
func (f *Fleet) Attempts(since time.Time, step time.Duration) (counts []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, at := range f.attempts {
		i := int(at.Sub(since) / step)
		for len(counts) <= i {
			counts = append(counts, 0)
		}
		counts[i]++
	}
	return counts
}

// Stop stops the clients and the server.
func (f *Fleet) Stop(ctx context.Context) error {
	errs := make([]error, len(f.clients))
	var all sync.WaitGroup
	for i, c := range f.clients {
		all.Go(func() { errs[i] = c.Close() })
	}
	all.Wait()
	return errors.Join(append(errs, f.server.Shutdown(ctx))...)
}
