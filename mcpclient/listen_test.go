package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

const announcing = `{"resultType":"complete","supportedVersions":["2026-07-28"],` +
	`"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{}},"ttlMs":0,` +
	`"cacheScope":"private"}`

// heard returns a handler that counts its calls.
func heard(n *int) mcpclient.NotificationHandler {
	return func(context.Context, *mcpclient.Notification) { *n++ }
}

// acknowledge acknowledges a subscription, and then reports a change of the tools.
func (c *conversation) acknowledge(f frame) {
	c.t.Helper()
	c.Send(
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",`+
			`"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{"toolsListChanged":true}}}`, f.ID),
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed",`+
			`"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, f.ID),
	)
}

func TestListenCoversTheHandlers(t *testing.T) {
	var n int
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification(mcp.NotificationToolListChanged,
		heard(&n))}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		first := v.Expect(mcp.MethodSubscriptionsListen)
		if !strings.Contains(first.Raw, `"notifications":{"toolsListChanged":true}`) {
			t.Errorf("sent %s, want only changes of the tools in the filter", first.Raw)
		}
		v.acknowledge(first)
		synctest.Wait()
		if n != 1 {
			t.Errorf("the handler got %d changes, want 1", n)
		}
		time.Sleep(time.Hour) // the subscription outlives the timeout of calls

		remove := c.Handle(mcpclient.HandleNotification(mcp.NotificationPromptListChanged, heard(new(int))))
		second := v.Expect(mcp.MethodSubscriptionsListen)
		if !strings.Contains(second.Raw, `"promptsListChanged":true`) ||
			!strings.Contains(second.Raw, `"toolsListChanged":true`) {
			t.Errorf("sent %s, want changes of the prompts too in the filter", second.Raw)
		}
		v.acknowledge(second)
		v.Expect(mcp.NotificationCancelled) // the client cancels the old subscription only now, so that it misses no change
		remove()
		v.acknowledge(v.Expect(mcp.MethodSubscriptionsListen))
		v.Expect(mcp.NotificationCancelled)
	})
}

func TestEndedSubscriptionIsReopened(t *testing.T) {
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification("", heard(new(int)))}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		f := v.Expect(mcp.MethodSubscriptionsListen)
		for _, test := range []struct {
			end  func(f frame)
			wait time.Duration
		}{
			{func(f frame) { v.acknowledge(f); v.Answer(f, `{"resultType":"complete"}`) }, time.Second},
			{func(f frame) { v.Answer(f, `{"resultType":"complete"}`) }, 2 * time.Second},
			{func(f frame) { v.Refuse(f, -32603, "no") }, 4 * time.Second},
			{func(f frame) { v.acknowledge(f); v.Refuse(f, -32603, "no") }, 8 * time.Second},
			{func(frame) { v.Expect(mcp.NotificationCancelled) }, 16*time.Second + 10*time.Second},
			{func(f frame) {
				v.acknowledge(f)
				time.Sleep(30 * time.Second)
				v.Answer(f, `{"resultType":"complete"}`)
			},
				30*time.Second + time.Second}, // the subscription lasted for Backoff.Max, so the delay is Backoff.Min again
			{func(f frame) { v.acknowledge(f); v.Answer(f, `{"resultType":"complete"}`) }, 2 * time.Second},
		} {
			took := elapsed(func() {
				test.end(f)
				f = v.Expect(mcp.MethodSubscriptionsListen)
			})
			if took != test.wait {
				t.Errorf("asked again after %v, want %v", took, test.wait)
			}
		}
		v.acknowledge(f)
		v.Close()
		v = s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		v.acknowledge(v.Expect(mcp.MethodSubscriptionsListen)) // the new session has its own subscription
	})
}

func TestRefusedListenIsNotRetried(t *testing.T) {
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification("", heard(new(int)))}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		v.Refuse(v.Expect(mcp.MethodSubscriptionsListen), mcp.CodeMethodNotFound, "no")
		time.Sleep(time.Hour)
		done := background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
		v.Answer(v.Expect("x/y"), `{}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestNoSubscriptionWithoutHandlers(t *testing.T) {
	for name, test := range map[string]struct {
		features []mcpclient.Feature
		result   string
	}{
		"no handler": {nil, announcing},
		"another handler": {[]mcpclient.Feature{mcpclient.HandleNotification(mcp.NotificationProgress, heard(new(int)))},
			announcing},
		"not declared": {[]mcpclient.Feature{mcpclient.HandleNotification(mcp.NotificationResourceListChanged,
			heard(new(int)))},
			announcing},
		"nothing is declared": {[]mcpclient.Feature{mcpclient.HandleNotification("", heard(new(int)))}, discovered},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, &mcpclient.Options{Features: test.features}, func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				v.Answer(v.Expect(mcp.MethodDiscover), test.result)
				await(t, c)
				time.Sleep(time.Hour)
				done := background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
				v.Answer(v.Expect("x/y"), `{}`)
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestConnectionLossDuringBusyListenIsHandled(t *testing.T) {
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification("", heard(new(int)))}}
	streamed(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		f := v.Expect(mcp.MethodSubscriptionsListen)
		synctest.Wait()
		var id int64
		_ = json.Unmarshal(f.ID, &id)
		mcpclient.ProbeOf(c).BusyAndLost(id, &transport.RequestError{Reason: transport.ReasonBusy, Status: 503, Unsent: true},
			errors.New("down"))
		synctest.Wait()
	})
}

