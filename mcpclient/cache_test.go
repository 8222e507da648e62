package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// freshList returns a result of tools/list that is fresh for ms milliseconds.
func freshList(ms int, tools string) string {
	return fmt.Sprintf(`{"tools":[%s],"resultType":"complete","ttlMs":%d,"cacheScope":"private"}`, tools, ms)
}

// listing lists the first page of the tools in the background.
func listing(t *testing.T, c *mcpclient.Client, options ...mcpclient.CallOption) <-chan *mcp.ListToolsResult {
	got := make(chan *mcp.ListToolsResult, 1)
	go func() {
		r, err := c.ListTools(t.Context(), nil, options...)
		if err != nil {
			t.Error(err)
		}
		got <- r
	}()
	return got
}

// kept lists the tools. The result must come from the cache.
func kept(t *testing.T, c *mcpclient.Client) *mcp.ListToolsResult {
	t.Helper()
	got := listing(t, c)
	synctest.Wait()
	select {
	case r := <-got:
		return r
	default:
		t.Fatal("the client asked the server, want the cached result")
		return nil
	}
}

// asked lists the tools. The client must ask the server.
func (v *conversation) asked(c *mcpclient.Client, result string, options ...mcpclient.CallOption) *mcp.ListToolsResult {
	v.t.Helper()
	got := listing(v.t, c, options...)
	v.Answer(v.Expect(mcp.MethodListTools), result)
	return <-got
}

func TestFreshResultIsServedFromTheCache(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		first := v.asked(c, freshList(60_000, plainTool))
		tool := first.Tools[0]
		first.Tools[0] = nil
		time.Sleep(45 * time.Second)
		second := kept(t, c)
		if len(second.Tools) != 1 || second.Tools[0] != tool || tool.Name != "plain" {
			t.Errorf("the second list is %+v, want a list of its own with the same tool", second.Tools)
		}
		if got, want := second.TTL(), 15*time.Second; got != want {
			t.Errorf("the second result is fresh for %v, want the remaining %v", got, want)
		}
		second.Tools[0] = nil
		if third := kept(t, c); third == second || third.Tools[0] != tool {
			t.Errorf("the third list is %+v, want a list of its own with the same tool", third.Tools)
		}
		time.Sleep(15 * time.Second)
		if r := v.asked(c, freshList(0, regionTool)); r.Tools[0].Name != "query" {
			t.Errorf("listed %+v, want the server's present list", r.Tools)
		}
	})
}

func TestStaleResultIsRequestedEachTime(t *testing.T) {
	big := `{"name":"` + strings.Repeat("x", 600) + `","inputSchema":{"type":"object"}}`
	many := strings.Repeat(`{"name":"x","inputSchema":{}},`, 40) + plainTool // little text and much memory
	for name, test := range map[string]struct {
		o      *mcpclient.Options
		result string
	}{
		"no time":            {nil, freshList(0, plainTool)},
		"negative":           {nil, freshList(-5, plainTool)},
		"no hint":            {nil, `{"resultType":"complete","tools":[]}`},
		"no cache":           {&mcpclient.Options{CacheSize: -1}, freshList(60_000, plainTool)},
		"above the fraction": {&mcpclient.Options{CacheSize: 2000}, freshList(60_000, big)},
		"many items":         {&mcpclient.Options{CacheSize: 64 << 10}, freshList(60_000, many)},
	} {
		t.Run(name, func(t *testing.T) {
			ready(t, test.o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				for range 2 {
					v.asked(c, test.result)
				}
				// the cache is empty, so the change has no effect
				v.Send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + opened(c) + `}}`)
				synctest.Wait()
			})
		})
	}
	t.Run("legacy", func(t *testing.T) {
		bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
			v := s.next(t).legacy(mcp.Version20251125)
			await(t, c)
			for range 2 {
				v.asked(c, freshList(60_000, plainTool))
			}
		})
	})
	t.Run("call", func(t *testing.T) {
		ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			for range 2 {
				done := background(func() error { return c.Call(t.Context(), mcp.MethodListTools, nil, nil) })
				v.Answer(v.Expect(mcp.MethodListTools), freshList(60_000, plainTool))
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		})
	})
}

func TestErrorsAreNotCached(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		for range 2 {
			done := background(func() error { _, err := c.ListTools(t.Context(), nil); return err })
			v.Refuse(v.Expect(mcp.MethodListTools), -32603, "no")
			if err := <-done; err == nil {
				t.Error("want the server's error")
			}
		}
	})
}

