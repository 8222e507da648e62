package inspectview

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/command/traceview"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpproxy"
)

// Options configure a Session. All fields are required.
type Options struct {
	Member mcpclient.Member // the server, and the options of its client
	// CommandLine returns the command line of mcpotel that does something with the same server, quoted for a shell.
	CommandLine func(words ...string) string
	// Start starts the span around an operation.
	Start    func(ctx context.Context, name string) (context.Context, trace.Span)
	Snapshot func() otlpsink.Snapshot
	Say      func(url string) // prints a new address, after the one before was used
}

// A Session is a connection to one server, with the history of a person's calls. It is safe for concurrent use.
type Session struct {
	options   Options
	frames    frames
	recorded  recorded
	recorder  *mcpproxy.Recorder // writes to recorded
	questions questions
	lists     lists
	traces    *traceview.Pages
	guard     guard

	running   context.Context // ends with the Session
	end       context.CancelCauseFunc
	operating sync.WaitGroup // the operations in flight

	connecting sync.Mutex // held by Connect

	mu         sync.Mutex
	client     *mcpclient.Client
	operations []*operation // the oldest first
	started    int          // number of all operations
	updated    []update     // the newest resource updates, the oldest first
	subscribed map[string]bool
	level      mcp.LoggingLevel // the last level that was set for the client; empty for none
}

// An update is a notification that a resource has changed.
type update struct {
	Time time.Time
	URI  string
}

// maxUpdates bounds the resource updates that a Session keeps.
const maxUpdates = 100

// errClosed is the cause for operations that Close ends.
var errClosed = errors.New("mcpotel inspect has ended")

// New returns a Session that is not connected yet.
func New(o Options) (*Session, error) {
	s := &Session{options: o, subscribed: map[string]bool{}}
	s.recorder = mcpproxy.NewRecorder(&s.recorded, &mcpproxy.RecorderOptions{Content: true})
	recorded, err := s.recorder.Transport(o.Member.Transport)
	if err != nil {
		return nil, err
	}
	s.guard = newGuard(o.Say)
	s.running, s.end = context.WithCancelCause(context.Background())
	options := *o.Member.Options
	options.Features = append(options.Features[:len(options.Features):len(options.Features)], s.questions.features()...)
	options.Features = append(options.Features, s.lists.features()...)
	options.Features = append(options.Features, mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) {
		s.resourceUpdated(uri)
	}))
	s.options.Member.Options = &options
	s.options.Member.Transport = &tap{recorded, &s.frames}
	s.traces = traceview.New(traceview.Options{Snapshot: o.Snapshot, Before: s.nav("")})
	return s, nil
}

// Connect opens the connection and returns at once; the client connects on its own, and again after each loss. If there
// is a connection, Connect closes it first.
func (s *Session) Connect() error {
	s.connecting.Lock()
	defer s.connecting.Unlock()
	s.mu.Lock()
	old := s.client
	s.mu.Unlock()
	if old != nil {
		old.Close()
	}
	c, err := mcpclient.New(s.options.Member.Transport, s.options.Member.Options)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running.Err() != nil {
		c.Close()
		return errClosed
	}
	s.client = c
	clear(s.subscribed)
	s.level = ""
	s.lists.drop()
	return nil
}

// Address returns the address that admits the next browser. port is the port of the pages.
func (s *Session) Address(port string) string { return s.guard.address(port) }

// Client returns the current client.
func (s *Session) Client() *mcpclient.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// Close ends all operations and the connection, and waits until they have ended.
func (s *Session) Close() {
	s.end(errClosed)
	s.mu.Lock()
	c := s.client
	s.mu.Unlock()
	if c != nil {
		c.Close()
	}
	s.operating.Wait()
	_ = s.recorder.Close() // a recording that has ended early is no failure of the session
}

func (s *Session) resourceUpdated(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updated = append(s.updated, update{time.Now(), cut(maxName, uri)})
	s.updated = s.updated[max(0, len(s.updated)-maxUpdates):]
}
