package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// lighthouse is a role as another package would write it. It answers each request with the name of its method. It
// answers the method "wait" only when the context of the handler ends.
type lighthouse struct {
	mu   sync.Mutex
	ends []error // reasons why the clients have left
}

func newServer() (*engine.Server, *lighthouse) {
	l := new(lighthouse)
	modern := []mcp.Version{mcp.Version20260728}
	return engine.New(&engine.Options{
		Name: "lighthouse", MaxConcurrent: 2, FrameLimit: 1 << 20, Telemetry: telemetry.Off(), Versions: modern,
		Modern: modern, DrainTimeout: time.Minute, Enlist: func(uint64) {},
	}, l), l
}

// exchange is the role's exchange.
type exchange struct{ engine.Exchange }

func (x *exchange) NewCall() *rpc.Call { return new(beam).of(x) }

func (x *exchange) Notified(*jsonrpc.Message) error { return nil }

func (x *exchange) Cancellation(reason string) error { return rpc.Cancellation(reason) }

// ship is the role's part of a connection.
type ship struct {
	*engine.Conn
	noSession
	light *lighthouse
	x     exchange
}

func (l *lighthouse) Connect(c *engine.Conn, base engine.Exchange) engine.Client {
	s := &ship{Conn: c, light: l, x: exchange{base}}
	s.x.Server, c.X = &s.x, &s.x.Exchange
	return s
}

func (s *ship) Drain() { rpc.Wait(s.x.Group, s.Server.DrainTimeout) }

func (s *ship) Leave(reason error) {
	s.light.mu.Lock()
	defer s.light.mu.Unlock()
	s.light.ends = append(s.light.ends, reason)
}

// noSession implements the methods for sessions over HTTP. The client of the test has no session.
type noSession struct{}

func (noSession) EndStreams()                               {}
func (noSession) End() int                                  { return 0 }
func (noSession) Watching() (int, int)                      { return 0, 3 }
func (noSession) Serving(*http.Request) *rpc.Exchange       { return nil }
func (noSession) HoldNotices()                              {}
func (noSession) ResumeNotices()                            {}
func (noSession) State() web.State                          { return web.State{} }
func (noSession) SetState(*web.State)                       {}
func (noSession) Restore(context.Context, *web.State) error { return nil }
func (noSession) Watched() []string                         { return nil }
func (noSession) Rewatch(context.Context, []string)         {}
func (noSession) Announce([]web.Notice)                     {}
func (noSession) AnnounceAll()                              {}
func (noSession) Log(mcp.LoggingLevel, []byte)              {}
func (noSession) Complete(string)                           {}

// harbor is the role's part of an HTTP handler.
type harbor struct{ *engine.HTTP }

func (l *lighthouse) Handle(h *engine.HTTP) (engine.Handler, error) {
	if h.Stateless {
		return nil, errors.New("no light without a ship")
	}
	return harbor{h}, nil
}

func (harbor) NewStateless() *web.Stateless {
	x := new(struct {
		request  engine.Stateless
		exchange exchange
		call     beam
	})
	return x.request.With(&x.exchange.Exchange, &x.exchange, x.call.of(&x.exchange))
}

func (harbor) IsNotice(web.Notice) bool          { return false }
func (harbor) Announce([]web.Notice, []web.Conn) {}
func (harbor) AnnounceAll()                      {}
func (harbor) EndStreams()                       {}
func (harbor) Farewell() time.Duration           { return 0 }
func (harbor) Close(context.Context)             {}
func (harbor) Subscriptions() (open, limit int)  { return 4, 5 }

// beam is a request, and its handler.
type beam struct {
	rpc.Call
	x      *exchange
	method string
}

func (b *beam) of(x *exchange) *rpc.Call {
	b.x, b.Handler = x, b
	return &b.Call
}

func (b *beam) Begin(method string, _ json.RawMessage, p jsonrpc.Params) {
	b.method = method
	_, _, b.Refused = b.x.Home.ModernTerms(&p)
	b.Start(new(instrument.Incoming))
}