func TestWithoutCacheAsksTheServerAndReplacesTheResult(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		v.asked(c, freshList(60_000, plainTool))
		v.asked(c, freshList(60_000, regionTool), mcpclient.WithoutCache())
		if r := kept(t, c); r.Tools[0].Name != "query" {
			t.Errorf("cached %+v, want the newer result", r.Tools[0])
		}
	})
}

func TestCacheKeyIncludesParams(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		v.asked(c, freshList(60_000, plainTool))
		v.asked(c, freshList(60_000, regionTool), mcpclient.WithMeta(mcp.Meta(`{"tenant":"b"}`)))
		done := background(func() error {
			r, err := c.ListTools(t.Context(), new("2"))
			if err == nil && r.Tools[0].Name != "rows" {
				err = errors.New("got another page")
			}
			return err
		})
		v.Answer(v.Expect(mcp.MethodListTools), freshList(60_000, `{"name":"rows","inputSchema":{"type":"object"}}`))
		if err := <-done; err != nil {
			t.Error(err)
		}
		if r := kept(t, c); r.Tools[0].Name != "plain" {
			t.Errorf("the first page is cached as %+v", r.Tools[0])
		}
	})
}

// reading makes a call with a cacheable result, in the background.
func reading(t *testing.T, c *mcpclient.Client, method, uri string) <-chan error {
	return background(func() (err error) {
		switch method {
		case mcp.MethodListTools:
			_, err = c.ListTools(t.Context(), nil)
		case mcp.MethodListPrompts:
			_, err = c.ListPrompts(t.Context(), nil)
		case mcp.MethodListResources:
			_, err = c.ListResources(t.Context(), nil)
		case mcp.MethodListResourceTemplates:
			_, err = c.ListResourceTemplates(t.Context(), nil)
		default:
			_, err = c.ReadResource(t.Context(), uri)
		}
		return err
	})
}

// listable is like ready, with a server that has tools, prompts and resources.
func listable(t *testing.T, o *mcpclient.Options, f func(t *testing.T, v *conversation, c *mcpclient.Client)) {
	t.Helper()
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), listingAll)
		await(t, c)
		f(t, v, c)
	})
}

// fill caches the result of each question.
func fill(t *testing.T, v *conversation, c *mcpclient.Client) {
	t.Helper()
	for _, q := range questions {
		done := reading(t, c, q.method, q.uri)
		v.Answer(v.Expect(q.method), q.result)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

var questions = []struct{ method, uri, result string }{
	{mcp.MethodListTools, "", freshList(60_000, "")},
	{mcp.MethodListPrompts, "", `{"resultType":"complete","ttlMs":60000,"prompts":[]}`},
	{mcp.MethodListResources, "", `{"resultType":"complete","ttlMs":60000,"resources":[]}`},
	{mcp.MethodListResourceTemplates, "", `{"resultType":"complete","ttlMs":60000,"resourceTemplates":[]}`},
	{mcp.MethodReadResource, "file:///a", `{"resultType":"complete","ttlMs":60000,"contents":[]}`},
	{mcp.MethodReadResource, "file:///a/b", `{"resultType":"complete","ttlMs":60000,"contents":[]}`},
	{mcp.MethodReadResource, "file:///ab", `{"resultType":"complete","ttlMs":60000,"contents":[]}`},
}

// keptOf returns the indexes of the questions that the cache answers, as digits.
func keptOf(t *testing.T, v *conversation, c *mcpclient.Client) (kept string) {
	t.Helper()
	for i, q := range questions {
		done := reading(t, c, q.method, q.uri)
		synctest.Wait()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			kept += fmt.Sprint(i)
		default:
			v.Answer(v.Expect(q.method), strings.Replace(q.result, "60000", "0", 1))
			<-done
		}
	}
	return kept
}

func TestNotificationsInvalidateTheCache(t *testing.T) {
	for _, test := range []struct{ notification, want string }{
		{`"method":"notifications/tools/list_changed","params":{"x":1}`, "123456"},
		{`"method":"notifications/prompts/list_changed","params":{"x":1}`, "023456"},
		{`"method":"notifications/resources/list_changed","params":{"x":1}`, "01456"},
		{`"method":"notifications/resources/updated","params":{"uri":"file:///a/b"}`, "01236"}, // the parent is affected too
		{`"method":"notifications/resources/updated","params":{"uri":"file:///a"}`, "012356"},
		{`"method":"notifications/resources/updated","params":{"uri":"file:///other"}`, "0123456"},
		{`"method":"notifications/message","params":{"level":"info","data":1}`, "0123456"},
	} {
		listable(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			fill(t, v, c)
			v.Send(`{"jsonrpc":"2.0",` + strings.Replace(test.notification, `"params":{`, `"params":{`+opened(c)+`,`, 1) + `}`)
			synctest.Wait()
			if got := keptOf(t, v, c); got != test.want {
				t.Errorf("after %s the questions %s are answered by the cache, want %s", test.notification, got, test.want)
			}
		})
	}
}

