package mcpclient_test

import (
	"context"
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

const (
	motd = "file:///etc/motd"
	news = "file:///news"
)

// about returns the filter of a subscription to resources.
func about(uris ...string) string {
	return fmt.Sprintf(`{"resourceSubscriptions":["%s"]}`, strings.Join(uris, `","`))
}

// subscribe subscribes to a resource, and the server agrees. besides lists the other resources in a modern
// subscription.
func (r *revision) subscribe(uri string, besides ...string) {
	r.t.Helper()
	done := background(func() error { return r.c.SubscribeResource(r.t.Context(), uri) })
	if r.modern() {
		r.listened(about(slices.Sorted(slices.Values(append(besides, uri)))...))
	} else {
		r.subscribed(uri)
	}
	if err := <-done; err != nil {
		r.t.Errorf("subscribe %s: %v", uri, err)
	}
	if r.modern() && len(besides) > 0 {
		r.Expect(mcp.NotificationCancelled) // the client cancels the previous subscription
	}
}

// subscribed receives a request to subscribe to a resource, and agrees to it.
func (r *revision) subscribed(uri string) {
	r.t.Helper()
	f := r.Expect(mcp.MethodSubscribe)
	if got, want := paramsOf(r.t, f), fmt.Sprintf(`{"uri":%q}`, uri); got != want {
		r.t.Errorf("want a request for %s, got %s", want, got)
	}
	r.Answer(f, `{}`)
}

// unsubscribe ends a subscription. left lists the resources in the next modern subscription.
func (r *revision) unsubscribe(uri string, left ...string) {
	r.t.Helper()
	done := background(func() error { return r.c.UnsubscribeResource(r.t.Context(), uri) })
	switch {
	case !r.modern():
		f := r.Expect(mcp.MethodUnsubscribe)
		if got, want := paramsOf(r.t, f), fmt.Sprintf(`{"uri":%q}`, uri); got != want {
			r.t.Errorf("want %s sent, got %s", want, got)
		}
		r.Answer(f, `{}`)
	case len(left) > 0:
		r.listened(about(left...))
		fallthrough
	default:
		r.Expect(mcp.NotificationCancelled)
	}
	if err := <-done; err != nil {
		r.t.Errorf("unsubscribe %s: %v", uri, err)
	}
}

// updated sends an update notification.
func (r *revision) updated(uri string) {
	r.t.Helper()
	r.tell(mcp.NotificationResourceUpdated, fmt.Sprintf(`{"uri":%q}`, uri))
}

func TestUpdatesOfASubscribedResourceReachTheHandler(t *testing.T) {
	j := &journal{}
	inEach(t, mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleResourceUpdated(j.updated)}},
		func(t *testing.T, r *revision) {
			r.silent() // a handler alone does not subscribe to updates
			r.subscribe(motd)
			j.wants(t)
			r.updated(motd)
			j.wants(t, "updated "+motd)
			r.subscribe(news, motd)
			remove := r.c.Handle(mcpclient.HandleResourceUpdated(func(_ context.Context,
				uri string) {
				j.lines = append(j.lines, "later "+uri)
			}))
			r.updated(news + "/part")
			j.wants(t, "updated "+news+"/part", "later "+news+"/part")
			remove()
			r.unsubscribe(motd, news)
			r.unsubscribe(news)
			j.wants(t)
			r.reconnect(all)
			r.silent()
		})
}

func TestSubscriptionsAreRenewedInEachSession(t *testing.T) {
	j := &journal{}
	o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleResourceUpdated(j.updated),
		mcpclient.HandleNotification(mcp.NotificationResourceUpdated, j.raw)}}
	inEach(t, o, func(t *testing.T, r *revision) {
		r.subscribe(motd)
		r.subscribe(news, motd)
		for range 2 {
			r.reconnect(all)
			if r.modern() {
				f := r.Expect(mcp.MethodSubscriptionsListen)
				if got, want := paramsOf(t, f), `{"notifications":`+about(motd, news)+`}`; got != want {
					t.Errorf("want a request for %s, got %s", want, got)
				}
				j.wants(t) // no call yet: the client would not notice a change between the call and the acknowledgement
				r.agree(f, "")
			} else {
				seen := []string{r.anew(), r.anew()}
				if slices.Sort(seen); !slices.Equal(seen, []string{`{"uri":"` + motd + `"}`, `{"uri":"` + news + `"}`}) {
					t.Errorf("want subscriptions to both resources, got %q", seen)
				}
			}
			// the resources may have changed; raw handlers get only received notifications
			j.wants(t, "updated "+motd, "updated "+news)
			r.silent()
		}
		r.updated(motd)
		params := fmt.Sprintf(`{"uri":%q}`, motd)
		if r.modern() {
			params = fmt.Sprintf(`{%s,"uri":%q}`, ofSubscription(r.subscription), motd)
		}
		j.wants(t, "updated "+motd, "raw notifications/resources/updated "+params)
	})
}

