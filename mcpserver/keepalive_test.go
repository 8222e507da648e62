package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const pinged = `{"jsonrpc":"2.0","id":%d,"method":"ping"}`

func TestSilentClientGetsPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, mcpserver.Options{KeepAlive: time.Minute})
		w := serve(t, t.Context(), s)
		time.Sleep(time.Hour + 30*time.Second) // without a session, the server cannot send a ping
		w.expect(t)
		w.send(initialize)
		w.taken()
		for i := range 3 {
			time.Sleep(2*time.Minute + time.Second)
			synctest.Wait()
			w.expect(t, fmt.Sprintf(pinged, i+1))
			answer := `{"jsonrpc":"2.0","id":%d,"result":{}}`
			if i == 1 {
				answer = `{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"no"}}` // an error is also a sign of life
			}
			w.send(fmt.Sprintf(answer, i+1))
		}
		for range 10 {
			time.Sleep(50 * time.Second)
			w.send(initialized) // any other message is also a sign of life
		}
		w.expect(t)
		if took := elapsedUntil(w.result, "the client has not answered a ping", t); took > 3*time.Minute ||
			took < 2*time.Minute {
			t.Errorf("the session was closed after %v, want two to three minutes", took)
		}
	})
}

// elapsedUntil waits for an error and returns the elapsed time.
func elapsedUntil(result <-chan error, want string, t *testing.T) time.Duration {
	t.Helper()
	begun := time.Now()
	wantError(t, <-result, want)
	return time.Since(begun)
}

func TestKeepAliveSkipsModernClientsAndIsOffByDefault(t *testing.T) {
	t.Run("a modern client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := speak(t, newServer(t, mcpserver.Options{KeepAlive: time.Minute}), mcp.Version20260728)
			w.ask(mcp.MethodDiscover, "")
			time.Sleep(time.Hour)
			w.expect(t)
			w.bye()
		})
	})
	t.Run("by default", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := speak(t, newServer(t, mcpserver.Options{}), mcp.Version20251125)
			time.Sleep(time.Hour)
			w.expect(t)
			w.bye()
		})
	})
}

func TestHTTPClientGetsPingsOnItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var why error
		s := newServer(t, mcpserver.Options{KeepAlive: time.Minute})
		must(t, s.Implement(leaving{&why}))
		w := serveWeb(t, s, &mcpserver.HTTPOptions{KeepAlive: -1, Timeouts: mcpserver.HTTPTimeouts{Session: -1}})
		header := []string{"Mcp-Session-Id", w.open("2025-11-25")}
		time.Sleep(time.Hour)
		if p := w.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, header...); p.status != http.StatusOK {
			t.Errorf("a session without a stream got %d, want that it is there", p.status)
		}
		stream := w.stream("GET", "", header...)
		if m := stream.message(); m.Method != mcp.MethodPing {
			t.Errorf("the client got %+v, want a ping", m)
		}
		w.post(`{"jsonrpc":"2.0","id":1,"result":{}}`, header...)
		if m := stream.message(); m.Method != mcp.MethodPing {
			t.Errorf("the client got %+v, want another ping", m)
		}
		for { // until the session ends; only a cancellation of the ping may come before
			if _, err := stream.reader.Next(); err != nil {
				break
			}
		}
		if p := w.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, header...); p.status != http.StatusNotFound {
			t.Errorf("then the client got %d, want 404", p.status)
		}
		w.end()
		if why != mcpserver.ErrSessionSilent {
			t.Errorf("the session ended because %v, want %v", why, mcpserver.ErrSessionSilent)
		}
	})
}

// leaving records the reason for which a session ends.
type leaving struct{ why *error }

func (l leaving) Terminate(_ context.Context, _ *mcpserver.Session, reason error) { *l.why = reason }
