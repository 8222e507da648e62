package mcpclient_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// changed returns a tools/list_changed notification with these params.
func changed(params string) string {
	return `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + params + `}}`
}

// On a shared stream, notifications that belong to no subscription of the client reach no handler. (specification
// 2026-07-28, basic/patterns/subscriptions)
func TestOnlyNotificationsOfOpenSubscriptionsAreHandled(t *testing.T) {
	var tools, all int
	o := mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleNotification(mcp.NotificationToolListChanged,
			func(context.Context, *mcpclient.Notification) { tools++ }),
		mcpclient.HandleNotification("", func(context.Context, *mcpclient.Notification) { all++ }),
	}}
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		tools, all = 0, 0
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		await(t, c)
		wants := func(what string, wantTools, wantAll int, wantDropped int64) {
			t.Helper()
			synctest.Wait()
			dropped := rec.Value("mcp_client.notification.drops", "mcp_client.drop.reason", "unsubscribed")
			if tools != wantTools || all != wantAll || dropped != wantDropped {
				t.Errorf("%s: the handlers got %d and %d and %d were dropped, want %d, %d, %d",
					what, tools, all, dropped, wantTools, wantAll, wantDropped)
			}
		}
		f := v.Expect(mcp.MethodSubscriptionsListen)
		mine := ofSubscription(string(f.ID))
		v.Send(changed(mine))
		wants("before it is acknowledged", 0, 0, 1)
		v.Send(
			fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{%s,"notifications":{"toolsListChanged":true}}}`,
				mcp.NotificationSubscriptionsAcknowledged, mine),
			changed(mine)) // directly after the acknowledgement
		wants("directly after the acknowledgement", 1, 2, 1) // the acknowledgement is a notification too

		v.Send(changed(ofSubscription("9999")), changed(ofSubscription(`{}`)), changed(``))
		v.Send(changed(ofSubscription(`"` + string(f.ID) + `"`))) // a string is another ID
		wants("of unknown subscriptions", 1, 2, 5)
		v.Send(`{"jsonrpc":"2.0","method":"acme/news","params":{` + ofSubscription("9999") + `}}`)
		wants("a method of the server's own that names another subscription", 1, 2, 6)
		v.Send(`{"jsonrpc":"2.0","method":"acme/news","params":{"x":1}}`)
		wants("a method of the server's own", 1, 3, 6)

		done := background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
		call := v.Expect("x/y")
		v.Send(changed(ofSubscription(string(call.ID))))
		wants("of a call that is no subscription", 1, 3, 7)
		v.Answer(call, `{}`)
		if err := <-done; err != nil {
			t.Error(err)
		}

		v.Answer(f, `{"resultType":"complete"}`)
		v.Send(changed(mine))
		wants("after the server has ended it", 1, 3, 8)
		if n := len(rec.Logs("mcp_client.notification.dropped")); n < 1 || n > 8 {
			t.Errorf("got %d records of 8 dropped notifications, want some", n)
		}
	})
}

// The server may have queued a change for a subscription before its replacement was opened. The replacement does not
// report that change, so the client must handle the late notification.
func TestNotificationsInFlightDuringAReplacementAreHandled(t *testing.T) {
	var n int
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification(mcp.NotificationToolListChanged,
		heard(&n))}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		n = 0
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		old := v.Expect(mcp.MethodSubscriptionsListen)
		v.acknowledge(old)
		synctest.Wait()
		defer c.Handle(mcpclient.HandleNotification(mcp.NotificationPromptListChanged, heard(new(int))))()
		v.acknowledge(v.Expect(mcp.MethodSubscriptionsListen))
		v.Expect(mcp.NotificationCancelled)
		// Wait until the client stops reading the old subscription. Before that, a change on both subscriptions counts once.
		synctest.Wait()
		v.Send(changed(ofSubscription(string(old.ID))))
		synctest.Wait()
		if n != 3 {
			t.Errorf("the handler got %d changes, want one of each subscription and the late one", n)
		}
	})
}

// A legacy server has no subscriptions, so its notifications have no subscription ID.
func TestLegacyNotificationsNeedNoSubscription(t *testing.T) {
	var n int
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification(mcp.NotificationToolListChanged,
		heard(&n))}}
	legacyReady(t, mcp.Version20251125, o, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		n = 0
		v.Send(changed(``), changed(ofSubscription("9999")))
		synctest.Wait()
		if n != 2 {
			t.Errorf("the handler got %d changes, want 2", n)
		}
	})
}