// anew accepts one of several requests to renew a subscription, and returns its params.
func (r *revision) anew() string {
	r.t.Helper()
	f := r.Expect(mcp.MethodSubscribe)
	r.Answer(f, `{}`)
	return paramsOf(r.t, f)
}

func TestSubscriptionsAreRenewedAfterALostSession(t *testing.T) {
	j := &journal{}
	o := &mcpclient.Options{Versions: legacyOnly,
		Features: []mcpclient.Feature{mcpclient.HandleResourceUpdated(j.updated)}}
	streamed(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		j.lines = nil
		r := &revision{v: mcp.Version20251125, s: s, c: c, conversation: s.next(t).greet(mcp.Version20251125, all)}
		await(t, c)
		r.subscribe(motd)
		done := background(func() error { return c.Call(t.Context(), "x/y", nil, nil) })
		r.fail(r.Expect("x/y"), transport.RequestError{Reason: transport.ReasonSessionGone, Status: 404, Unsent: true})
		if err := <-done; err == nil {
			t.Error("want the call to fail with its session")
		}
		r.greet(r.v, all) // the new session uses the same connection
		r.subscribed(motd)
		j.wants(t, "updated "+motd)
	})
}

func TestUnhonouredSubscriptionIsAnError(t *testing.T) {
	j := &journal{}
	o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleToolListChanged(j.changed("tools"))}}
	inRevisions(t, modernOnly, all, o, func(t *testing.T, r *revision) {
		r.listened(`{"toolsListChanged":true}`)
		done := background(func() error { return r.c.SubscribeResource(t.Context(), motd) })
		r.agree(r.Expect(mcp.MethodSubscriptionsListen), `{"toolsListChanged":true}`)
		r.Expect(mcp.NotificationCancelled)
		err := <-done
		if e, ok := errors.AsType[*mcpclient.Error](err); !ok || !errors.Is(err, mcpclient.ErrUnsupported) ||
			!strings.Contains(err.Error(), motd) || mcpclient.SafeToRetry(e) {
			t.Errorf("want %v and the URI, got %v", mcpclient.ErrUnsupported, err)
		}
		r.silent() // the agreed part continues unchanged
		r.tell(mcp.NotificationToolListChanged, `{}`)
		j.wants(t, "tools")
		r.reconnect(all)
		r.listened(`{"toolsListChanged":true}`)
		j.wants(t, "tools")
	})
}

func TestFailedSubscriptionDoesNotAffectOthers(t *testing.T) {
	j := &journal{}
	inEach(t, mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleResourceUpdated(j.updated)}},
		func(t *testing.T, r *revision) {
			r.subscribe(motd)
			done := background(func() error { return r.c.SubscribeResource(t.Context(), "bad:") })
			f := r.Receive()
			r.Refuse(f, mcp.CodeInvalidParams, "no such resource")
			if e, ok := errors.AsType[*mcp.Error](<-done); !ok || e.Code != mcp.CodeInvalidParams {
				t.Errorf("want the server's error, got %v", e)
			}
			time.Sleep(time.Hour)
			r.silent()
			r.updated(motd)
			j.wants(t, "updated "+motd)
			r.reconnect(all)
			if r.modern() {
				r.listened(about(motd))
			} else {
				r.subscribed(motd)
			}
			r.silent()
			j.wants(t, "updated "+motd)
		})
}

func TestSubscribeEndsWithItsContext(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := background(func() error { return r.c.SubscribeResource(ctx, motd) })
		f := r.Receive()
		synctest.Wait()
		limited, late := context.WithTimeout(t.Context(), time.Second)
		defer late()
		for name, change := range map[string]func(context.Context, string, ...mcpclient.CallOption) error{
			"subscribe": r.c.SubscribeResource, "unsubscribe": r.c.UnsubscribeResource,
		} {
			if err := change(limited, motd); !errors.Is(err, context.DeadlineExceeded) || !mcpclient.SafeToRetry(err) {
				t.Errorf("want another %s of the same resource to wait until its context ends, got %v", name, err)
			}
		}
		cancel(errLunch)
		if err := <-done; !errors.Is(err, errLunch) || mcpclient.SafeToRetry(err) {
			t.Errorf("want %v, got %v", errLunch, err)
		}
		if r.modern() {
			r.agree(f, "") // too late, because the client no longer wants the resource
		}
		r.Expect(mcp.NotificationCancelled)
		r.reconnect(all)
		r.silent()
	})
}

