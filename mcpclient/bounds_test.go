package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/groupname"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// wantBound fails the test unless err is a short error of kind protocol that names the limit.
func wantBound(t *testing.T, err error, limit string) {
	t.Helper()
	e, _ := errors.AsType[*mcpclient.Error](err)
	if e == nil || e.Kind != mcpclient.KindProtocol || !strings.Contains(err.Error(), limit) || len(err.Error()) > 500 {
		t.Errorf("got %.600v, want a short error of kind protocol with %q", err, limit)
	}
}

// rooted returns options of a client that answers roots/list any number of times.
func rooted(more ...mcpclient.Feature) *mcpclient.Options {
	return &mcpclient.Options{Features: append(more, mcpclient.HandleRequest(mcp.MethodListRoots,
		func(context.Context, *mcpclient.Request) (any, error) {
			return &mcp.ListRootsResult{Roots: []*mcp.Root{}}, nil
		}))}
}

// inputs returns n requests for input. Their keys begin with prefix.
func inputs(n int, prefix, params string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"%s%d":{"method":"roots/list","params":{"x":%q}}`, prefix, i, params)
	}
	return "{" + strings.Join(all, ",") + "}"
}

func TestInputRequestsInOneAnswerAreBounded(t *testing.T) {
	for _, test := range []struct{ name, requests, limit string }{
		{"requests", inputs(65, "k", ""), "more than 64 inputs"},
		{"keys", inputs(1, strings.Repeat("k", 1024), ""), "key of more than 1024 bytes"},
		{"bytes", inputs(20, "k", strings.Repeat("x", mebi)), "exceed 16777216 bytes"},
		{"as many as may be", inputs(64, "k", ""), ""},
	} {
		t.Run("a call: "+test.name, func(t *testing.T) {
			o := rooted()
			o.Limits.Frame = 32 * mebi
			ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
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
			o := rooted(mcpclient.UseTasks(nil))
			o.Limits.Frame = 32 * mebi
			bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
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
	tasked(t, nil, *rooted(), func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		const each, bound = 64, 10_000
		a := callInBackground(t.Context(), c)
		v.begin(mcp.TaskWorking, everySecond)
		answered := 0
		for {
			requests := inputs(each, fmt.Sprint(answered, "-"), "")
			v.Answer(v.about(mcp.MethodGetTask),
				taskState("complete", mcp.TaskInputRequired, everySecond+`,"inputRequests":`+requests))
			f := v.Receive()
			v.Answer(f, `{"resultType":"complete"}`)
			if f.Method == mcp.MethodCancelTask {
				break
			}
			if answered += each; answered > bound+each {
				t.Fatalf("the task requested %d inputs and continues", answered)
			}
		}
		if wantBound(t, <-a.done, "more than 10000 inputs"); answered < bound {
			t.Errorf("the task was cancelled after %d inputs, want %d at least", answered, bound)
		}
	})
}

func TestElicitationURLsPerErrorAreBounded(t *testing.T) {
	visit := func(n int, message string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"mode":"url","message":%q,"url":"https://a.example/","elicitationId":"%d"}`, message, i)
		}
		return `{"elicitations":[` + strings.Join(all, ",") + `]}`
	}
	for _, test := range []struct{ name, data, limit string }{
		{"visits", visit(65, ""), "the limit of 64 URLs"},
		{"bytes", visit(1, strings.Repeat("x", mebi)), "the limit of 1048576 bytes"},
		{"nothing, many times", `{"elicitations":[` + strings.Repeat("{},", 400_000) + `{}]}`, "the limit of 1048576 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := 0
			visit := func(context.Context, *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
				asked++
				return mcp.ElicitAccept, nil
			}
			o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleURLElicitation(visit, nil)}}
			at20251125(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
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

func TestServerIntroductionIsBounded(t *testing.T) {
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
			o := &mcpclient.Options{}
			if test.method == mcp.MethodInitialize {
				o.Versions = []mcp.Version{test.version}
			}
			bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				v.Answer(v.Expect(test.method), test.result)
				synctest.Wait()
				if err := c.Status().Err; err == nil || !strings.Contains(err.Error(), "the limit is 65536") ||
					len(err.Error()) > 200 {
					t.Errorf("got %.300v, want an error that names the limit", err)
				}
			})
		})
	}
}

// The client checks the output even if there is no room to store the tool's schema: it lists the tools again.
func TestToolsAreListedAgainIfSchemaCacheIsFull(t *testing.T) {
	filler := func(n int) (tools string) {
		for i := range n {
			tools += schemaTool(i) + ","
		}
		return tools
	}
	strict := `{"name":"tool","inputSchema":{"type":"object","properties":{"region":{"type":"string",` +
		`"x-mcp-header":"Region"}}},` +
		`"outputSchema":{"type":"object","required":["missing"],"title":"` + pad[:16<<10] + `"}}`
	tools := listOf(filler(schemaRoom/padding) + strict)
	rec := telemetrytest.Recorder(t)
	mirrored(t, &mcpclient.Options{Telemetry: rec.Telemetry()}, func(t *testing.T, s *script, c *mcpclient.Client,
		h *overHTTP) {
		v := s.next(t).modern()
		await(t, c)
		for range 2 {
			done := background(func() error {
				_, err := mcpclient.CallToolAs[map[string]string](t.Context(), c, "tool", map[string]any{"region": "eu"})
				return err
			})
			v.Answer(v.Expect(mcp.MethodListTools), tools)
			call := v.Expect(mcp.MethodCallTool)
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
			if v.stranger(c, rec, "tool") || !v.stranger(c, rec, "another") {
				t.Error("want only the tool's name to be known")
			}
		}
	})
}

func TestRemovedToolIsForgotten(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	o := &mcpclient.Options{Telemetry: rec.Telemetry()}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		v.list(c, listTools(t, c), plainTool)
		v.list(c, listTools(t, c), regionTool)
		if !v.stranger(c, rec, "plain") || v.stranger(c, rec, "query") {
			t.Error("want the tool of the first list forgotten and the tool of the second list known")
		}
	})
}

// inGroup returns the name that a group gives to a tool of its member m.
func inGroup(tool string) string {
	naming, err := groupname.New("_", 128)
	if err != nil {
		panic(err)
	}
	return naming.Name("m_", tool)
}

// If there is no room to store an alias, the client lists the tools each time.
func TestGroupAliasesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		g, err := mcpclient.NewGroup([]mcpclient.Member{{Name: "m", Transport: s, Options: checked(t, nil)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = g.Close() }()
		v := s.next(t).modern()
		c, _ := g.Client("m")
		await(t, c)
		var tools []string
		for i := range 8 {
			tools = append(tools, fmt.Sprint(i, pad[:mebi/4]))
		}
		list := listOf(`{"name":"` + strings.Join(tools, `","inputSchema":{"type":"object"}},{"name":"`) +
			`","inputSchema":{"type":"object"}}`)
		known := 0 // number of tools that were called without listing the tools
		for _, tool := range append([]string{tools[7], tools[7]}, tools...) {
			done := background(func() error { _, err := g.CallTool(t.Context(), inGroup(tool), nil); return err })
			f := v.Receive()
			if f.Method == mcp.MethodListTools {
				v.Answer(f, list)
				f = v.Expect(mcp.MethodCallTool)
			} else {
				known++
			}
			if !strings.Contains(f.Raw, tool) {
				t.Errorf("called %.100s, want the tool's own name", f.Raw)
			}
			v.Answer(f, fmt.Sprintf(textResult, "ok"))
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if known != 3 {
			t.Errorf("the client stores %d aliases, want 3", known)
		}
	})
}
