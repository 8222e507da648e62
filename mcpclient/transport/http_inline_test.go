package transport_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// inlined returns a call of the modern era that may be done in the goroutine of its sender, and what tells how to end
// that.
func inlined(id int64) (transport.Message, <-chan func()) {
	m, ends := modernCall(id), make(chan func(), 1)
	m.Inline = func(end func()) { ends <- end }
	return m, ends
}

func TestSendWaitsForAnAnswerThatIsOneText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, http.StatusOK, result(1)) })
		conn := dialHTTP(t, b.transport(), transport.Config{})
		m, ends := inlined(1)
		answered := false
		m.Answer = func(f transport.Frame) bool {
			answered = string(f.Data) == result(1)
			return true
		}
		send(t, conn, m)
		if !answered || len(ends) != 1 {
			t.Errorf("when Send returned: answered %v, told %d times how to end it; want once, and then the answer", answered,
				len(ends))
		}
		(<-ends)() // means nothing any more
	})
}

func TestSendDoesNotWaitForAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		b := newBubble(t, func(w http.ResponseWriter, _ *http.Request) {
			answerEvents(w, event(`{"jsonrpc":"2.0","method":"notifications/message"}`))
			<-answer
			writeFlushed(w, event(result(1)))
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		m, _ := inlined(1)
		send(t, conn, m)
		if f := receive(t, conn); f.Request != 1 || f.Err != nil {
			t.Errorf("received %+v, want the notification on the stream of request 1", f)
		}
		close(answer)
		if f := receive(t, conn); string(f.Data) != result(1) {
			t.Errorf("received %+v, want the answer", f)
		}
	})
}

func TestSendReturnsWhenItsExchangeIsEnded(t *testing.T) {
	for name, end := range map[string]func(end, cancel func(), conn transport.Conn){
		"by what Inline got": func(end, _ func(), _ transport.Conn) { end() },
		"by its context":     func(_, cancel func(), _ transport.Conn) { cancel() },
		"by Cancel":          func(_, _ func(), conn transport.Conn) { conn.Cancel(1, transport.Message{}) },
		"by Close":           func(_, _ func(), conn transport.Conn) { _ = conn.Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				closed := false
				b := newBubble(t, func(_ http.ResponseWriter, r *http.Request) {
					_ = readSent(r)
					<-r.Context().Done() // the client has closed the stream
					closed = true
				})
				conn := dialHTTP(t, b.transport(), transport.Config{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				m, ends := inlined(1)
				sent := make(chan error, 1)
				go func() { sent <- conn.Send(ctx, m) }()
				synctest.Wait()
				if len(sent) > 0 {
					t.Fatal("Send returned without an answer")
				}
				end(<-ends, cancel, conn)
				if err := <-sent; err != nil {
					t.Errorf("Send: %v, want the message to have been accepted", err)
				}
				synctest.Wait()
				if !closed {
					t.Error("the stream is still open")
				}
			})
		})
	}
}

// foreign is a RoundTripper that may do anything.
type foreign struct{ http.RoundTripper }

type noAuthorizer struct{}

func (noAuthorizer) Authorize(*http.Request) error            { return nil }
func (noAuthorizer) Review(*http.Response, int) (bool, error) { return false, nil }

func TestSendWaitsForNothingThatMayTakeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(w http.ResponseWriter,
			r *http.Request) {
			answerJSON(w, http.StatusOK, result(readSent(r).ID))
		})
		for name, test := range map[string]struct {
			h       *transport.HTTP
			version string
		}{
			"the legacy era": {b.transport(), "2025-11-25"},
			"an authorizer": {&transport.HTTP{URL: bubbleURL, Client: b.client(), Authorizer: noAuthorizer{}},
				"2026-07-28"},
			"a client of another kind": {&transport.HTTP{URL: bubbleURL,
				Client: &http.Client{Transport: foreign{b.client().Transport}}}, "2026-07-28"},
		} {
			conn := dialHTTP(t, test.h, transport.Config{})
			m, ends := inlined(1)
			m.ProtocolVersion = test.version
			send(t, conn, m)
			if f := receive(t, conn); string(f.Data) != result(1) || len(ends) > 0 {
				t.Errorf("%s: received %s, inline %v; want the answer from another goroutine", name, f.Data, len(ends) > 0)
			}
		}
	})
}