func TestSubscribeEndsAtItsTimeout(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		var err error
		took := elapsed(func() {
			done := background(func() error {
				return r.c.SubscribeResource(t.Context(), motd,
					mcpclient.WithTimeout(5*time.Second))
			})
			r.Receive()
			err = <-done
		})
		if took != 5*time.Second || !errors.Is(err, mcpclient.ErrTimeout) {
			t.Errorf("want %v after 5 s, got %v after %v", mcpclient.ErrTimeout, err, took)
		}
		if r.modern() {
			if took := elapsed(func() { r.Expect(mcp.NotificationCancelled) }); took != 5*time.Second {
				t.Errorf("want a cancellation of the unacknowledged subscription after 5 s more, got %v", took)
			}
		} else {
			r.Expect(mcp.NotificationCancelled)
		}
		time.Sleep(time.Hour)
		r.silent()
	})
}

func TestSubscribeLostInFlightIsNotRestored(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		done := background(func() error { return r.c.SubscribeResource(t.Context(), motd) })
		r.Receive()
		synctest.Wait()
		r.reconnect(all)
		if err := <-done; !errors.Is(err, mcpclient.ErrConnectionLost) || mcpclient.SafeToRetry(err) {
			t.Errorf("want %v, got %v", mcpclient.ErrConnectionLost, err)
		}
		r.silent()
		done = background(func() error { return r.c.SubscribeResource(t.Context(), motd) })
		r.Receive()
		synctest.Wait()
		_ = r.c.Close()
		if err := <-done; !errors.Is(err, mcpclient.ErrShutdown) {
			t.Errorf("want %v, got %v", mcpclient.ErrShutdown, err)
		}
		if err := r.c.UnsubscribeResource(t.Context(), motd); err != nil {
			t.Errorf("want no error of unsubscribing, got %v", err)
		}
		if err := r.c.SubscribeResource(t.Context(), motd); !errors.Is(err, mcpclient.ErrShutdown) {
			t.Errorf("want %v, got %v", mcpclient.ErrShutdown, err)
		}
	})
}

func TestSecondSubscribeSendsNoRequest(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		first := background(func() error { return r.c.SubscribeResource(t.Context(), motd) })
		f := r.Receive()
		second := background(func() error { return r.c.SubscribeResource(t.Context(), motd) })
		r.silent()
		if r.modern() {
			r.agree(f, "")
		} else {
			r.Answer(f, `{}`)
			r.subscribed(motd) // a legacy revision needs a second request, which the server may refuse
		}
		for _, done := range []<-chan error{first, second} {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		r.unsubscribe(motd)
		r.reconnect(all)
		r.silent()
	})
}

func TestUnsupportedListenIsRequestedOnce(t *testing.T) {
	inRevisions(t, modernOnly, all, mcpclient.Options{}, func(t *testing.T, r *revision) {
		done := background(func() error { return r.c.SubscribeResource(t.Context(), motd) })
		f := r.Expect(mcp.MethodSubscriptionsListen)
		other := background(func() error { return r.c.SubscribeResource(t.Context(), news) })
		synctest.Wait()
		r.Refuse(f, mcp.CodeMethodNotFound, "no")
		if e, ok := errors.AsType[*mcp.Error](<-other); !ok || e.Code != mcp.CodeMethodNotFound {
			t.Errorf("want the server's error for all waiting callers, got %v", e)
		}
		for range 2 {
			if e, ok := errors.AsType[*mcp.Error](<-done); !ok || e.Code != mcp.CodeMethodNotFound {
				t.Errorf("want the server's error, got %v", e)
			}
			done = background(func() error { return r.c.SubscribeResource(t.Context(), motd) })
		}
		<-done
		r.silent()
		r.reconnect(all)
		r.subscribe(motd) // another session may be with another server
	})
}

