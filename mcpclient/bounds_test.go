package mcpclient

import (
	"context"

	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// wantBound fails the test unless err is a short error of kind protocol that names the limit.
func wantBound(t *testing.T, err error, limit string) {
	t.Helper()
	e, _ := errors.AsType[*Error](err)
	if e == nil || e.Kind != KindProtocol || !strings.Contains(err.Error(), limit) || len(err.Error()) > 500 {
		t.Errorf("got %.600v, want a short error of kind protocol with %q", err, limit)
	}
}

// rooted is a client that answers roots/list, and does not mind how often.
func rooted(more ...Feature) *Options {
	return &Options{Features: append(more, HandleRequest(mcp.MethodListRoots,
		func(context.Context, *Request) (any, error) {
			return &mcp.ListRootsResult{Roots: []*mcp.Root{}}, nil
		}))}
}

// inputs are so many requests, with keys that begin with a prefix.
func inputs(n int, prefix, params string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"%s%d":{"method":"roots/list","params":{"x":%q}}`, prefix, i, params)
	}
	return "{" + strings.Join(all, ",") + "}"
}

func TestInputRequestsInOneAnswerAreBounded(t *testing.T) {
	for _, test := range []struct{ name, requests, limit string }{
		{"requests", inputs(maxInputs+1, "k", ""), "more than 64 inputs"},
		{"keys", inputs(1, strings.Repeat("k", maxInputKey), ""), "key of more than 1024 bytes"},
		{"bytes", inputs(20, "k", strings.Repeat("x", mebi)), "more than 16777216 bytes"},
		{"as many as may be", inputs(maxInputs, "k", ""), ""},
	} {
		t.Run("a call: "+test.name, func(t *testing.T) {
			o := rooted()
			o.FrameLimit = 32 * mebi
			ready(t, o, func(t *testing.T, s *script, v *conversation, c *Client) {
				done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
				v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(test.requests, ""))
				if test.limit != "" {
					wantBound(t, <-done, test.limit)
					return
				}
				v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
		t.Run("a task: "+test.name, func(t *testing.T) {
			o := rooted(UseTasks(nil))
			o.FrameLimit = 32 * mebi
			bubble(t, o, func(t *testing.T, s *script, c *Client) {
				v := s.next(t)
				const capable = `"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}`
				v.Answer(v.Expect(mcp.MethodDiscover), strings.Replace(discovered, `"tools":{}`, capable, 1))
				await(t, c)
				done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
				const state = `"taskId":"t","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z",` +
					`"ttlMs":null,"pollIntervalMs":1`
				v.Answer(v.Expect(mcp.MethodCallTool), `{"resultType":"task","status":"working",`+state+`}`)
				v.Answer(v.Expect(mcp.MethodGetTask),
					`{"resultType":"complete","status":"input_required",`+state+`,"inputRequests":`+test.requests+`}`)
				if test.limit != "" {
					v.Answer(v.Expect(mcp.MethodCancelTask), `{"resultType":"complete"}`)
					wantBound(t, <-done, test.limit)
					return
				}
				v.Answer(v.Expect(mcp.MethodUpdateTask), `{"resultType":"complete"}`)
				const result = `{"content":[]}`
				v.Answer(v.Expect(mcp.MethodGetTask),
					`{"resultType":"complete","status":"completed",`+state+`,"result":`+result+`}`)
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestInputRequestsOfATaskAreBounded(t *testing.T) {
	ready(t, rooted(), func(t *testing.T, s *script, v *conversation, c *Client) {
		task := newTask(c, c.Call)
		for n := 0; ; n++ {
			requests := mcp.InputRequests{fmt.Sprint(n): {Method: mcp.MethodListRoots}}
			if err := task.answer(t.Context(), 1, requests); err != nil {
				wantBound(t, err, "more than 10000 inputs")
				break
			}
			for key := range task.answers { // as update does
				task.answered[key] = true
			}
			if n > maxTaskInputs {
				t.Fatalf("the task has asked for %d inputs and may go on", n)
			}
		}
	})
}

func TestTheURLsOfOneErrorAreBounded(t *testing.T) {
	visit := func(n int, message string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"mode":"url","message":%q,"url":"https://a.example/","elicitationId":"%d"}`, message, i)
		}
		return `{"elicitations":[` + strings.Join(all, ",") + `]}`
	}
	for _, test := range []struct{ name, data, limit string }{
		{"visits", visit(maxVisits+1, ""), "more than 64 URLs"},
		{"bytes", visit(1, strings.Repeat("x", maxVisitBytes)), "more than 1048576 bytes"},
		{"nothing, many times", `{"elicitations":[` + strings.Repeat("{},", 400_000) + `{}]}`, "more than 1048576 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := 0
			visit := func(context.Context, *URLElicitation) (mcp.ElicitAction, error) {
				asked++
				return mcp.ElicitAccept, nil
			}
			o := &Options{Features: []Feature{HandleURLElicitation(visit, nil)}}
			at20251125(t, o, func(t *testing.T, s *script, v *conversation, c *Client) {
				done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"go","data":%s}}`,
					v.Expect(mcp.MethodCallTool).ID, mcp.CodeURLElicitationRequired, test.data))
				wantBound(t, <-done, test.limit)
				if asked > 0 {
					t.Errorf("the user was asked %d times, want never", asked)
				}
			})
		})
	}
}