func (b *beam) Handle(ctx context.Context) (any, error) {
	if b.method == "wait" {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return map[string]string{"method": b.method}, nil
}

func (b *beam) Encode(dst []byte, result any, err error) (frame, rest []byte, wrong error) {
	if err != nil {
		return rpc.AppendError(dst, b.ID, rpc.WireError(err)), nil, err
	}
	raw, err := json.Marshal(result)
	return jsonrpc.AppendAnswer(dst, b.ID, "result", raw), nil, err
}

func (b *beam) Outcome(_ any, err, lost error) instrument.Result {
	return b.x.Exchange.Outcome(&b.Call, rpc.ResultOf(err), err, lost)
}

func (b *beam) Close(error)                      {}
func (b *beam) Left(why error) instrument.Result { return engine.WithoutAnswer(why) }
func (b *beam) About() (string, mcp.Version)     { return b.method, "" }
func (b *beam) Value() any                       { return b }
func (b *beam) Targets() (target, uri string)    { return "", "" }
func (b *beam) Wait(over <-chan struct{})        { <-over }

// pipe is a connection to a client of the test.
type pipe struct {
	in     chan string // closed after the last frame
	mu     sync.Mutex
	sent   []string
	closed bool
}

func (p *pipe) Send(_ context.Context, frame []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, string(frame))
	return nil
}

func (p *pipe) receive(ctx context.Context) ([]byte, error) {
	select {
	case frame, ok := <-p.in:
		if !ok {
			return nil, io.EOF
		}
		return []byte(frame), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *pipe) Close() error {
	p.closed = true
	return nil
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{}}`

func requestOf(id, method string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + meta + `}}`
}

func TestARoleOfAnotherPackageServesConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newServer()
		p := &pipe{in: make(chan string)}
		ctx, cancel := context.WithCancelCause(t.Context())
		served := make(chan error)
		go func() { served <- s.Serve(ctx, p, p.receive) }()
		p.in <- requestOf("1", "flash")
		p.in <- requestOf("2", "wait")
		synctest.Wait()
		var i inspect.Server
		s.Inspect(&i)
		if i.Connected != 1 || i.InFlight != 1 || i.Subscriptions != 3 || len(s.Conns()) != 1 {
			t.Errorf("the inspection is %+v, want one connection with one request and three subscriptions", i)
		}
		over := errors.New("over")
		cancel(over)
		if err := <-served; err != over {
			t.Errorf("Serve returned %v, want %v", err, over)
		}
		if want := []string{
			`{"jsonrpc":"2.0","id":1,"result":{"method":"flash"}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the server is shutting down"}}`,
		}; strings.Join(p.sent, "\n") != strings.Join(want, "\n") || !p.closed {
			t.Errorf("the client got %q, want %q and the end", p.sent, want)
		}
		if len(l.ends) != 1 || l.ends[0] != over || s.IsConnected() {
			t.Errorf("reasons of clients that left: %v, want only %v", l.ends, over)
		}
	})
}

func TestARoleOfAnotherPackageServesHTTP(t *testing.T) {
	s, _ := newServer()
	if _, err := s.NewHTTP(&engine.HTTPOptions{Options: web.Options{Stateless: true}}); err == nil {
		t.Error("NewHTTP returned no error, want the error of the role")
	}
	h, err := s.NewHTTP(&engine.HTTPOptions{Options: web.Options{
		MaxRequests: 1, MaxBodies: 1 << 20, Principal: func(*http.Request) string { return "" },
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(requestOf("1", "flash")))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "flash",
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.Web.ServeHTTP(w, r)
	if got := w.Body.String(); got != `{"jsonrpc":"2.0","id":1,"result":{"method":"flash"}}` {
		t.Errorf("the client got %d %s, want the answer", w.Code, got)
	}
	var i inspect.Server
	s.Inspect(&i)
	if len(i.Handlers) != 1 || i.Subscriptions != 4 {
		t.Errorf("the inspection is %+v, want a handler with four subscriptions", i)
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