func TestRenewedSubscriptionReportsPossibleUpdates(t *testing.T) {
	j := &journal{}
	o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleResourceUpdated(j.updated),
		mcpclient.HandleToolListChanged(j.changed("tools"))}}
	const both = `{"toolsListChanged":true,"resourceSubscriptions":["` + motd + `"]}`
	inRevisions(t, modernOnly, all, o, func(t *testing.T, r *revision) {
		r.listened(`{"toolsListChanged":true}`)
		done := background(func() error { return r.c.SubscribeResource(t.Context(), motd) })
		f := r.listened(both)
		r.Expect(mcp.NotificationCancelled)
		if err := <-done; err != nil {
			t.Error(err)
		}
		j.wants(t)
		r.Answer(f, `{"resultType":"complete"}`)
		if took := elapsed(func() { f = r.listened(both) }); took != time.Second {
			t.Errorf("asked again after %v, want a second", took)
		}
		j.wants(t, "tools", "updated "+motd)

		r.Answer(f, `{"resultType":"complete"}`)
		f = r.Expect(mcp.MethodSubscriptionsListen)
		r.Refuse(f, mcp.CodeInternalError, "not now")
		synctest.Wait()
		done = background(func() error { return r.c.SubscribeResource(t.Context(), news) })
		if took := elapsed(func() { f = r.Expect(mcp.MethodSubscriptionsListen) }); took != 0 {
			t.Errorf("want an attempt at once for a waiting caller, got it after %v", took)
		}
		r.agree(f, "")
		if err := <-done; err != nil {
			t.Error(err)
		}
		j.wants(t, "tools", "updated "+motd) // no update of the new resource
		r.silent()
	})
}

func TestLostSubscriptionsAreReported(t *testing.T) {
	const noUpdates = `{"resources":{}}`
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		t.Run(string(v), func(t *testing.T) {
			j := &journal{}
			o := mcpclient.Options{Versions: []mcp.Version{v},
				Features: []mcpclient.Feature{mcpclient.HandleResourceUpdated(j.updated)}}
			observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
				j.lines = nil
				r := &revision{v: v, s: s, c: c, conversation: s.next(t).greet(v, all)}
				await(t, c)
				lost := func(want int) {
					t.Helper()
					synctest.Wait()
					logs := rec.Logs("mcp_client.subscription.lost")
					if len(logs) != want || want > 0 && logs[want-1].Text("mcp.resource.uri") != motd {
						t.Errorf("want %d subscriptions to %s reported as lost, got %v", want, motd, logs)
					}
				}
				r.subscribe(motd)
				r.reconnect(noUpdates) // a server without updates
				r.silent()
				lost(1)
				r.reconnect(all) // a server with updates
				if r.modern() {
					r.listened(about(motd))
				} else {
					r.subscribed(motd)
				}
				j.wants(t, "updated "+motd)
				lost(1)
				r.reconnect(all) // a server without this resource
				if r.modern() {
					r.agree(r.Expect(mcp.MethodSubscriptionsListen), `{}`)
				} else {
					r.Refuse(r.Expect(mcp.MethodSubscribe), mcp.CodeInvalidParams, "no such resource")
				}
				lost(2)
				j.wants(t)
				r.silent()
				if !r.modern() {
					r.reconnect(all)
					r.Expect(mcp.MethodSubscribe)
					r.reconnect(all)
					r.subscribed(motd)
					lost(2) // a lost connection is not a lost subscription
					return
				}
				done := background(func() error { return c.SubscribeResource(t.Context(), motd) }) // the user tries again
				r.agree(r.Expect(mcp.MethodSubscriptionsListen), `{}`)
				if err := <-done; !errors.Is(err, mcpclient.ErrUnsupported) {
					t.Errorf("want %v, got %v", mcpclient.ErrUnsupported, err)
				}
				lost(2)
				done = background(func() error { return c.SubscribeResource(t.Context(), news) })
				r.listened(about(motd, news))
				if err := <-done; err != nil {
					t.Error(err)
				}
				j.wants(t, "updated "+motd) // the server reports the resource again
				r.Expect(mcp.NotificationCancelled)
				r.Expect(mcp.NotificationCancelled)
				r.reconnect(all)
				r.Refuse(r.Expect(mcp.MethodSubscriptionsListen), mcp.CodeMethodNotFound, "no")
				synctest.Wait()
				if n := len(rec.Logs("mcp_client.subscription.lost")); n != 4 {
					t.Errorf("want both reported as lost, got %d records in all", n)
				}
			})
		})
	}
}

