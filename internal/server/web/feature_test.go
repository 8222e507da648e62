package web_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// ferry is a minimal server for a Handler, as another package would write it. It echoes the method of each request.
// For some methods it first sends a notification.
type ferry struct {
	*web.Handler
	sessions map[string]*deck
}

func newFerry(o *web.Options) *ferry {
	f := &ferry{sessions: map[string]*deck{}}
	o.Legacy, o.Modern = []mcp.Version{mcp.Version20250326}, []mcp.Version{mcp.Version20260728}
	o.FrameLimit, o.MaxRequests, o.MaxWaiting, o.MaxSessions, o.MaxBodies = 64<<20, 10, 10, 10, 1<<30
	o.Principal = func(r *http.Request) string { return r.Header.Get("Principal") }
	f.Handler = web.New(f, o)
	return f
}

// passage is the exchange of one HTTP request.
type passage struct {
	rpc.Exchange
	version mcp.Version
}

// ticket is a stateless request.
type ticket struct {
	web.Stateless
	passage passage
	call    echo
}

func (f *ferry) NewStateless() *web.Stateless {
	t := new(ticket)
	t.passage.Server = &t.passage
	t.call.Call.Handler = &t.call
	t.Exchange, t.Call = &t.passage.Exchange, &t.call.Call
	return &t.Stateless
}

func (f *ferry) Prepare(x *rpc.Exchange, _ *http.Request, c web.Client, t web.Terms) {
	x.Peer = &rpc.Peer{Observer: c.Observer}
	x.Server.(*passage).version = t.Version
}

func (f *ferry) Open(life context.Context, o *web.Opening) (web.Conn, func(error)) {
	group := rpc.NewGroup(0)
	d := &deck{client: o.Client, table: rpc.NewCalls(o.Requests, 0, 64<<20, group, nil)}
	work, end := context.WithCancelCause(life)
	d.passage.Exchange = rpc.Exchange{
		Engine: &rpc.Engine{Calls: d.table, Group: group, FrameLimit: 64 << 20},
		Peer:   &rpc.Peer{Observer: o.Observer}, Server: &d.passage, Asks: rpc.NewAsks(), Out: o.Out, Work: work, Life: life,
	}
	f.sessions[o.Principal] = d
	return d, end
}

func (f *ferry) Observer(n instrument.Network) rpc.Observer { return rpc.Observer{Network: n} }
func (f *ferry) Unsupported(mcp.Version) *mcp.Error         { return rpc.ErrInternal }
func (f *ferry) IsNotice(web.Notice) bool                   { return true }
func (f *ferry) Announce([]web.Notice, []web.Conn)          {}
func (f *ferry) AnnounceAll()                               {}
func (f *ferry) EndStreams()                                {}
func (f *ferry) Farewell() time.Duration                    { return 0 }
func (f *ferry) Close(context.Context)                      {}

func (p *passage) NewCall() *rpc.Call {
	c := new(echo)
	c.Call.Handler = c
	return &c.Call
}

func (p *passage) Notified(*jsonrpc.Message) error               { return nil }
func (p *passage) Describe(*jsonrpc.Message) instrument.Incoming { return instrument.Incoming{} }
func (p *passage) Version() mcp.Version                          { return p.version }
func (p *passage) Cancellation(reason string) error              { return rpc.Cancellation(reason) }
func (p *passage) CountRefused(string, rpc.Answer, bool)         {}
func (p *passage) Elsewhere() rpc.Elsewhere                      { return nil }

// deck is the connection of a session. It inherits the methods for sessions in a store from a nil Conn.
type deck struct {
	web.Conn
	passage passage
	client  web.Client
	table   *rpc.Calls
	reason  error
}

func (d *deck) Principal() string       { return d.client.Principal }
func (d *deck) Account() quota.Account  { return d.client.Account }
func (d *deck) Exchange() *rpc.Exchange { return &d.passage.Exchange }
func (d *deck) Watch()                  {}
func (d *deck) Heard()                  {}
func (d *deck) Busy() bool              { return d.table.Busy(0) }
func (d *deck) HoldNotices()            {}
func (d *deck) ResumeNotices()          {}
func (d *deck) Because(reason error)    { d.reason = reason }
func (d *deck) Why() error              { return d.reason }
func (d *deck) Leave(error)             {}

func (d *deck) Serving(*http.Request) *rpc.Exchange {
	p := d.passage
	p.Server = &p
	return &p.Exchange
}

func (d *deck) Close() int {
	rpc.CloseGroup(d.passage.Group)
	return 0
}

// echo is a request, and its handler.
type echo struct {
	rpc.Call
	method string
}

