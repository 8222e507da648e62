package mcpserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const updatedA = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://a"}}`

func TestSessionGetsUpdatesOfSubscribedResources(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20241105, mcp.Version20250326, mcp.Version20250618, mcp.Version20251125} {
		synctest.Test(t, func(t *testing.T) {
			s := library(t)
			c := speak(t, s, v)
			expect := func(when string, want ...string) {
				t.Helper()
				time.Sleep(time.Second)
				if out := c.taken(); !slices.Equal(out, want) {
					t.Errorf("%s: %s the server sent %q, want %q", v, when, out, want)
				}
			}
			s.ResourceUpdated("test://a")
			expect("before anything is watched")
			for range 2 {
				if got := c.result("resources/subscribe", `"uri":"test://a"`); got != "{}" {
					t.Errorf("subscribing got %s, want an empty result", got)
				}
			}
			for range 10 {
				s.ResourceUpdated("test://a")
				s.ResourceUpdated("test://b")
				s.ResourceUpdated("")
			}
			expect("after several updates at once", updatedA)
			s.ResourceUpdated("test://a")
			expect("after one more", updatedA)
			s.RemoveResources("test://a")
			s.ResourceUpdated("test://a")
			expect("after it is gone", `{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`, updatedA)
			for range 2 {
				if got := c.result("resources/unsubscribe", `"uri":"test://a"`); got != "{}" {
					t.Errorf("unsubscribing got %s, want an empty result", got)
				}
			}
			s.ResourceUpdated("test://a")
			expect("after the subscription has ended")
			c.bye()
		})
	}
}

func TestSubscribeNeedsExistingResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := speak(t, library(t), mcp.Version20251125)
		c.result("resources/subscribe", `"uri":"test://user/by-template"`)
		for method, of := range map[string]map[string]string{
			"resources/subscribe": {
				`"uri":"test://nobody"`: "-32002 resource not found", ``: "-32602 params.uri is missing, empty or not a string",
			},
			"resources/unsubscribe": {`"uri":[]`: "-32602 params.uri is missing, empty or not a string"},
		} {
			for params, want := range of {
				if got := c.refused(method, params); got != want {
					t.Errorf("%s {%s} is refused with %s, want %s", method, params, got, want)
				}
			}
		}
		c.result("resources/unsubscribe", `"uri":"test://nobody"`)
		c.bye()

		c = speak(t, library(t), mcp.Version20260728)
		if got := c.refused("resources/subscribe", `"uri":"test://a"`); !strings.HasPrefix(got, "-32601 ") {
			t.Errorf("a modern client is refused with %s, want -32601", got)
		}
		c.bye()
	})
}

func TestBlockedSessionGetsOneUpdatePerResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := library(t)
		c := speak(t, s, mcp.Version20251125)
		c.result("resources/subscribe", `"uri":"test://a"`)
		c.result("resources/subscribe", `"uri":"test://b"`)
		c.result("resources/subscribe", `"uri":"test://user/1"`)
		release := c.block()
		s.ResourceUpdated("test://a") // the server starts to send this notification
		time.Sleep(time.Second)
		for range 5 {
			s.ResourceUpdated("test://b")
			s.ResourceUpdated("test://a")
			s.ResourceUpdated("test://user/1")
			s.RemovePrompts("nobody")
			time.Sleep(time.Second)
		}
		release()
		synctest.Wait()
		want := []string{updatedA, strings.Replace(updatedA, "//a", "//b", 1), updatedA,
			strings.Replace(updatedA, "//a", "//user/1", 1)}
		if out := c.taken(); !slices.Equal(out, want) {
			t.Errorf("the server sent\n%q, want\n%q", out, want)
		}
		c.bye()
	})
}

func TestUnsubscribeRemovesPendingUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := library(t)
		w := serveWeb(t, s, nil)
		id := w.open("2025-11-25")
		for _, uri := range []string{"test://a", "test://b"} {
			if p := w.post(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"`+uri+`"}}`,
				"Mcp-Session-Id", id); !strings.Contains(p.body, `"result":{}`) {
				t.Fatalf("subscribing got %d with %s, want an empty result", p.status, p.body)
			}
		}
		for range 3 { // the client does not read its stream yet
			s.ResourceUpdated("test://a")
			s.ResourceUpdated("test://b")
			time.Sleep(time.Second)
		}
		w.post(`{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"test://a"}}`, "Mcp-Session-Id", id)
		events := w.stream("GET", "", "Mcp-Session-Id", id)
		if e := events.next(); string(e.Data) != strings.Replace(updatedA, "//a", "//b", 1) {
			t.Errorf("the stream begins with %s, want the update of the one that is still watched", e.Data)
		}
		s.ResourceUpdated("test://a")
		s.ResourceUpdated("test://b")
		if e := events.next(); string(e.Data) != strings.Replace(updatedA, "//a", "//b", 1) {
			t.Errorf("the stream goes on with %s, want one more of the same", e.Data)
		}
		events.leave()
		w.end()
	})
}

func TestResourceSubscriptionsPerSessionAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := speak(t, library(t), mcp.Version20251125)
		for i := range 1024 {
			c.result("resources/subscribe", fmt.Sprintf(`"uri":"test://user/%d"`, i))
		}
		c.result("resources/subscribe", `"uri":"test://user/7"`)
		const full = "-32603 too many subscriptions at once"
		if got := c.refused("resources/subscribe", `"uri":"test://a"`); got != full {
			t.Errorf("one more is refused with %s, want %s", got, full)
		}
		c.result("resources/unsubscribe", `"uri":"test://user/7"`)
		c.result("resources/subscribe", `"uri":"test://a"`)
		c.bye()

		c = speak(t, library(t), mcp.Version20251125)
		long := strings.Repeat("x", 4<<10-20)
		for i := range 64 {
			c.result("resources/subscribe", fmt.Sprintf(`"uri":"test://user/%s%d"`, long, i))
		}
		if got := c.refused("resources/subscribe", fmt.Sprintf(`"uri":"test://user/%s99"`, long)); got != full {
			t.Errorf("one more long one is refused with %s, want %s", got, full)
		}
		c.result("resources/unsubscribe", fmt.Sprintf(`"uri":"test://user/%s7"`, long))
		c.result("resources/subscribe", `"uri":"test://a"`)
		c.bye()
	})
}

func TestModernClientGetsUpdatesOfListedResources(t *testing.T) {
	const filter = `"resourceSubscriptions":["test://a","test://nobody","test://a","test://user/1"]`
	const meta = `"_meta":{"io.modelcontextprotocol/subscriptionId":1}`
	synctest.Test(t, func(t *testing.T) {
		s := library(t)
		c := speak(t, s, mcp.Version20260728)
		c.send(listenFor(1, filter))
		c.send(listenFor(2, `"resourcesListChanged":true`))
		want := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + meta +
			`,"notifications":{"resourceSubscriptions":["test://a","test://user/1"]}}}`
		if out := c.taken(); len(out) != 2 || out[0] != want {
			t.Errorf("the server sent\n%q, want first\n%s", out, want)
		}
		for range 3 {
			s.ResourceUpdated("test://a")
			s.ResourceUpdated("test://b")
			s.ResourceUpdated("test://nobody")
		}
		time.Sleep(time.Second)
		update := `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{` + meta + `,"uri":"test://a"}}`
		if out := c.taken(); !slices.Equal(out, []string{update}) {
			t.Errorf("the server sent\n%q, want\n%s", out, update)
		}
		s.RemoveResources("test://b")
		time.Sleep(time.Second)
		if out := c.taken(); len(out) != 1 || !strings.Contains(out[0], "resources/list_changed") ||
			!strings.Contains(out[0], `subscriptionId":2`) {
			t.Errorf("the server sent %q, want the change of the list to the other subscription", out)
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		s.ResourceUpdated("test://a")
		time.Sleep(time.Second)
		if out := c.taken(); len(out) > 0 {
			t.Errorf("after the client has cancelled, the server sent %q, want nothing", out)
		}
		c.bye()

		w := serveWeb(t, s, nil)
		events := w.stream("POST", listenFor(1, filter), modernHeaders("subscriptions/listen", "")...)
		events.next()
		s.ResourceUpdated("test://user/1")
		if m := events.message(); m.Method != mcp.NotificationResourceUpdated {
			t.Errorf("over HTTP the server sent %+v, want the update", m)
		}
		events.leave()
		w.end()
	})
}

func TestOversizedResourceSubscriptionIsPartlyGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := speak(t, library(t), mcp.Version20260728)
		var uris []string
		for i := range 2000 {
			uris = append(uris, fmt.Sprintf(`"test://user/%d"`, i))
		}
		c.send(listenFor(1, `"resourceSubscriptions":[`+strings.Join(uris, ",")+`]`))
		out := c.taken()
		if len(out) != 1 || !strings.Contains(out[0], "user/1023\"]") {
			t.Errorf("the server sent %.200q, want an acknowledgement of the first 1,024", out)
		}
		must(t, c.finish())
	})
}

func TestSubscriptionLookupsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(watcher)
		w := serve(t, t.Context(), implementing(t, nil, h))
		wishes := make([]string, 1024)
		for i := range wishes {
			wishes[i] = `"x:y` + strings.Repeat("y", 16<<10-3) + `"` // the handler refuses these URIs
		}
		w.send(listenFor(1, `"resourceSubscriptions":[`+strings.Join(wishes, ",")+`]`))
		if out := w.taken(); len(out) != 1 || strings.Contains(out[0], "yyy") {
			t.Errorf("the server sent %d frames, want the acknowledgement of nothing", len(out))
		}
		if n := len(h.taken()); n != 16 {
			t.Errorf("the handler was asked about %d resources, want 16: 256 KiB", n)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestResourceSubscriptionNeedsSession(t *testing.T) {
	s := library(t)
	w := serveWeb(t, s, &mcpserver.HTTPOptions{Stateless: true})
	p := w.post(initialize)
	if !strings.Contains(p.body, `"capabilities":{"resources":{}}`) {
		t.Errorf("initialize got %s, want resources without notifications", p.body)
	}
	p = w.post(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}}`,
		"MCP-Protocol-Version", "2025-11-25")
	if !strings.Contains(p.body, `"code":-32600`) {
		t.Errorf("subscribing got %s, want it refused", p.body)
	}
	p = w.post(`{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"test://a"}}`,
		"MCP-Protocol-Version", "2025-11-25")
	if !strings.Contains(p.body, `"result":{}`) {
		t.Errorf("unsubscribing got %s, want an empty result: nothing is watched", p.body)
	}
}

func TestSpansOfUpdatesCarryTheURI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := bare(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		must(t, s.AddResource(&mcp.Resource{URI: "test://a", Name: "a"}, readText))
		c := speak(t, s, mcp.Version20251125)
		c.result("resources/subscribe", `"uri":"test://a"`)
		s.ResourceUpdated("test://a")
		time.Sleep(time.Second)
		c.taken()
		found := false
		for _, a := range rec.Span("notifications/resources/updated").Attributes() {
			found = found || a.Key == "mcp.resource.uri" && a.Value.AsString() == "test://a"
		}
		if !found {
			t.Error("the span has no mcp.resource.uri, want test://a")
		}
		c.bye()
	})
}
