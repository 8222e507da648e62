package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// A client that reconnects to the stream of its session gets notifications of the changes in between. The relay does
// not send them on the stream of a request, because the client may cancel that request.
func TestARelayedChangeWaitsForTheStreamOfTheSession(t *testing.T) {
	for name, ofRequest := range map[string]bool{"of no request": false, "during a request": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &behind{}
				b.receive = hello(func(*handed) {})
				w := relayedWeb(t, b)
				id := w.post(initializeAs("2025-06-18")).header.Get("Mcp-Session-Id")
				w.post(initialized, "Mcp-Session-Id", id)
				tell := func(uri string) {
					ctx := t.Context()
					if ofRequest && uri != "a" {
						ctx = b.last(t).ctx
					}
					params := json.RawMessage(`{"uri":"` + uri + `"}`)
					must(t, b.peer(t).Notify(ctx, relay.Message{Method: mcp.NotificationResourceUpdated, Params: params}))
				}
				general := w.stream("GET", "", "Mcp-Session-Id", id)
				go tell("a")
				heard := general.next()
				general.leave()
				synctest.Wait()

				ctx, giveUp := context.WithCancel(t.Context())
				r := request(t, ctx, "POST", requestOf(7, "tools/call", `{}`), "Mcp-Session-Id", id)
				go func() {
					if resp, err := w.client.Do(r); err == nil {
						_ = resp.Body.Close()
					}
				}()
				synctest.Wait()
				tell("b")
				giveUp()
				synctest.Wait()
				b.last(t).answer(json.RawMessage(`{}`), nil)
				general = w.resumed(id, heard.ID)
				if m := general.message(); m.Method != mcp.NotificationResourceUpdated || string(m.Params) != `{"uri":"b"}` {
					t.Errorf("the resumed stream brings %s %s, want the change", m.Method, m.Params)
				}
				general.leave()
				w.end()
			})
		})
	}
}