func TestUnrelatedHandlersDoNotChangeSubscription(t *testing.T) {
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification(mcp.NotificationToolListChanged,
		heard(new(int)))}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		v.acknowledge(v.Expect(mcp.MethodSubscriptionsListen))
		synctest.Wait()
		remove := c.Handle(mcpclient.HandleNotification(mcp.NotificationMessage, heard(new(int))))
		remove()
		synctest.Wait()
		done := background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
		for {
			f := v.Receive()
			if f.Method == "x/y" {
				v.Answer(f, `{}`)
				break
			}
			t.Errorf("the client sent %s, want no subscription", f.Raw)
		}
		<-done
	})
}

func TestUnauthorizedSubscriptionIsNotRetried(t *testing.T) {
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleNotification("", heard(new(int)))}}
	streamed(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		v.fail(v.Expect(mcp.MethodSubscriptionsListen),
			transport.RequestError{Reason: transport.ReasonUnauthorized, Status: 403, Unsent: true})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(v.Context(), 30*time.Minute)
		defer cancel()
		n := 0
		for {
			raw, err := v.Peer().Receive(ctx)
			if err != nil {
				break
			}
			var f frame
			_ = json.Unmarshal(raw, &f)
			f.Raw = string(raw)
			if f.Method == mcp.MethodSubscriptionsListen {
				n++
				v.fail(f, transport.RequestError{Reason: transport.ReasonUnauthorized, Status: 403, Unsent: true})
			}
		}
		if n > 0 {
			t.Errorf("the client subscribed %d more times in half an hour, want none", n)
		}
	})
}

func TestFailedReplacementKeepsTheOldSubscription(t *testing.T) {
	j := &journal{}
	inRevisions(t, modernOnly, all,
		mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleToolListChanged(j.changed("tools"))}},
		func(t *testing.T, r *revision) {
			j.lines = nil
			r.listened(`{"toolsListChanged":true}`)
			defer r.c.Handle(mcpclient.HandlePromptListChanged(j.changed("prompts")))()
			for _, wait := range []time.Duration{0, time.Second, 2 * time.Second} {
				var f frame
				if took := elapsed(func() { f = r.Expect(mcp.MethodSubscriptionsListen) }); took != wait {
					t.Errorf("asked again after %v, want %v", took, wait)
				}
				r.Refuse(f, mcp.CodeInternalError, "not now")
				r.tell(mcp.NotificationToolListChanged, `{}`)
				j.wants(t, "tools")
			}
			r.listened(`{"toolsListChanged":true,"promptsListChanged":true}`)
			r.Expect(mcp.NotificationCancelled) // the client cancels the old subscription only now
			j.wants(t)                          // no change was missed
			r.silent()
		})
}

