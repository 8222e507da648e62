package mcpserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/relay/downstream"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// unreading sends a modern call of a tool and reads no part of the response.
func (w *web) unreading(id int) net.Conn {
	w.t.Helper()
	r := request(w.t, w.t.Context(), "POST", asked(id, "tools/call", bothMetas, `"name":"a"`),
		modernHeaders("tools/call", "a")...)
	conn := w.dial()
	if err := r.Write(conn); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return conn
}

func TestBlockedModernClientDoesNotDelayOthers(t *testing.T) {
	large := json.RawMessage(`{"x":"` + strings.Repeat("x", 256<<10) + `"}`)
	for name, deliver := range map[string]func(unread *handed, result json.RawMessage){
		"an answer": func(unread *handed, result json.RawMessage) { unread.answer(result, nil) },
		"an error": func(unread *handed, result json.RawMessage) {
			unread.answer(nil, &relay.Error{Server: &mcp.Error{Code: 1, Message: "x"},
				Object: json.RawMessage(`{"code":1,"message":"x","data":` + string(result) + `}`)})
		},
		"progress": func(unread *handed, result json.RawMessage) {
			for range 100 {
				_ = unread.from.Notify(unread.ctx, relay.Message{Method: "notifications/progress", Params: result})
			}
			unread.answer(result, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &behind{}
				w := relayedWeb(t, b)
				slow := w.unreading(1)
				unread := b.last(t)
				begun := time.Now()
				deliver(unread, large) // in the goroutine that serves all clients
				if took := time.Since(begun); took > 0 {
					t.Errorf("the receiver waited %v for a client that does not read", took)
				}
				b.receive = func(r *handed) { r.answer(json.RawMessage(`{"fine":1}`), nil) }
				p := w.post(asked(2, "tools/call", bothMetas, `"name":"a"`), modernHeaders("tools/call", "a")...)
				if !strings.Contains(p.body, `"fine":1`) || time.Since(begun) > 0 {
					t.Errorf("after %v the other client got %s", time.Since(begun), p.body)
				}
				_ = slow.Close()
				w.end()
			})
		})
	}
}

func TestUnreadMessagesForModernClientsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &behind{}
		rec := telemetrytest.Recorder(t)
		s, err := newRelay(b, &downstream.Options{Name: "relay", Telemetry: rec.Telemetry(), FrameLimit: 64 << 10})
		must(t, err)
		w := serveWeb(t, s, &mcpserver.HTTPOptions{KeepAlive: -1})
		large := json.RawMessage(`{"x":"` + strings.Repeat("x", 60<<10) + `"}`)
		var slow []net.Conn
		for i := range 40 { // only 16 times 64 KiB may wait
			slow = append(slow, w.unreading(i))
			b.last(t).answer(large, nil)
		}
		dropped := 0
		for i, conn := range slow {
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			must(t, err)
			beginning, err := io.ReadAll(io.LimitReader(resp.Body, 100))
			must(t, err)
			if strings.Contains(string(beginning), fmt.Sprintf(`"id":%d,"error":{"code":-32603,"message":"the answer was`, i)) {
				dropped++
			}
			_ = conn.Close()
		}
		if dropped == 0 || dropped > 30 {
			t.Errorf("%d of 40 answers were dropped, want those beyond the bound", dropped)
		}
		synctest.Wait()
		n := rec.Count(names.MetricMCPServerOperationDuration, names.KeyErrorType, names.ErrorOverloaded)
		if n != uint64(dropped) {
			t.Errorf("%d answers were dropped and telemetry has %d", dropped, n)
		}
		one := w.unreading(99)
		for range 100 {
			_ = b.peer(t).Notify(b.last(t).ctx, relay.Message{Method: "notifications/progress", Params: large})
		}
		if n := rec.Value(names.MetricMCPServerNotificationDrops); n == 0 {
			t.Error("no notification was dropped for a client that does not read")
		}
		b.last(t).answer(large, nil)
		_ = one.Close()
		w.end()
	})
}
