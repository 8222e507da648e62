package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// listsEverything is the handshake of a server of 2025-11-25 that has all kinds of lists.
const listsEverything = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{},` +
	`"tasks":{"list":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"lister","version":"1"}}`

// listed has, for each list, the name of the member that holds the items, and an item.
var listed = map[string][2]string{
	mcp.MethodListTools:             {"tools", `{"name":"x","inputSchema":{}}`},
	mcp.MethodListPrompts:           {"prompts", `{"name":"x"}`},
	mcp.MethodListResources:         {"resources", `{"name":"x","uri":"a:b"}`},
	mcp.MethodListResourceTemplates: {"resourceTemplates", `{"name":"x","uriTemplate":"a:b"}`},
	mcp.MethodListTasks: {"tasks", `{"taskId":"t","status":"working","createdAt":"2025-11-25T10:00:00Z",` +
		`"lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":null}`},
}

// lister is a server that answers the nth request for a page with page(n), counted from 1.
func lister(handshake string, page func(n int) string) transport.Transport {
	return transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		n := 0
		for {
			raw, err := p.Receive(ctx)
			if err != nil {
				return
			}
			var r frame
			_ = json.Unmarshal(raw, &r)
			result := ""
			switch {
			case r.ID == nil:
				continue
			case r.Method == mcp.MethodInitialize:
				result = handshake
			case listed[r.Method][0] != "":
				n++
				result = page(n)
				result = strings.Replace(result, `"items"`, `"`+listed[r.Method][0]+`"`, 1)
				result = strings.ReplaceAll(result, `"item"`, listed[r.Method][1])
			}
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result)
			if result == "" {
				answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, r.ID)
			}
			if p.Send(ctx, []byte(answer)) != nil {
				return
			}
		}
	})
}

// listPage returns a page of any list, with this number of placeholders "item", and with bytes of padding.
func listPage(items, bytes int, cursor string) string {
	all := "[" + strings.TrimSuffix(strings.Repeat(`"item",`, items), ",") + "]"
	return `{"_meta":{"x":"` + strings.Repeat("x", bytes) + `"},"nextCursor":"` + cursor + `","items":` + all + `}`
}

// lists returns a function for each method of a client that yields the items of a list. The function reads the list to
// its end and returns the error that ended it.
func lists(c *mcpclient.Client) map[string]func(context.Context, ...mcpclient.CallOption) error {
	all := map[string]func(context.Context, ...mcpclient.CallOption) error{}
	for m := range reflect.TypeFor[*mcpclient.Client]().Methods() {
		if m.Type.NumOut() != 1 || m.Type.Out(0).Kind() != reflect.Func || !m.Type.Out(0).CanSeq2() || !m.Type.IsVariadic() {
			continue
		}
		all[m.Name] = func(ctx context.Context, options ...mcpclient.CallOption) (err error) {
			in := []reflect.Value{reflect.ValueOf(c), reflect.ValueOf(ctx), reflect.ValueOf(options)}
			for _, failed := range m.Func.CallSlice(in)[0].Seq2() {
				err, _ = failed.Interface().(error)
			}
			return err
		}
	}
	return all
}

var _ iter.Seq2[*mcp.Tool, error] // the type that the function lists looks for

func TestEveryListIsBounded(t *testing.T) {
	for _, test := range []struct {
		name, want string
		page       func(n int) string
	}{
		{"pages", "more than 1000 pages", func(n int) string { return listPage(0, 0, fmt.Sprint(n)) }},
		{"items", "more than 100000 items", func(n int) string { return listPage(20_000, 0, fmt.Sprint(n)) }},
		{"bytes", "more than 262144 bytes", func(n int) string { return listPage(0, 60<<10, fmt.Sprint(n)) }},
		{"long cursors", "more than 262144 bytes", func(n int) string { return listPage(0, 0, fmt.Sprint(n)+pad[:50<<10]) }},
		{"a cursor that comes again", "twice", func(n int) string { return listPage(0, 0, fmt.Sprint(n%7, pad[:10<<10])) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := &mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125},
				Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}, Limits: mcpclient.Limits{Frame: 64 << 10}}
			if test.name == "items" {
				o.Limits.Frame = 32 << 20
			}
			synctest.Test(t, func(t *testing.T) {
				c, err := mcpclient.Connect(t.Context(), lister(listsEverything, test.page), checked(t, o))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = c.Close() }()
				all := lists(c)
				if len(all) < 5 {
					t.Fatalf("got the lists %v, want five at least", all)
				}
				for name, read := range all {
					err := read(t.Context())
					e, _ := errors.AsType[*mcpclient.Error](err)
					if e == nil || e.Kind != mcpclient.KindProtocol || !strings.Contains(err.Error(), test.want) ||
						len(err.Error()) > 500 {
						t.Errorf("%s: got %.600v, want a short protocol error with %q", name, err, test.want)
					}
				}
			})
		})
	}
}

// The time for a list does not restart with each page.
func TestAllPagesOfListShareOneDeadline(t *testing.T) {
	slow := func(n int) string {
		time.Sleep(90 * time.Millisecond) // virtual time
		return listPage(1, 0, fmt.Sprint(n))
	}
	for _, test := range []struct {
		name    string
		options []mcpclient.CallOption
		client  time.Duration
		want    time.Duration
	}{
		{"that of the option", []mcpclient.CallOption{mcpclient.WithTimeout(200 * time.Millisecond)}, 0,
			200 * time.Millisecond},
		{"ten times the client's", nil, 200 * time.Millisecond, 2 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125},
					Features:       []mcpclient.Feature{mcpclient.UseTasks(nil)},
					RequestTimeout: test.client}
				c, err := mcpclient.Connect(t.Context(), lister(listsEverything, slow), checked(t, o))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = c.Close() }()
				for name, read := range lists(c) {
					took := elapsed(func() {
						if err := read(t.Context(), test.options...); !errors.Is(err, mcpclient.ErrTimeout) {
							t.Errorf("%s: got %v, want a timeout", name, err)
						}
					})
					if took != test.want {
						t.Errorf("%s: took %v, want %v", name, took, test.want)
					}
				}
				took := elapsed(func() { // the caller's work does not count
					n := 0
					for _, err := range c.Tools(t.Context(), test.options...) {
						if n++; n == 2 {
							time.Sleep(time.Hour)
						}
						if err != nil && !errors.Is(err, mcpclient.ErrTimeout) {
							t.Errorf("got %v, want a timeout", err)
						}
					}
				})
				if want := test.want + time.Hour; took != want {
					t.Errorf("a list whose caller takes an hour took %v, want %v", took, want)
				}
			})
		})
	}
}

// endless answers each request for a page of tools after 90 ms, each time with another cursor, until the client is
// gone. It refuses calls, so that the client lists the tools.
func (c *conversation) endless(page func(n int) string) {
	for n := 1; ; n++ {
		raw, err := c.Peer().Receive(c.Context())
		if err != nil {
			return
		}
		var f frame
		_ = json.Unmarshal(raw, &f)
		answer := `"result":` + page(n)
		if f.Method == mcp.MethodCallTool {
			answer = fmt.Sprintf(`"error":{"code":%d,"message":"mismatch"}`, mcp.CodeHeaderMismatch)
		}
		if f.ID != nil {
			time.Sleep(90 * time.Millisecond)
			_ = c.Peer().Send(c.Context(), []byte(`{"jsonrpc":"2.0","id":`+string(f.ID)+`,`+answer+`}`))
		}
	}
}

// An operation that lists tools first has one deadline for all its requests: a timeout of 200 ms stays 200 ms.
func TestListWithinCallSharesItsDeadline(t *testing.T) {
	const limit = 200 * time.Millisecond
	page := func(n int) string { return listOf("")[:len(listOf(""))-1] + fmt.Sprintf(`,"nextCursor":"%d"}`, n) }
	alias := strings.Repeat("long", 40) // not a valid tool name in a group
	for name, test := range map[string]struct {
		legacy, http bool
		call         func(ctx context.Context, g *mcpclient.Group, c *mcpclient.Client, o ...mcpclient.CallOption) error
	}{
		"CallToolAs": {call: func(ctx context.Context, g *mcpclient.Group, c *mcpclient.Client,
			o ...mcpclient.CallOption) error {
			_, err := mcpclient.CallToolAs[struct{}](ctx, c, "x", nil, o...)
			return err
		}},
		"CallToolAs with a wait": {call: func(ctx context.Context, g *mcpclient.Group, c *mcpclient.Client,
			o ...mcpclient.CallOption) error {
			_, err := mcpclient.CallToolAs[struct{}](ctx, c, "x", nil, append(o, mcpclient.WaitForReady())...)
			return err
		}},
		"CallTool with a header mismatch": {http: true,
			call: func(ctx context.Context, g *mcpclient.Group, c *mcpclient.Client, o ...mcpclient.CallOption) error {
				_, err := c.CallTool(ctx, "x", nil, o...)
				return err
			}},
		"CallTool that may be a task": {legacy: true,
			call: func(ctx context.Context, g *mcpclient.Group, c *mcpclient.Client, o ...mcpclient.CallOption) error {
				_, err := c.CallTool(ctx, "x", nil, o...)
				return err
			}},
		"StartTool": {legacy: true, call: func(ctx context.Context, g *mcpclient.Group, c *mcpclient.Client,
			o ...mcpclient.CallOption) error {
			_, err := c.StartTool(ctx, "x", nil, o...)
			return err
		}},
		"CallTool of a group": {call: func(ctx context.Context, g *mcpclient.Group, c *mcpclient.Client,
			o ...mcpclient.CallOption) error {
			_, err := g.CallTool(ctx, inGroup(alias), nil, o...)
			return err
		}},
		"Route of a group": {call: func(ctx context.Context, g *mcpclient.Group, c *mcpclient.Client,
			o ...mcpclient.CallOption) error {
			_, _, err := g.Route(ctx, inGroup(alias), o...)
			return err
		}},
		"Tools of a group": {call: func(ctx context.Context, g *mcpclient.Group, c *mcpclient.Client,
			o ...mcpclient.CallOption) (err error) {
			for _, err = range g.Tools(ctx, o...) {
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t)
				var via transport.Transport = s
				if test.http {
					via = overHTTP{rigged: &rigged{Transport: s}}
				}
				o := checked(t, &mcpclient.Options{Versions: []mcp.Version{mcp.Version20260728}})
				if test.legacy {
					o = checked(t, &mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125},
						Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}})
				}
				g, err := mcpclient.NewGroup([]mcpclient.Member{{Name: "m", Transport: via, Options: o}}, nil)
				if err != nil {
					t.Fatal(err)
				}
				v := s.next(t)
				over := make(chan struct{})
				defer func() {
					_ = g.Close()
					<-over
				}()
				if test.legacy {
					v.Answer(v.Expect(mcp.MethodInitialize), listsEverything)
					v.Expect(mcp.NotificationInitialized)
				} else {
					v.modern()
				}
				c, _ := g.Client("m")
				await(t, c)
				go func() { defer close(over); v.endless(page) }()
				took := elapsed(func() { err = test.call(t.Context(), g, c, mcpclient.WithTimeout(limit)) })
				if took != limit {
					t.Errorf("it took %v, want %v", took, limit)
				}
				refused, ok := errors.AsType[*mcp.Error](err)
				if !errors.Is(err, mcpclient.ErrTimeout) && (!ok || refused.Code != mcp.CodeHeaderMismatch) {
					t.Errorf("got %v, want a timeout, or the reason for the refusal", err)
				}
			})
		})
	}
}

// The call has the time that is left after the list. If no time is left, the client does not make the call.
func TestCallAfterSlowListHasRemainingTime(t *testing.T) {
	for name, test := range map[string]struct {
		list, call time.Duration
		wantCall   bool
		wantErr    error
	}{
		"in time":      {150 * time.Millisecond, 40 * time.Millisecond, true, nil},
		"call is late": {150 * time.Millisecond, 60 * time.Millisecond, true, mcpclient.ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				begun := time.Now()
				done := background(func() error {
					_, err := mcpclient.CallToolAs[map[string]string](t.Context(), c, "tool", nil,
						mcpclient.WithTimeout(200*time.Millisecond))
					return err
				})
				list := v.Expect(mcp.MethodListTools)
				time.Sleep(test.list)
				v.Answer(list, fmt.Sprintf(toolList, `{"type":"object"}`))
				call := v.Expect(mcp.MethodCallTool)
				time.Sleep(test.call)
				if test.wantErr == nil {
					v.Answer(call, structured)
				}
				if err := <-done; !errors.Is(err, test.wantErr) {
					t.Errorf("got %v, want %v", err, test.wantErr)
				}
				if took := time.Since(begun); took > 210*time.Millisecond {
					t.Errorf("it took %v, want 200 ms at most", took)
				}
			})
		})
	}
}

func TestCallPastDeadlineSendsNothing(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		ctx, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		_, err := c.CallTool(ctx, "x", nil)
		if !errors.Is(err, mcpclient.ErrTimeout) || !mcpclient.SafeToRetry(err) {
			t.Errorf("got %v, want a timeout, and no request", err)
		}
		done := background(func() error { return c.Call(t.Context(), "next", nil, nil) })
		v.Answer(v.Expect("next"), `{}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