func TestAnIntroductionIsBounded(t *testing.T) {
	many := `"experimental":{` + strings.TrimSuffix(strings.Repeat(`"a":{},`, 10_000), ",") + `}`
	legacy := fmt.Sprintf(initialized, mcp.Version20251125)
	named := strings.Replace(legacy, "legacy", pad[:conn.MaxIntroduction], 1)
	for name, test := range map[string]struct {
		version        mcp.Version
		method, result string
	}{
		"modern": {mcp.Version20260728, mcp.MethodDiscover, strings.Replace(discovered, `"tools":{}`, many, 1)},
		"legacy": {mcp.Version20251125, mcp.MethodInitialize, strings.Replace(legacy, `"tools":{}`, many, 1)},
		"name":   {mcp.Version20251125, mcp.MethodInitialize, named},
	} {
		t.Run(name, func(t *testing.T) {
			o := &Options{}
			if test.method == mcp.MethodInitialize {
				o.Versions = []mcp.Version{test.version}
			}
			bubble(t, o, func(t *testing.T, s *script, c *Client) {
				v := s.next(t)
				v.Answer(v.Expect(test.method), test.result)
				synctest.Wait()
				if err := c.Status().Err; err == nil || !strings.Contains(err.Error(), "above the limit of 65536") ||
					len(err.Error()) > 200 {
					t.Errorf("got %.300v, want an error that names the limit", err)
				}
			})
		})
	}
}

// A tool for whose schema there is no room is checked all the same: the list is asked for anew.
func TestToolsWithoutRoomAreListedAgain(t *testing.T) {
	filler := func(n int) (tools string) {
		for i := range n {
			tools += checked(i) + ","
		}
		return tools
	}
	strict := `{"name":"tool","inputSchema":{"type":"object","properties":{"region":{"type":"string",` +
		`"x-mcp-header":"Region"}}},` +
		`"outputSchema":{"type":"object","required":["missing"],"title":"` + pad[:16<<10] + `"}}`
	tools := listOf(filler(schemaRoom/padding) + strict)
	rec := telemetrytest.Recorder(t)
	mirrored(t, &Options{Telemetry: rec.Telemetry()}, func(t *testing.T, s *script, c *Client, h *overHTTP) {
		v := s.next(t).modern()
		await(t, c)
		for range 2 {
			done := background(func() error {
				_, err := CallToolAs[map[string]string](t.Context(), c, "tool", map[string]any{"region": "eu"})
				return err
			})
			v.Answer(v.Expect(mcp.MethodListTools), tools)
			call := v.Expect(mcp.MethodCallTool)
			if c.tools.stranger("tool") || !c.tools.stranger("another") {
				t.Error("want the name known, although the rest is not, and no other")
			}
			if h.header["Mcp-Param-Region"] != "" {
				t.Errorf("got the headers %v, want none as long as nothing is known", h.header)
			}
			v.Refuse(call, mcp.CodeHeaderMismatch, "Mcp-Param-Region is missing")
			v.Answer(v.Expect(mcp.MethodListTools), tools)
			v.Answer(v.Expect(mcp.MethodCallTool), structured)
			if h.header["Mcp-Param-Region"] != "eu" {
				t.Errorf("got the headers %v, want the region by the list", h.header)
			}
			wantBound(t, <-done, "missing")
		}
		if c.tools.known.size > toolRoom {
			t.Errorf("%d bytes are kept, want %d at most", c.tools.known.size, toolRoom)
		}
	})
}

func TestRemovedToolIsForgotten(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *Client) {
		v.t = t
		for _, list := range []struct{ tools, gone, there string }{{plainTool, "", "plain"}, {regionTool, "plain", "query"}} {
			v.list(c, listTools(t, c), list.tools)
			if c.tools.stranger(list.there) || list.gone != "" && !c.tools.stranger(list.gone) {
				t.Errorf("want %s known and %q forgotten", list.there, list.gone)
			}
		}
	})
}

// An alias for which there is no room is looked up in the list each time.
func TestAliasesOfAGroupAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		g, err := NewGroup([]Member{{Name: "m", Transport: s, Options: Checked(t, nil)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = g.Stop(context.Background()) }()
		v := s.next(t).modern()
		c, _ := g.Client("m")
		await(t, c)
		tools, longest := "", ""
		for i := range 8 {
			longest = fmt.Sprint(i, pad[:mebi/4])
			tools += fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}},`, longest)
		}
		tools = listOf(strings.TrimSuffix(tools, ","))
		for range 2 {
			done := background(func() error { _, err := g.CallTool(t.Context(), g.naming.Name("m_", longest), nil); return err })
			v.Answer(v.Expect(mcp.MethodListTools), tools)
			f := v.Expect(mcp.MethodCallTool)
			if !strings.Contains(f.Raw, longest) {
				t.Errorf("called %.100s, want the tool's own name", f.Raw)
			}
			v.Answer(f, fmt.Sprintf(textResult, "ok"))
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if known := g.present()[0].aliases.Len(); known != 3 {
			t.Errorf("%d aliases are kept, want 3, for which there is room", known)
		}
	})
}