func TestAnswerOlderThanAChangeIsNotCached(t *testing.T) {
	listable(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		got := listing(t, c)
		f := v.Expect(mcp.MethodListTools)
		v.Send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + opened(c) + `}}`)
		v.Answer(f, freshList(60_000, plainTool))
		<-got
		v.asked(c, freshList(60_000, plainTool))

		done := reading(t, c, mcp.MethodReadResource, "file:///a")
		f = v.Expect(mcp.MethodReadResource)
		v.Send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a",` + opened(c) + `}}`)
		v.Answer(f, questions[4].result)
		<-done
		if got := keptOf(t, v, c); got != "0" {
			t.Errorf("the questions %s are answered by the cache, want only the first", got)
		}
	})
}

func TestNewSessionClearsTheCache(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		v.asked(c, freshList(1<<40, plainTool))
		v.Close()
		v = s.next(t).modern()
		await(t, c)
		v.asked(c, freshList(1<<40, plainTool))
		kept(t, c)
	})
}

func TestResultThatDependsOnInputIsNotCached(t *testing.T) {
	resumed := false // middleware sets the request state of later reads
	o := confirming()
	o.Middleware = []mcpclient.Middleware{func(next mcpclient.CallFunc) mcpclient.CallFunc {
		return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
			if p, ok := params.(*mcp.ReadResourceParams); ok && resumed {
				p.RequestState = new("s")
			}
			return next(ctx, method, params, result, options...)
		}
	}}
	listable(t, o, func(t *testing.T, v *conversation, c *mcpclient.Client) {
		for range 2 {
			done := reading(t, c, mcp.MethodReadResource, "file:///a")
			asks := inputRequired(`{"k":`+formRequest+`}`, `"s"`)
			// a freshness hint in a request for input is invalid, and has no effect
			v.Answer(v.Expect(mcp.MethodReadResource), `{"ttlMs":60000,`+asks[1:])
			v.Answer(v.Expect(mcp.MethodReadResource), questions[4].result)
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		resumed = true
		for range 2 {
			done := reading(t, c, mcp.MethodReadResource, "file:///a")
			v.Answer(v.Expect(mcp.MethodReadResource), questions[4].result)
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestUnknownTargetInvalidatesTheLists(t *testing.T) {
	for _, test := range []struct {
		method string
		params any
		code   int
		want   string
	}{
		{mcp.MethodCallTool, &mcp.CallToolParams{Name: "x"}, mcp.CodeInvalidParams, "123456"},
		{mcp.MethodCallTool, &mcp.CallToolParams{Name: "x"}, mcp.CodeMethodNotFound, "123456"},
		{mcp.MethodCallTool, &mcp.CallToolParams{Name: "x"}, mcp.CodeInternalError, "0123456"},
		{mcp.MethodGetPrompt, &mcp.GetPromptParams{Name: "x"}, mcp.CodeInvalidParams, "023456"},
		{mcp.MethodReadResource, &mcp.ReadResourceParams{URI: "x:"}, mcp.CodeResourceNotFound, "01456"},
		{mcp.MethodListResources, &mcp.PageParams{Cursor: new("old")}, mcp.CodeInvalidParams, "013456"},
	} {
		listable(t, nil, func(t *testing.T, v *conversation, c *mcpclient.Client) {
			fill(t, v, c)
			done := background(func() error { return c.Call(t.Context(), test.method, test.params, nil) })
			v.Refuse(v.Expect(test.method), test.code, "no")
			<-done
			if got := keptOf(t, v, c); got != test.want {
				t.Errorf("after %s failed with %d the questions %s are answered by the cache, want %s", test.method, test.code, got,
					test.want)
			}
		})
	}
}

func TestCacheIsClearedWhenClientStartsToListen(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		await(t, c)
		v.asked(c, freshList(60_000, plainTool))
		c.Handle(mcpclient.HandleNotification(mcp.NotificationPromptListChanged, heard(new(int))))
		f := v.Expect(mcp.MethodSubscriptionsListen)
		kept(t, c)
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",`+
			`"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{}}}`, f.ID))
		synctest.Wait()
		v.asked(c, freshList(60_000, plainTool)) // the list may have changed before the client started to listen
		kept(t, c)
	})
}

