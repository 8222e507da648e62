package mcpclient

import (
	"context"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/internal/machine"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// core keeps a server connected: the state machine, the connection and its session, the requests in flight. It knows no
// tool, no list and no task. What it has to tell, beyond the outcome of a request, it tells features.
type core struct {
	features  features
	cfg       *settings // may be that of other clients, too
	transport transport.Transport
	tel       *instrument.Client
	pace      *pace // at which sessions lend their turn to read

	base   context.Context // ends when the machine has; carries no span
	cancel context.CancelFunc

	mu sync.Mutex
	// guarded by mu; closed when no connection is open any more; nil if none waits
	freed   chan struct{}
	m       machine.Machine                      // guarded by mu
	calls   *inflight.Table[*request, headstone] // guarded by mu
	lastID  int64                                // guarded by mu; the last request id given out
	buried  int                                  // guarded by mu; tombstones that telemetry knows of
	conn    *openLink                            // guarded by mu; what the present epoch opened, nil in backoff
	session *session                             // guarded by mu; not nil if and only if ready

	// What is small lies together, without gaps.
	parent    instrument.Ref // the caller's span of Connect or New, parent of the first attempt
	attempt   instrument.Ref // guarded by mu; the latest attempt
	open      bool           // guarded by mu; a connection is open, or being opened or closed
	telling   bool           // guarded by mu; the goroutine that tells is running
	probeLost bool           // guarded by mu; the server died on the probe: do without it
	knownEra  mcp.Era        // guarded by mu; what the server turned out to be, 0 if unknown

	lastErr error       // guarded by mu; why the last attempt or connection failed
	refusal error       // guarded by mu; why the client gave up for good
	waiters []*waiter   // guarded by mu
	timer   *time.Timer // guarded by mu; fires at armed
	armed   time.Time   // guarded by mu; zero if the timer is not set

	records []record      // guarded by mu; what has happened and not been told yet
	untold  int           // guarded by mu; records that had no room there
	told    chan struct{} // guarded by mu; closed when it has told everything; nil unless a goroutine waits for that

	goroutines sync.WaitGroup // all that the client started, handlers included
}

// features are what a client does beyond requests and their answers, as far as the core has to tell it of the
// connection.
type features interface {
	// negotiated hears that there is a session with what may be another server, before anything is sent in it.
	negotiated()
	// began hears that a session has begun, before anything of it is read.
	began(s *session)
	// notified hears of a notification, in the goroutine that reads.
	notified(r *reader, m *jsonrpc.Message)
	// serve gets a request of the server, in the goroutine that reads.
	serve(r *reader, m *jsonrpc.Message, answer answerer)
	// authorized hears that requests have another authorization from now on.
	authorized()
	// askForLife sends the server something to answer, and reports false if the session is over.
	askForLife(s *session) bool
	// ended hears that the core has ended. It is called with the core's mutex held.
	ended()
}

// init makes c a core that has not been started.
func (c *core) init(cfg *settings, t transport.Transport, tel *instrument.Client, parent instrument.Ref, f features) {
	c.features, c.cfg, c.transport, c.tel, c.parent, c.pace = f, cfg, t, tel, parent, &usualPace
	c.base, c.cancel = context.WithCancel(context.Background())
	c.calls = inflight.New(cfg.inflight(), headstoneOf)
}

// discard ends a core that has not been started.
func (c *core) discard() {
	c.cancel()
	c.tel.Close()
}

// gaveUp returns why the core gave up, nil if it has not or if it was stopped.
func (c *core) gaveUp() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refusal
}

// stop ends the core, and waits for what it has started as long as [Client.Stop] says.
func (c *core) stop(ctx context.Context) error {
	c.step(machine.Input{Event: machine.Stop}, nil)
	select {
	case <-c.base.Done():
	case <-ctx.Done():
		select {
		case <-c.base.Done(): // first, or at the same time
		default:
			return context.Cause(ctx)
		}
	}
	left := make(chan struct{})
	go func() { // ends with the last goroutine of the client
		c.goroutines.Wait()
		close(left)
	}()
	handlers := time.NewTimer(c.cfg.CloseTimeout / 4)
	defer handlers.Stop()
	select {
	case <-left:
	case <-handlers.C: // a handler that ignores its context ends when it likes
	case <-ctx.Done():
	}
	return nil
}

// spawn runs f in a goroutine that stop waits for. The core must not have ended.
func (c *core) spawn(f func()) { c.goroutines.Go(f) }