func TestReopeningShortSubscriptionsBacksOff(t *testing.T) {
	var client *mcpclient.Client
	var begun []time.Time
	rig := &rigged{send: func(m transport.Message) (error, bool) {
		if m.Method != mcp.MethodSubscriptionsListen {
			return nil, false
		}
		begun = append(begun, time.Now())
		mcpclient.OpenAndOver(client, m.ID)
		return nil, true
	}}
	observed(t, mcpclient.Options{Versions: modernOnly}, rig, func(t *testing.T, s *script, c *mcpclient.Client,
		_ *telemetrytest.Recording) {
		s.next(t).greet(mcp.Version20260728, all)
		await(t, c)
		client = c
		c.Handle(mcpclient.HandleToolListChanged(func(context.Context) {}))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		want := time.Second
		for i := range begun[1:] {
			if got := begun[i+1].Sub(begun[i]); got != want {
				t.Fatalf("attempt %d came after %v, want %v", i+2, got, want)
			}
			want = min(2*want, 30*time.Second)
		}
		if len(begun) < 20 {
			t.Errorf("want an attempt every 30 s at least, got %d in 10 min", len(begun))
		}
	})
}

// On one shared stream, a server can end a subscription only by notifications/cancelled or by the response.
// (specification 2026-07-28, basic/patterns/cancellation; schema, CancelledNotification)
func TestServerCanEndSubscriptionByCancellation(t *testing.T) {
	j := &journal{}
	inRevisions(t, modernOnly, all,
		mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleToolListChanged(j.changed("tools"))}},
		func(t *testing.T, r *revision) {
			j.lines = nil
			cancel := func(f frame) {
				r.tell(mcp.NotificationCancelled, fmt.Sprintf(`{"requestId":%s,"reason":"shutting down"}`, f.ID))
			}
			f := r.listened(`{"toolsListChanged":true}`)
			cancel(f)
			if took := elapsed(func() { f = r.Expect(mcp.MethodSubscriptionsListen) }); took != time.Second {
				t.Errorf("asked again after %v, want a second", took)
			}
			cancel(f) // the cancellation arrives before the acknowledgement
			cancel(f) // a second time
			if took := elapsed(func() { f = r.listened(`{"toolsListChanged":true}`) }); took != 2*time.Second {
				t.Errorf("asked again after %v, want two seconds", took)
			}
			for i, end := range []func(f frame){ // some servers send both
				func(f frame) { cancel(f); r.Answer(f, `{"resultType":"complete"}`) },
				func(f frame) { r.Answer(f, `{"resultType":"complete"}`); cancel(f) },
			} {
				end(f)
				if took, want := elapsed(func() { f = r.listened(`{"toolsListChanged":true}`) }), 4*time.Second<<i; took != want {
					t.Errorf("asked again after %v, want %v", took, want)
				}
			}
			j.wants(t, "tools", "tools", "tools")
		})
}

func TestSubscriptionEndDuringReplacementCausesChangeGap(t *testing.T) {
	j := &journal{}
	inRevisions(t, modernOnly, all,
		mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleToolListChanged(j.changed("tools"))}},
		func(t *testing.T, r *revision) {
			j.lines = nil
			old := r.listened(`{"toolsListChanged":true}`)
			defer r.c.Handle(mcpclient.HandlePromptListChanged(j.changed("prompts")))()
			r.Refuse(r.Expect(mcp.MethodSubscriptionsListen), mcp.CodeInternalError, "not now")
			r.Answer(old, `{"resultType":"complete"}`)
			f := r.Expect(mcp.MethodSubscriptionsListen)
			fill(t, r.conversation, r.c)
			r.agree(f, "")
			j.wants(t, "tools", "prompts")
			if kept := keptOf(t, r.conversation, r.c); kept != "" {
				t.Errorf("%s is cached, want nothing, because the client may have missed changes", kept)
			}
		})
}