func TestToolChangedWithoutNotificationIsListedAgain(t *testing.T) {
	mirrored(t, nil, func(t *testing.T, s *script, c *mcpclient.Client, h *overHTTP) {
		v := s.next(t).modern()
		await(t, c)
		v.asked(c, freshList(60_000, regionTool))
		done := background(func() error {
			_, err := c.CallTool(t.Context(), "query", map[string]any{"region": "us", "rows": 3})
			return err
		})
		v.Refuse(v.Expect(mcp.MethodCallTool), mcp.CodeHeaderMismatch, "no rows")
		v.Answer(v.Expect(mcp.MethodListTools), freshList(60_000, rowsTool))
		v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil || h.header["Mcp-Param-Rows"] != "3" {
			t.Errorf("got %v with the headers %v, want the headers of the new list", err, h.header)
		}
	})
}

func TestCacheHitIsCountedAndSendsNoRequest(t *testing.T) {
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		v := s.next(t).modern()
		await(t, c)
		v.asked(c, freshList(60_000, plainTool))
		kept(t, c)
		kept(t, c)
		v.asked(c, freshList(60_000, plainTool), mcpclient.WithoutCache()) // WithoutCache does not look up the cache
		for outcome, want := range map[string]int64{"hit": 2, "miss": 1} {
			got := rec.Value("mcp_client.cache.lookups", "mcp.method.name", "tools/list", "mcp_client.cache.outcome", outcome)
			if got != want {
				t.Errorf("%d look-ups were a %s, want %d", got, outcome, want)
			}
		}
		if got := rec.Count("mcp.client.operation.duration", "mcp.method.name", "tools/list"); got != 2 {
			t.Errorf("%d requests were measured, want 2", got)
		}
	})
}

func TestResultAfterWaitingForReadinessIsCached(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		got := make(chan error, 1)
		go func() {
			_, err := c.ListTools(context.Background(), nil, mcpclient.WaitForReady())
			got <- err
		}()
		synctest.Wait()
		v := s.next(t).modern()
		v.Answer(v.Expect(mcp.MethodListTools), freshList(60_000, plainTool))
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		kept(t, c)
	})
}

// A private result belongs to the user who requested it. After another user has logged in, the client requests private
// results again, but not public ones. (specification 2026-07-28, server/utilities/caching, "Cache Scope")
func TestNewAuthorizationDropsPrivateResults(t *testing.T) {
	for _, test := range []struct {
		scope string
		stays bool
	}{
		{`"cacheScope":"public"`, true},
		{`"cacheScope":"private"`, false},
		{`"cacheScope":"shared"`, false}, // an unknown scope
		{`"x":1`, false},
	} {
		var authorized func()
		rec := telemetrytest.Recorder(t)
		bubbleWith(t, &mcpclient.Options{Telemetry: rec.Telemetry()}, func(s *script) transport.Transport {
			return configured{s, func(cfg transport.Config) { authorized = cfg.Authorized }}
		}, func(t *testing.T, s *script, c *mcpclient.Client) {
			v := s.next(t).modern()
			await(t, c)
			list := strings.Replace(freshList(60_000, plainTool), `"cacheScope":"private"`, test.scope, 1)
			v.asked(c, list)
			kept(t, c)
			if !v.stranger(c, rec, "other") {
				t.Error("the client considers the list incomplete, want complete")
			}
			authorized()
			if v.stranger(c, rec, "other") {
				t.Error("the client still has the old tools, want none for another user")
			}
			if test.stays {
				kept(t, c)
			} else {
				v.asked(c, list)
				kept(t, c)
			}
		})
	}
}

func TestAnswerForThePreviousAuthorizationIsNotCached(t *testing.T) {
	var authorized func()
	bubbleWith(t, nil, func(s *script) transport.Transport {
		return configured{s, func(cfg transport.Config) { authorized = cfg.Authorized }}
	}, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).modern()
		await(t, c)
		got := listing(t, c)
		f := v.Expect(mcp.MethodListTools)
		authorized()
		v.Answer(f, freshList(60_000, plainTool))
		<-got
		v.asked(c, freshList(60_000, plainTool))
	})
}
