package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcptest"
)

// watchingServer is a server of one revision that supports subscriptions to resources. The subscriptions end with the
// connection.
type watchingServer struct {
	version mcp.Version
	delay   time.Duration // delay of each answer
	refuse  []bool        // whether the server refuses each of the first subscriptions/listen

	mu    sync.Mutex
	open  map[string][]string // reported resources, by the ID of the listen request or by the URI
	drops chan struct{}       // ends the connection
}

// serve serves connections, one after the other.
func (w *watchingServer) serve(ctx context.Context, s *script) {
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-s.Conversations():
			w.mu.Lock()
			w.open = map[string][]string{}
			w.mu.Unlock()
			w.converse(ctx, c)
		}
	}
}

func (w *watchingServer) converse(ctx context.Context, c *mcptest.Conversation) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	frames := make(chan frame)
	go func() {
		defer close(frames)
		for {
			raw, err := c.Peer().Receive(ctx)
			if err != nil {
				return
			}
			f := frame{Raw: string(raw)}
			_ = json.Unmarshal(raw, &f)
			frames <- f
		}
	}()
	for {
		select {
		case f, ok := <-frames:
			if !ok {
				return
			}
			time.Sleep(w.delay)
			if out := w.answer(f); out != "" {
				_ = c.Peer().Send(ctx, []byte(out))
			}
		case <-w.drops:
			c.Close()
			for range frames { // discard frames until the client is gone
			}
			return
		}
	}
}

// answer returns the answer to f. It is empty if there is none.
func (w *watchingServer) answer(f frame) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var p struct {
		URI           string                 `json:"uri"`
		RequestID     json.RawMessage        `json:"requestId"`
		Notifications mcp.SubscriptionFilter `json:"notifications"`
	}
	_ = json.Unmarshal(f.Params, &p)
	result := `{}`
	switch f.Method {
	case mcp.MethodDiscover:
		result = fmt.Sprintf(`{"resultType":"complete","supportedVersions":[%q],"capabilities":%s}`, w.version, all)
	case mcp.MethodInitialize:
		result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"x","version":"1"}}`, w.version,
			all)
	case mcp.MethodSubscribe:
		w.open[p.URI] = []string{p.URI}
	case mcp.MethodUnsubscribe:
		delete(w.open, p.URI)
	case mcp.NotificationCancelled:
		delete(w.open, string(p.RequestID))
	case mcp.MethodSubscriptionsListen:
		refuse := len(w.refuse) > 0 && w.refuse[0]
		w.refuse = w.refuse[min(1, len(w.refuse)):]
		if refuse {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`, f.ID)
		}
		w.open[string(f.ID)] = p.Notifications.ResourceSubscriptions
		filter, _ := json.Marshal(p.Notifications)
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",`+
			`"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":%s}}`, f.ID, filter)
	}
	if f.ID == nil {
		return ""
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, f.ID, result)
}

// plannedChange is one call of the user, which subscribes to a resource or unsubscribes from it.
type plannedChange struct {
	After       time.Duration // delay after the previous change
	Unsubscribe bool
}

// After concurrent changes to several resources and lost connections, the test compares the resources that the server
// reports with the resources that the user has subscribed to.
func TestServerReportsSubscribedResources(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		moment := rapid.Custom(func(rt *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0, 4000).Draw(rt, "ms")) * time.Millisecond
		})
		var (
			version = rapid.SampledFrom(mcp.SupportedVersions()).Draw(rt, "version")
			delay   = time.Duration(rapid.SampledFrom([]int{0, 1, 300}).Draw(rt, "delay")) * time.Millisecond
			refuse  = rapid.SliceOfN(rapid.Bool(), 0, 6).Draw(rt, "refuse")
			drops   = rapid.SliceOfN(moment, 0, 4).Draw(rt, "drops")
			changes = rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) plannedChange {
				return plannedChange{moment.Draw(rt, "after"), rapid.IntRange(0, 2).Draw(rt, "unsubscribe") == 0}
			}), 1, 5), 1, 5).Draw(rt, "changes of each resource")
		)
		var want, got []string
		var listens int
		synctest.Test(t, func(t *testing.T) {
			s := newScript(t)
			server := &watchingServer{version: version, delay: delay, refuse: refuse, drops: make(chan struct{})}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go server.serve(ctx, s)
			c, err := mcpclient.New(s, checked(t, &mcpclient.Options{Versions: []mcp.Version{version}}))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go func() {
				for _, d := range drops {
					time.Sleep(d)
					select {
					case server.drops <- struct{}{}:
					case <-time.After(time.Hour):
					}
				}
			}()
			want = subscribeAll(ctx, c, changes)
			time.Sleep(3 * time.Hour)
			server.mu.Lock()
			defer server.mu.Unlock()
			got = slices.Sorted(func(yield func(string) bool) {
				for _, uris := range server.open {
					for _, uri := range uris {
						yield(uri)
					}
				}
			})
			listens = len(server.open)
		})
		if !slices.Equal(got, want) {
			rt.Errorf("%s: want the server to report %q, got %q", version, want, got)
		}
		if version.Era() == mcp.Modern && listens > 1 {
			rt.Errorf("want one subscription open at the end, got %d", listens)
		}
	})
}

// subscribeAll makes the changes of all resources concurrently. It returns the resources that must be subscribed at the
// end, according to the results of the calls.
func subscribeAll(ctx context.Context, c *mcpclient.Client, changes [][]plannedChange) []string {
	var mu sync.Mutex
	subscribed := map[string]bool{}
	var wg sync.WaitGroup
	for i, own := range changes {
		wg.Go(func() {
			uri := fmt.Sprintf("file:///%d", i)
			for _, change := range own {
				time.Sleep(change.After)
				var err error
				if change.Unsubscribe {
					_ = c.UnsubscribeResource(ctx, uri)
				} else {
					err = c.SubscribeResource(ctx, uri, mcpclient.WaitForReady())
				}
				mu.Lock()
				if change.Unsubscribe {
					delete(subscribed, uri)
				} else if err == nil {
					subscribed[uri] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return slices.Sorted(maps.Keys(subscribed))
}
