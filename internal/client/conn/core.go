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

// Conn keeps a server connected: the state machine, the connection and its session, the requests in flight. It knows no
// tool, no list and no task. What it has to tell, beyond the outcome of a request, it tells [Features].
type Conn struct {
	features  Features
	Settings  *Settings // may be that of other clients, too
	Transport transport.Transport
	Telemetry *instrument.Client
	pace      *pace // at which sessions lend their turn to read

	Base   context.Context // ends when the machine has; carries no span
	cancel context.CancelFunc

	mu sync.Mutex
	// guarded by mu; sent when no connection is open any more
	freed   broadcast.Signal
	m       machine.Machine                      // guarded by mu
	calls   *inflight.Table[*Request, headstone] // guarded by mu
	lastID  int64                                // guarded by mu; the last request id given out
	buried  int                                  // guarded by mu; tombstones that telemetry knows of
	conn    *openLink                            // guarded by mu; what the present epoch opened, nil in backoff
	session *Session                             // guarded by mu; not nil if and only if ready

	parent *instrument.Ref // guarded by mu; the caller's span of Connect or New, until the first attempt is its child

	// What is small lies together, without gaps.
	attempt   instrument.Ref // guarded by mu; the latest attempt, none before the first
	open      bool           // guarded by mu; a connection is open, or being opened or closed
	draining  bool           // guarded by mu; no operation begins any more
	probeLost bool           // guarded by mu; the server died on the probe: do without it
	knownEra  mcp.Era        // guarded by mu; what the server turned out to be, 0 if unknown

	lastErr error       // guarded by mu; why the last attempt or connection failed
	refusal error       // guarded by mu; why the client gave up for good
	waiters []*waiter   // guarded by mu
	timer   *time.Timer // guarded by mu; fires at armed
	armed   time.Time   // guarded by mu; zero if the timer is not set

	teller teller // of what has happened

	goroutines sync.WaitGroup // all that the client started, handlers included
}

// Features are what a client does beyond requests and their answers, as far as the core has to tell it of the
// connection.
type Features interface {
	// Negotiated hears that there is a session with what may be another server, before anything is sent in it.
	Negotiated()
	// Began hears that a session has begun, before anything of it is read.
	Began(s *Session)
	// Notified hears of a notification, in the goroutine that reads.
	Notified(r *Reader, m *jsonrpc.Message)
	// Serve gets a request of the server, in the goroutine that reads.
	Serve(r *Reader, m *jsonrpc.Message, answer Answerer)
	// Missed hears why messages of the server that answer no request may be lost: a Gap word of package names.
	Missed(cause string)
	// Authorized hears that requests have another authorization from now on.
	Authorized()
	// AskForLife sends the server something to answer, and reports false if the session is over.
	AskForLife(s *Session) bool
	// Ended hears that the core has ended. It is called with the core's mutex held.
	Ended()
}

// Init makes c a core that has not been started.
func (c *Conn) Init(cfg *Settings, t transport.Transport, tel *instrument.Client, parent instrument.Ref, f Features) {
	c.features, c.Settings, c.Transport, c.Telemetry, c.pace = f, cfg, t, tel, &UsualPace
	if parent != (instrument.Ref{}) {
		c.parent = new(parent)
	}
	c.teller.core = c
	c.Base, c.cancel = context.WithCancel(context.Background())
	c.calls = inflight.New(cfg.Inflight(), headstoneOf)
}

// Discard ends a core that has not been started.
func (c *Conn) Discard() {
	c.cancel()
	c.Telemetry.Close()
}

// GaveUp returns why the core gave up, nil if it has not or if it was stopped.
func (c *Conn) GaveUp() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refusal
}

// Drain has the core refuse requests, but for those of operations that have begun.
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

// Stop ends the core. Then it waits for what the core has started, for a quarter of CloseTimeout at most, or until ctx
// ends.
func (c *Conn) Stop(ctx context.Context) error {
	c.step(machine.Input{Event: machine.Stop}, nil)
	select {
	case <-c.Base.Done():
	case <-ctx.Done():
		select {
		case <-c.Base.Done(): // first, or at the same time
		default:
			return context.Cause(ctx)
		}
	}
	left := make(chan struct{})
	go func() { // ends with the last goroutine of the client
		c.goroutines.Wait()
		close(left)
	}()
	handlers := time.NewTimer(c.Settings.CloseTimeout / 4)
	defer handlers.Stop()
	select {
	case <-left:
	case <-handlers.C: // a handler that ignores its context ends when it likes
	case <-ctx.Done():
	}
	return nil
}

// Spawn runs f in a goroutine that stop waits for. The core must not have ended.
func (c *Conn) Spawn(f func()) { c.goroutines.Go(f) }
