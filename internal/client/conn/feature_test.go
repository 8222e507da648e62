package conn_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// tide is a feature that another package could add: a method, a notification, a capability and a cache. The core has no
// knowledge of this feature.
type tide struct {
	core  conn.Conn
	known map[string]string // the cache: the server's answers, until the server reports a change
	hits  int
}

func newTide(t *testing.T, to transport.Transport) *tide {
	cfg := conn.Settings{
		Legacy: []mcp.Version{mcp.Version20251125}, ClientInfo: mcp.Implementation{Name: "tide", Version: "1"},
		Capabilities: mcp.ClientCapabilities{Experimental: map[string]mcp.Object{"tide": mcp.Object(`{}`)}},
		InitTimeout:  time.Second, StartTimeout: time.Second, AuthTimeout: time.Second, CloseTimeout: time.Second,
		BackoffMin: time.Second, BackoffMax: time.Second, RequestTimeout: time.Second, FrameLimit: 1 << 20,
	}
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	f := &tide{known: map[string]string{}}
	f.core.Init(&cfg, to, nil, instrument.Ref{}, f)
	f.core.Start()
	return f
}

// The methods of conn.Features.

func (f *tide) Negotiated()                   { clear(f.known) }
func (f *tide) Began(*conn.Session)           {}
func (f *tide) Missed(string)                 {}
func (f *tide) Authorized()                   {}
func (f *tide) AskForLife(*conn.Session) bool { return true }
func (f *tide) Ended()                        {}

func (f *tide) Notified(_ *conn.Reader, m *jsonrpc.Message) {
	if m.Method == "notifications/tide/changed" {
		clear(f.known)
	}
}

func (f *tide) Serve(_ *conn.Reader, m *jsonrpc.Message, answer conn.Answerer) {
	_ = answer(conn.ErrorFrame(m.ID, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "no such method"}), false)
}

// at returns the tide at a place. It requests the tide from the server, unless the cache contains it.
func (f *tide) at(ctx context.Context, place string) (string, *conn.Fault) {
	if said, ok := f.known[place]; ok {
		f.hits++
		return said, nil
	}
	q := &tideRequest{Request: conn.NewRequest(&f.core), place: place}
	q.Content, q.Method = q, "tide/at"
	if err := q.Do(ctx); err != nil {
		return "", err
	}
	f.known[place] = q.said
	return q.said, nil
}

// tideRequest is one tide/at request and its content.
type tideRequest struct {
	conn.Request
	place, said string
}

func (q *tideRequest) About() instrument.Request { return instrument.Request{Method: q.Method} }
func (q *tideRequest) Started()                  {}

func (q *tideRequest) Encode(s *conn.Session) *conn.Fault {
	params, err := mcp.AppendParams(nil, map[string]string{"place": q.place})
	if err == nil {
		err = q.Write(jsonrpc.AppendRequest, s, nil, params)
	}
	if err != nil {
		return &conn.Fault{Kind: conn.KindInvalid, Op: q.Method, Unsent: true, Cause: err}
	}
	return nil
}

func (q *tideRequest) Receive(_ *conn.Session, m *jsonrpc.Message) error {
	var result struct {
		Tide string `json:"tide"`
	}
	err := conn.DecodeResult(m, &result)
	q.said = strings.Clone(result.Tide)
	return err
}

func (q *tideRequest) Ended(err *conn.Fault) instrument.Result               { return err.Result() }
func (q *tideRequest) Harmless() bool                                        { return true }
func (q *tideRequest) GivenUp(_ *conn.Session, reason string) (string, bool) { return reason, true }
func (q *tideRequest) ReceiveError(_ *conn.Session, m *jsonrpc.Message) (*mcp.Error, error) {
	return conn.DecodeError(m)
}
func (q *tideRequest) Late() conn.LateAnswer { return nil }

// harbor is a server that alternately answers high and low, and reports a change on request.
func harbor(t *testing.T) transport.Transport {
	asked := 0
	return transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		send := func(text string) {
			if err := p.Send(ctx, []byte(text)); err != nil {
				t.Errorf("send: %v", err)
			}
		}
		for {
			frame, err := p.Receive(ctx)
			if err != nil {
				return
			}
			message := mcp.Object(frame)
			id, _ := message.Lookup("id")
			method, _ := message.Lookup("method")
			switch string(method) {
			case `"initialize"`:
				if !bytes.Contains(frame, []byte(`"experimental":{"tide":{}}`)) {
					t.Errorf("initialize without the capability: %s", frame)
				}
				send(`{"jsonrpc":"2.0","id":` + string(id) +
					`,"result":{"protocolVersion":"2025-11-25","capabilities":{},` +
					`"serverInfo":{"name":"harbor","version":"1"}}}`)
			case `"tide/at"`:
				asked++
				if !bytes.Contains(frame, []byte(`"place":"Calais"`)) {
					send(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":-32602,"message":"no such place"}}`)
					continue
				}
				said := []string{"low", "high"}[asked%2]
				send(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"tide":"` + said + `"}}`)
			case `"tell"`:
				send(`{"jsonrpc":"2.0","method":"notifications/tide/changed"}`)
			}
		}
	})
}

func TestFeatureCanBeAddedOutsideCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTide(t, harbor(t))
		if err := f.core.WaitFor(t.Context(), connstate.Ready); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"high", "high", "low"} { // requested, from memory, and requested again after a change
			if said, err := f.at(t.Context(), "Calais"); err != nil || said != want {
				t.Errorf("question %d: got %q and %v, want %q", i, said, err, want)
			}
			if i == 1 {
				if err := f.core.Notify(t.Context(), "tell", nil); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
		}
		if f.hits != 1 {
			t.Errorf("the cache answered %d times, want once", f.hits)
		}
		if _, err := f.at(t.Context(), "nowhere"); err == nil || err.Kind != conn.KindJSONRPC ||
			err.Server.Message != "no such place" {
			t.Errorf("a place that the server does not know: got %v, want the server's error", err)
		}
		if err := f.core.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := f.at(t.Context(), "Dover"); err == nil || err.Kind != conn.KindShutdown {
			t.Errorf("after Stop: got %v, want a shutdown", err)
		}
	})
}
