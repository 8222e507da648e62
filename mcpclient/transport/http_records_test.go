package transport_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// TestRefusedResponseIsRetried checks the retry of a response, because a handler of the server waits for it.
func TestRefusedResponseIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(legacyServer)
		var refusals, accepted atomic.Int32
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if bytes.Contains(body, []byte(`"result"`)) {
				if refusals.Add(-1) >= 0 {
					w.WriteHeader(502)
					return
				}
				accepted.Add(1)
			}
			s.ServeHTTP(w, r)
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		startSession(t, conn)
		refusals.Store(3)
		send(t, conn, transport.Message{Data: []byte(`{"jsonrpc":"2.0","id":"a","result":{}}`), Kind: transport.KindResponse,
			ProtocolVersion: "2025-11-25"})
		time.Sleep(time.Minute)
		if accepted.Load() != 1 {
			t.Errorf("want the server to get the response once, got %d", accepted.Load())
		}
	})
}

func TestRefusalOfANotificationIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(legacyServer) // without a GET stream
		var refuse atomic.Bool
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			if refuse.Load() {
				w.WriteHeader(503)
				return
			}
			s.ServeHTTP(w, r)
		})
		j := &journal{level: slog.LevelDebug, added: make(chan struct{}, 10)}
		conn := dialHTTP(t, b.transport(), transport.Config{Logger: slog.New(j)})
		startSession(t, conn)
		synctest.Wait()
		refuse.Store(true)
		send(t, conn, notification("notifications/cancelled"))
		synctest.Wait()
		send(t, conn, transport.Message{Data: []byte(`{"jsonrpc":"2.0","id":"a","result":{}}`), Kind: transport.KindResponse,
			ProtocolVersion: "2025-11-25"})
		time.Sleep(2 * time.Minute) // the client retries the response for a minute
		synctest.Wait()
		for _, r := range j.records {
			if e := r["exception.message"]; !strings.Contains(e, "405") && !strings.Contains(e, "503") {
				t.Errorf("want the status in the error, got %q", e)
			}
			delete(r, "exception.message")
		}
		record := func(event string, fields ...string) map[string]string {
			r := map[string]string{"level": "DEBUG", "message": event, "event.name": event}
			for i := 0; i < len(fields); i += 2 {
				r[fields[i]] = fields[i+1]
			}
			return r
		}
		const kind = "mcp_client.message.kind"
		want := []map[string]string{
			record("mcp_client.stream.refused", "mcp_client.stream.kind", "get"),
			record("mcp_client.message.refused", kind, "notification", "mcp.method.name", "notifications/cancelled"),
			record("mcp_client.message.refused", kind, "response"),
		}
		if diff := cmp.Diff(want, j.records); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}
