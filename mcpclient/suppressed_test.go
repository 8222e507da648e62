package mcpclient_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// The client refuses each of a server's requests. The next warning that the limit allows contains the number of
// suppressed warnings.
func TestSuppressedWarningsAreCounted(t *testing.T) {
	refuse := func(context.Context, *mcpclient.Request) (any, error) {
		return nil, &mcp.Error{Code: -32021, Message: "no"}
	}
	at20251125(t, &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleRequest("acme/x", refuse)}},
		func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			refused := func(id int) {
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"acme/x"}`, id))
				if f := v.Receive(); f.Error == nil {
					t.Fatalf("want the request refused, got %s", f.Raw)
				}
			}
			for id := range 10 {
				refused(id)
			}
			time.Sleep(2 * time.Second)
			refused(10)
		})
}

// The first five unusable answers are logged, then one in a second, with the number of suppressed records.
func TestUnusableAnswerLogsAreRateLimited(t *testing.T) {
	t.Run("a tool", func(t *testing.T) {
		mirrored(t, nil, func(t *testing.T, s *script, c *mcpclient.Client, _ *overHTTP) {
			v := s.next(t).modern()
			await(t, c)
			list := func() {
				done := background(func() error { _, err := c.ListTools(t.Context(), nil, mcpclient.WithoutCache()); return err })
				v.Answer(v.Expect(mcp.MethodListTools), listOf(brokenTool))
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			oftenAndLater(list)
		})
	})
	t.Run("an output schema", func(t *testing.T) {
		ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			const schema = `{"type":"object","properties":{"code":{"type":"string","pattern":"^(?!x)"}}}`
			listed := false
			oftenAndLater(func() {
				done := background(func() error {
					_, err := mcpclient.CallToolAs[map[string]string](t.Context(), c, "tool", nil)
					return err
				})
				if !listed {
					v.Answer(v.Expect(mcp.MethodListTools), fmt.Sprintf(toolList, schema))
					listed = true
				}
				v.Answer(v.Expect(mcp.MethodCallTool), structured)
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	})
	t.Run("subscriptions", func(t *testing.T) {
		bubble(t, &mcpclient.Options{Versions: legacyOnly}, func(t *testing.T, s *script, c *mcpclient.Client) {
			const uris = 8
			connect := func(capabilities string) *conversation {
				v := s.next(t)
				v.Answer(v.Expect(mcp.MethodInitialize), `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+
					`,"serverInfo":{"name":"old","version":"1"}}`)
				v.Expect(mcp.NotificationInitialized)
				await(t, c)
				return v
			}
			v := connect(`{"resources":{"subscribe":true}}`)
			for n := range uris {
				done := background(func() error { return c.SubscribeResource(t.Context(), fmt.Sprint("file:///", n)) })
				v.Answer(v.Expect(mcp.MethodSubscribe), `{}`)
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			for range 2 {
				v.Close()
				v = connect(`{}`) // this server makes the client lose all subscriptions
				time.Sleep(time.Minute)
				v.Close()
				v = connect(`{"resources":{"subscribe":true}}`)
				for range uris {
					v.Answer(v.Expect(mcp.MethodSubscribe), `{}`)
				}
			}
		})
	})
}

// oftenAndLater runs f more often than the limit allows, and once more when the limit allows it again.
func oftenAndLater(f func()) {
	for range 8 {
		f()
	}
	time.Sleep(2 * time.Second)
	f()
}