func (c *echo) Begin(method string, _ json.RawMessage, _ jsonrpc.Params) {
	c.method = method
	c.Start(new(instrument.Incoming))
}

func (c *echo) Handle(ctx context.Context) (any, error) {
	if c.method == "told" {
		return c.method, c.Out.Notify(ctx, []byte(`{"jsonrpc":"2.0","method":"hello"}`))
	}
	return c.method, nil
}

func (c *echo) Encode(dst []byte, result any, err error) (frame, rest []byte, wrong error) {
	if err != nil {
		return rpc.AppendError(dst, c.ID, rpc.WireError(err)), nil, err
	}
	raw, err := json.Marshal(result)
	return jsonrpc.AppendAnswer(dst, c.ID, "result", raw), nil, err
}

func (c *echo) Wait(over <-chan struct{})                     { <-over }
func (c *echo) Close(error)                                   {}
func (c *echo) Outcome(_ any, err, _ error) instrument.Result { return rpc.ResultOf(err) }
func (c *echo) Left(why error) instrument.Result              { return rpc.ResultOf(why) }
func (c *echo) About() (string, mcp.Version)                  { return c.method, "" }
func (c *echo) Value() any                                    { return c }

func TestHandlerServesCustomServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFerry(new(web.Options))
		id := ""
		for _, step := range []struct {
			name, method, version, body string
			status                      int
			want                        string
		}{
			{"a modern request", "POST", "2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"a"}`, 200,
				`{"jsonrpc":"2.0","id":1,"result":"a"}`},
			{"one with a notification", "POST", "2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"told"}`, 200,
				"data: {\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"told\"}\n\n"},
			{"a session", "POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, 200,
				`{"jsonrpc":"2.0","id":1,"result":"initialize"}`},
			{"a request in it", "POST", "", `{"jsonrpc":"2.0","id":2,"method":"b"}`, 200,
				`{"jsonrpc":"2.0","id":2,"result":"b"}`},
			{"a notification", "POST", "", `{"jsonrpc":"2.0","method":"b"}`, 202, ""},
			{"the end of the session", "DELETE", "", "", 204, ""},
			{"a request after the end", "POST", "", `{"jsonrpc":"2.0","id":3,"method":"b"}`, 404,
				`{"jsonrpc":"2.0","error":{"code":-32001,"message":"session not found"}}`},
		} {
			r := httptest.NewRequestWithContext(t.Context(), step.method, "/", strings.NewReader(step.body))
			r.Header.Set("Content-Type", "application/json")
			if step.version != "" {
				r.Header.Set("Mcp-Protocol-Version", step.version)
			} else if id != "" {
				r.Header.Set("Mcp-Session-Id", id)
			}
			w := httptest.NewRecorder()
			f.ServeHTTP(w, r)
			if got, _ := io.ReadAll(w.Body); w.Code != step.status || string(got) != step.want {
				t.Errorf("%s: the response is %d %s, want %d %s", step.name, w.Code, got, step.status, step.want)
			}
			if new := w.Header().Get("Mcp-Session-Id"); new != "" {
				id = new
			}
		}
		if err := f.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if l := f.Load(); l != (web.Load{Closing: true}) {
			t.Errorf("the handler has %+v in the end, want nothing", l)
		}
	})
}

func TestEventsCountAgainstTheAccountOfTheirSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := store.NewMemoryEvents(0, 40<<20) // 64 MiB for all sessions together
		f := newFerry(&web.Options{Events: events})
		ids := map[string]string{}
		for _, s := range []struct {
			id, account string
			size        int
		}{{"bob", "bob", 25 << 20}, {"one", "alice", 20 << 20}, {"two", "alice", 20 << 20}} {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/",
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Principal", s.account)
			w := httptest.NewRecorder()
			f.ServeHTTP(w, r)
			ids[s.id] = w.Header().Get("Mcp-Session-Id")
			if err := f.sessions[s.account].passage.Out.Notify(t.Context(), make([]byte, s.size)); err != nil {
				t.Fatal(err)
			}
		}
		kept := func(id string) (n int) {
			for range events.Behind(t.Context(), ids[id], store.EventID{}) {
				n++
			}
			return n
		}
		if kept("bob") != 1 || kept("one") != 0 || kept("two") != 1 {
			t.Errorf("%d and %d events of the account with two sessions and %d events of the other account are kept, "+
				"want 0, 1 and 1",
				kept("one"), kept("two"), kept("bob"))
		}
		if err := f.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if kept("bob")+kept("two") != 0 {
			t.Error("events are kept after the end of the sessions, want none")
		}
	})
}
