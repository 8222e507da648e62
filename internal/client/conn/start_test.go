package conn_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// heldTransport passes tide/at to the server, but the Send of that request returns only when release is closed.
type heldTransport struct {
	transport.Transport
	release chan struct{}
}

func (h heldTransport) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c, err := h.Transport.Dial(ctx, cfg)
	return heldConn{c, h.release}, err
}

type heldConn struct {
	transport.Conn
	release chan struct{}
}

func (h heldConn) Send(ctx context.Context, m transport.Message) error {
	err := h.Conn.Send(ctx, m)
	if m.Method == "tide/at" {
		<-h.release
	}
	return err
}

// ends collects the outcomes of a request.
type ends chan *conn.Fault

func (e ends) Completed(err *conn.Fault) { e <- err }

// started makes a request of f with Start, in a goroutine that closes sent when Start has returned.
func started(ctx context.Context, f *tide, place string) (q *tideRequest, end ends, sent chan struct{}) {
	q = &tideRequest{Request: conn.NewRequest(&f.core), place: place}
	q.Content, q.Method = q, "tide/at"
	end, sent = make(ends, 2), make(chan struct{})
	go func() {
		q.Start(ctx, end)
		close(sent)
	}()
	return q, end, sent
}

func TestStartedRequestEndsOnce(t *testing.T) {
	for name, test := range map[string]struct {
		place string
		held  bool
		leave bool
		kind  conn.FaultKind
	}{
		"a result":                            {place: "Calais"},
		"a result before Send returns":        {place: "Calais", held: true},
		"an error":                            {place: "nowhere", kind: conn.KindJSONRPC},
		"an error before Send returns":        {place: "nowhere", held: true, kind: conn.KindJSONRPC},
		"the end of ctx after the answer":     {place: "Calais", leave: true},
		"the end of ctx, held, and an answer": {place: "Calais", held: true, leave: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				if !test.held {
					close(release)
				}
				f := newTide(t, heldTransport{harbor(t), release})
				if err := f.core.WaitFor(t.Context(), connstate.Ready); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				q, end, sent := started(ctx, f, test.place)
				synctest.Wait()
				if test.leave {
					cancel()
					synctest.Wait()
				}
				select {
				case err := <-end:
					if err == nil != (test.kind == "") || err != nil && err.Kind != test.kind {
						t.Errorf("got %v, want %q", err, test.kind)
					}
					if test.kind == "" && q.said != "high" {
						t.Errorf("got the result %q", q.said)
					}
				default:
					t.Error("the completion waits for the transport")
				}
				if test.held {
					close(release)
				}
				<-sent
				if err := f.core.Stop(context.Background()); err != nil {
					t.Error(err)
				}
				if len(end) != 0 {
					t.Errorf("the request completed twice, with %v", <-end)
				}
			})
		})
	}
}

func TestStartedRequestEndsWithContextOrClient(t *testing.T) {
	cancelled := make(chan string, 1)
	mute := transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		for {
			frame, err := p.Receive(ctx)
			if err != nil {
				return
			}
			message := mcp.Object(frame)
			id, _ := message.Lookup("id")
			switch method, _ := message.Lookup("method"); string(method) {
			case `"initialize"`:
				_ = p.Send(ctx, []byte(`{"jsonrpc":"2.0","id":`+string(id)+`,"result":{"protocolVersion":"2025-11-25",`+
					`"capabilities":{},"serverInfo":{"name":"mute","version":"1"}}}`))
			case `"notifications/cancelled"`:
				params, _ := message.Lookup("params")
				cancelled <- string(params)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		cancelled = make(chan string, 1)
		f := newTide(t, mute)
		if err := f.core.WaitFor(t.Context(), connstate.Ready); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		q, end, sent := started(ctx, f, "Calais")
		<-sent
		cancel()
		if err := <-end; err.Kind != conn.KindCancelled || err.Unsent {
			t.Errorf("ctx has ended: got %v", err)
		}
		params, _ := mcp.Object(<-cancelled).Lookup("reason")
		if string(params) != `"`+conn.ByCaller+`"` || q.ID == 0 {
			t.Errorf("the server got %s", params)
		}
		_, end, sent = started(t.Context(), f, "Calais")
		<-sent
		if err := <-end; err.Kind != conn.KindTimeout { // the request times out after a second
			t.Errorf("got %v, want a timeout", err)
		}
		<-cancelled
		_, end, sent = started(t.Context(), f, "Calais")
		<-sent
		if err := f.core.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-end; err.Kind != conn.KindShutdown {
			t.Errorf("got %v, want a shutdown", err)
		}
	})
}