// A gateway has temporarily lost the server with the resource.
func TestUnhonouredResourceSubscriptionIsRequestedAgain(t *testing.T) {
	j := &journal{}
	o := mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleResourceUpdated(j.updated),
		mcpclient.HandleToolListChanged(j.changed("tools"))}}
	const tools = `{"toolsListChanged":true}`
	inRevisions(t, modernOnly, all, o, func(t *testing.T, r *revision) {
		r.listened(tools)
		done := background(func() error { return r.c.SubscribeResource(t.Context(), motd) })
		r.agree(r.Expect(mcp.MethodSubscriptionsListen), "")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		r.reconnect(all)
		r.agree(r.Expect(mcp.MethodSubscriptionsListen), tools)
		j.wants(t, "tools")
		open := r.subscription
		for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			var again frame
			if took := elapsed(func() { again = r.Expect(mcp.MethodSubscriptionsListen) }); took != pause {
				t.Errorf("asked again after %v, want %v", took, pause)
			}
			r.agree(again, tools)
			r.Expect(mcp.NotificationCancelled) // the client cancels this subscription, because the other one is equivalent
			r.subscription = open
			r.tell(mcp.NotificationToolListChanged, "{}")
			j.wants(t, "tools")
		}
		r.agree(r.Expect(mcp.MethodSubscriptionsListen), "")
		j.wants(t, "updated "+motd)
		r.Expect(mcp.NotificationCancelled)
		time.Sleep(time.Hour)
		r.silent()
	})
}

// atOnce is the number of subscriptions that the client restores concurrently.
const atOnce = 8

func TestFewSubscriptionsAreRestoredConcurrently(t *testing.T) {
	inRevisions(t, []mcp.Version{mcp.Version20251125}, all, mcpclient.Options{}, func(t *testing.T, r *revision) {
		uris := map[string]bool{}
		for i := range atOnce + 3 {
			uri := fmt.Sprintf("file:///%d", i)
			uris[`{"uri":"`+uri+`"}`] = true
			r.subscribe(uri)
		}
		r.reconnect(all)
		var waiting []frame
		for range atOnce {
			waiting = append(waiting, r.Expect(mcp.MethodSubscribe))
		}
		r.silent() // the other subscriptions wait
		for len(uris) > 0 {
			f := waiting[0]
			waiting = waiting[1:]
			if p := paramsOf(t, f); !uris[p] {
				t.Errorf("want one subscription to each, got %s", p)
			} else {
				delete(uris, p)
			}
			r.Answer(f, `{}`)
			if len(uris) > len(waiting) {
				waiting = append(waiting, r.Expect(mcp.MethodSubscribe))
			}
		}
		r.silent()
		r.reconnect(all)
		r.Expect(mcp.MethodSubscribe) // after this, the connection is lost again, and nothing may leak
		r.Close()
	})
}

func TestUnsubscribedResourceIsNotRestored(t *testing.T) {
	inRevisions(t, []mcp.Version{mcp.Version20251125}, all, mcpclient.Options{}, func(t *testing.T, r *revision) {
		var last string
		for i := range atOnce + 1 {
			last = fmt.Sprintf("file:///%d", i)
			r.subscribe(last)
		}
		r.reconnect(all)
		var waiting []frame
		for range atOnce {
			waiting = append(waiting, r.Expect(mcp.MethodSubscribe))
		}
		r.unsubscribe(last)
		for _, f := range waiting {
			r.Answer(f, `{}`)
		}
		r.silent()
	})
}

func TestUnsubscribeReturnsAtOnce(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		var uris []string
		for i := range 8 {
			uri := fmt.Sprintf("file:///%d", i)
			r.subscribe(uri, uris...)
			uris = append(uris, uri)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		for _, uri := range uris {
			if err := r.c.UnsubscribeResource(over, uri); (err == nil) != r.modern() || err != nil &&
				!errors.Is(err, context.Canceled) {
				t.Errorf("want an error only if a legacy server did not get the request, got %v", err)
			}
		}
		r.reconnect(all)
		r.silent() // no request, whatever error was returned
	})
}

func TestResourceBeingRestoredCanBeUnsubscribed(t *testing.T) {
	inRevisions(t, []mcp.Version{mcp.Version20251125}, all, mcpclient.Options{}, func(t *testing.T, r *revision) {
		r.subscribe(motd)
		r.reconnect(all)
		f := r.Expect(mcp.MethodSubscribe) // the client is restoring the subscription
		synctest.Wait()
		if err := r.c.UnsubscribeResource(t.Context(), motd, mcpclient.WithTimeout(time.Second)); !errors.Is(err,
			mcpclient.ErrTimeout) {
			t.Errorf("want %v, got %v", mcpclient.ErrTimeout, err)
		}
		r.Answer(f, `{}`)
		r.reconnect(all)
		r.silent()
	})
}