func TestSubscriptionClearsOlderCachedContent(t *testing.T) {
	inRevisions(t, modernOnly, all,
		mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleToolListChanged(func(context.Context) {})}},
		func(t *testing.T, r *revision) {
			r.listened(`{"toolsListChanged":true}`)
			synctest.Wait()
			fill(t, r.conversation, r.c)
			done := background(func() error { return r.c.SubscribeResource(t.Context(), "file:///a") })
			r.listened(`{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}`)
			r.Expect(mcp.NotificationCancelled)
			if err := <-done; err != nil {
				t.Error(err)
			}
			if kept := keptOf(t, r.conversation, r.c); strings.Contains(kept, "4") {
				t.Errorf("%s is cached, want no content from before the subscription", kept)
			}
			fill(t, r.conversation, r.c)
			done = background(func() error { return r.c.UnsubscribeResource(t.Context(), "file:///a") })
			r.listened(`{"toolsListChanged":true}`)
			r.Expect(mcp.NotificationCancelled)
			if err := <-done; err != nil {
				t.Error(err)
			}
			if kept := keptOf(t, r.conversation, r.c); kept != "0123456" {
				t.Errorf("%s is cached, want everything, because the client has missed nothing", kept)
			}
		})
}

func TestListRequestedBeforeSubscriptionReportsChange(t *testing.T) {
	const tools, prompts = mcp.MethodListTools, mcp.MethodListPrompts
	for name, test := range map[string]struct {
		before, while []string // methods
		want          []string
	}{
		"none":                             {},
		"a list with a handler":            {before: []string{tools}, want: []string{"tools"}},
		"both":                             {before: []string{tools, prompts}, want: []string{"tools", "prompts"}},
		"a list without a handler":         {before: []string{mcp.MethodListResources}},
		"a list afterwards":                {while: []string{tools}},
		"another list, and one afterwards": {[]string{prompts}, []string{tools}, []string{"prompts"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := &journal{}
			o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleToolListChanged(j.changed("tools")),
				mcpclient.HandlePromptListChanged(j.changed("prompts"))}}
			inRevisions(t, modernOnly, all, o, func(t *testing.T, r *revision) {
				j.lines = nil
				opened := r.Expect(mcp.MethodSubscriptionsListen)
				lists := func(methods []string) {
					for _, q := range questions {
						if slices.Contains(methods, q.method) {
							done := reading(t, r.c, q.method, q.uri)
							r.Answer(r.Expect(q.method), q.result)
							if err := <-done; err != nil {
								t.Error(err)
							}
						}
					}
				}
				lists(test.before)
				r.agree(opened, "")
				synctest.Wait()
				lists(test.while)
				j.wants(t, test.want...)
			})
		})
	}
}

func TestCloseEndsSubscriptionStreamWithoutError(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	o := &mcpclient.Options{Telemetry: rec.Telemetry(),
		Features: []mcpclient.Feature{mcpclient.HandleNotification(mcp.NotificationToolListChanged, heard(new(int)))}}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		v.acknowledge(v.Expect(mcp.MethodSubscriptionsListen))
		synctest.Wait()
	})
	points := rec.Points("mcp_client.stream.duration")
	if len(points) != 1 || points[0].Attrs.HasValue("error.type") {
		t.Errorf("the durations of streams are %+v, want one without error.type", points)
	}
	if got := rec.Log("mcp_client.stream.closed").Text("error.type"); got != "" {
		t.Errorf("the record of the end has error.type %q, want none", got)
	}
}
