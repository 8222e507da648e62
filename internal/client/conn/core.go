package conn

import (
	"context"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Conn keeps a server connected. It contains the state machine, the connection with its session, and the requests in
// flight. It has no knowledge of tools, lists and tasks. It reports events other than the outcome of a request to
// [Features].
type Conn struct {
	features  Features
	Settings  *Settings // may be shared by several clients
	Transport transport.Transport
	Telemetry *instrument.Client
	pace      *pace // decides when a session lends a caller the turn to read; see [turn]

	Base   context.Context // ends with the machine; carries no span
	cancel context.CancelFunc

	mu sync.Mutex
	// sent when the open connection has been closed; guarded by mu
	freed   broadcast.Signal
	m       machine.Machine                      // guarded by mu
	calls   *inflight.Table[*Request, headstone] // guarded by mu
	lastID  int64                                // last request ID; guarded by mu
	buried  int                                  // number of tombstones that telemetry knows of; guarded by mu
	conn    *openLink                            // the present connection; nil in backoff and closing; guarded by mu
	session *Session                             // set if and only if the state is ready; guarded by mu

	parent *instrument.Ref // caller's span of Connect or New; nil after the first attempt has used it; guarded by mu

	// Small fields are adjacent, to avoid padding.
	attempt   instrument.Ref // the latest attempt; zero before the first; guarded by mu
	open      bool           // a connection is open, opening or closing; guarded by mu
	draining  bool           // the client refuses new operations; guarded by mu
	probeLost bool           // the server ended during the probe, so the next attempt does not probe; guarded by mu
	knownEra  mcp.Era        // era of the server; 0 if unknown; guarded by mu

	lastErr error       // why the last attempt or connection failed; guarded by mu
	refusal error       // why the client has given up; guarded by mu
	waiters []*waiter   // guarded by mu
	timer   *time.Timer // fires at armed; guarded by mu
	armed   time.Time   // time when timer fires; zero if it is not set; guarded by mu

	teller teller // reports events, in order

	goroutines sync.WaitGroup // all goroutines of the client, including handlers
}

// Features are the parts of a client other than requests and their answers. The core reports events of the connection
// to them.
type Features interface {
	// Negotiated is called when there is a new session, possibly with another server, before anything is sent in it.
	Negotiated()
	// Began is called when a session has begun, before any of its messages is read.
	Began(s *Session)
	// Notified handles a notification. It is called in the goroutine that reads.
	Notified(r *Reader, m *jsonrpc.Message)
	// Serve handles a request of the server. It is called in the goroutine that reads.
	Serve(r *Reader, m *jsonrpc.Message, answer Answerer)
	// Missed is called when notifications or requests of the server may have been lost. cause is a Gap constant of package
	// names.
	Missed(cause string)
	// Authorized is called when the client has new credentials, which all later requests use.
	Authorized()
	// AskForLife sends a request whose only purpose is an answer: a ping, or its replacement in revisions without ping. It
	// returns false if the session has ended.
	AskForLife(s *Session) bool
	// Ended is called when the core has ended. The core holds its mutex during the call.
	Ended()
}

// Init initializes c without starting it.
func (c *Conn) Init(cfg *Settings, t transport.Transport, tel *instrument.Client, parent instrument.Ref, f Features) {
	c.features, c.Settings, c.Transport, c.Telemetry, c.pace = f, cfg, t, tel, &UsualPace
	if parent != (instrument.Ref{}) {
		c.parent = new(parent)
	}
	c.teller.core = c
	c.Base, c.cancel = context.WithCancel(context.Background())
	c.calls = inflight.New(cfg.Inflight(), headstoneOf)
}

// Discard ends a core that was never started.
func (c *Conn) Discard() {
	c.cancel()
	c.Telemetry.Close()
}

// GaveUp returns the reason why the core gave up. It returns nil if the core is running or was stopped.
func (c *Conn) GaveUp() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refusal
}

// Drain makes the core refuse requests, except requests of operations that have already begun.
func (c *Conn) Drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
}

// Draining reports whether Drain was called.
func (c *Conn) Draining() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.draining
}

// Stop ends the core. It then waits for the core's goroutines until they end, a quarter of CloseTimeout has passed, or
// ctx ends.
func (c *Conn) Stop(ctx context.Context) error { return c.stop(ctx, machine.Stop) }

// StopIdle is like Stop, for a client that nothing uses. It also waits until the connection is closed, which takes
// longer if a process does not end in time: see Close of transport.Conn.
func (c *Conn) StopIdle() {
	_ = c.stop(context.Background(), machine.Idle) // always nil: the context does not end
	c.acquire(nil)
	c.release()
}

func (c *Conn) stop(ctx context.Context, why machine.Event) error {
	c.step(machine.Input{Event: why}, nil)
	select {
	case <-c.Base.Done():
	case <-ctx.Done():
		select {
		case <-c.Base.Done(): // the core ended before ctx, or at the same time
		default:
			return context.Cause(ctx)
		}
	}
	left := make(chan struct{})
	go func() { // the goroutine ends with the last goroutine of the client
		c.goroutines.Wait()
		close(left)
	}()
	handlers := time.NewTimer(c.Settings.CloseTimeout / 4)
	defer handlers.Stop()
	select {
	case <-left:
	case <-handlers.C: // a handler that ignores its context may still run
	case <-ctx.Done():
	}
	return nil
}

// Spawn runs f in a goroutine that Stop waits for. The core must not have ended.
func (c *Conn) Spawn(f func()) { c.goroutines.Go(f) }
