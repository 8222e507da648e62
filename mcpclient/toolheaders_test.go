package mcpclient_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// overHTTP is a script that reports HTTP as its network, and stores the headers of the latest tools/call.
type overHTTP struct {
	*rigged
	header map[string]string
}

var web = transport.Network{Transport: "tcp", Protocol: "http", Address: "localhost", Port: 80}

func (overHTTP) Network() transport.Network { return web }

func newOverHTTP() *overHTTP {
	h := new(overHTTP)
	h.rigged = &rigged{network: web, send: func(m transport.Message) (error, bool) {
		if m.Method == mcp.MethodCallTool {
			h.header = m.Header
		}
		return nil, false
	}}
	return h
}

func mirrored(t *testing.T, o *mcpclient.Options, f func(t *testing.T, s *script, c *mcpclient.Client, h *overHTTP)) {
	t.Helper()
	h := newOverHTTP()
	bubbleWith(t, o, func(s *script) transport.Transport {
		h.Transport = s
		return h
	}, func(t *testing.T, s *script, c *mcpclient.Client) { f(t, s, c, h) })
}

const (
	regionTool = `{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string",` +
		`"x-mcp-header":"Region"},"rows":{"type":"integer"}}}}`
	rowsTool = `{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string",` +
		`"x-mcp-header":"Region"},"rows":{"type":"integer","x-mcp-header":"Rows"}}}}`
	brokenTool = `{"name":"broken","inputSchema":{"type":"object","properties":{"o":{"type":"object",` +
		`"x-mcp-header":"O"}}}}`
	plainTool = `{"name":"plain","inputSchema":{"type":"object"}}`
)

func listOf(tools string) string {
	return `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[` + tools + `]}`
}

func listedNames(c *mcpclient.Client, t *testing.T) (names []string) {
	t.Helper()
	for tool, err := range c.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

func TestArgumentsAreMirroredInHeadersPerListedSchema(t *testing.T) {
	mirrored(t, nil, func(t *testing.T, s *script, c *mcpclient.Client, h *overHTTP) {
		v := s.next(t).modern()
		await(t, c)
		listed := make(chan []string)
		go func() { listed <- listedNames(c, t) }()
		v.Answer(v.Expect(mcp.MethodListTools), listOf(regionTool+","+brokenTool+","+plainTool))
		if got := <-listed; fmt.Sprint(got) != "[query plain]" {
			t.Errorf("listed %v, want no tool that violates the rules", got)
		}
		for _, test := range []struct {
			tool      string
			arguments any
			want      map[string]string
		}{
			{"query", map[string]any{"region": "Zürich", "rows": 3}, map[string]string{"Mcp-Param-Region": "Zürich"}},
			{"query", json.RawMessage(`{"rows":3,"region":"us"}`), map[string]string{"Mcp-Param-Region": "us"}},
			{"query", map[string]any{"region": nil}, nil},
			{"query", nil, nil},
			{"plain", map[string]any{"region": "us"}, nil},
			{"unlisted", map[string]any{"region": "us"}, nil},
		} {
			done := background(func() error { _, err := c.CallTool(t.Context(), test.tool, test.arguments); return err })
			v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
			if err := <-done; err != nil || !maps.Equal(h.header, test.want) {
				t.Errorf("%s of %v: got headers %v, %v, want %v", test.tool, test.arguments, h.header, err, test.want)
			}
		}
	})
}

func TestChangedToolIsListedAgainAndCalledOnceMore(t *testing.T) {
	mirrored(t, nil, func(t *testing.T, s *script, c *mcpclient.Client, h *overHTTP) {
		v := s.next(t).modern()
		await(t, c)
		done := background(func() error {
			_, err := c.CallTool(t.Context(), "query", map[string]any{"region": "us", "rows": 3})
			return err
		})
		v.Refuse(v.Expect(mcp.MethodCallTool), mcp.CodeHeaderMismatch, "Mcp-Param-Rows is missing")
		v.Answer(v.Expect(mcp.MethodListTools), listOf(rowsTool))
		v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil || h.header["Mcp-Param-Rows"] != "3" {
			t.Errorf("got %v with headers %v, want the call repeated with Mcp-Param-Rows: 3", err, h.header)
		}
	})
}

func TestUnexplainedHeaderMismatchIsAnError(t *testing.T) {
	mirrored(t, nil, func(t *testing.T, s *script, c *mcpclient.Client, h *overHTTP) {
		v := s.next(t).modern()
		await(t, c)
		done := background(func() error { _, err := c.CallTool(t.Context(), "plain", map[string]any{"a": 1}); return err })
		v.Refuse(v.Expect(mcp.MethodCallTool), mcp.CodeHeaderMismatch, "Mcp-Name")
		v.Answer(v.Expect(mcp.MethodListTools), listOf(plainTool))
		if e, _ := errors.AsType[*mcp.Error](<-done); e == nil || e.Code != mcp.CodeHeaderMismatch {
			t.Errorf("got %v, want the server's error", e)
		}
	})
}

func TestLegacySessionsMirrorNoArguments(t *testing.T) {
	mirrored(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client, h *overHTTP) {
		v := s.next(t).initialize(mcp.Version20251125)
		await(t, c)
		listed := make(chan []string)
		go func() { listed <- listedNames(c, t) }()
		v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[`+regionTool+","+brokenTool+`]}`)
		if got := <-listed; len(got) != 2 {
			t.Errorf("listed %v, want both, because this revision has no such rules", got)
		}
		done := background(func() error {
			_, err := c.CallTool(t.Context(), "query",
				map[string]any{"region": "us"})
			return err
		})
		v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil || h.header != nil {
			t.Errorf("got %v with headers %v, want none", err, h.header)
		}
	})
}

func TestBusyToolCallIsRetried(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		f := v.Expect(mcp.MethodDiscover)
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no",`+
			`"data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}}`, f.ID))
		v.modern()
		await(t, c)
		if got := c.ProtocolVersion(); got != mcp.Version20260728 {
			t.Errorf("got version %q, want 2026-07-28", got)
		}
	})
}

func TestConcurrentCallsOfChangedToolAreBothRepeated(t *testing.T) {
	mirrored(t, nil, func(t *testing.T, s *script, c *mcpclient.Client, h *overHTTP) {
		v := s.next(t).modern()
		await(t, c)
		call := func() <-chan error {
			return background(func() error {
				_, err := c.CallTool(t.Context(), "query", map[string]any{"region": "us", "rows": 3})
				return err
			})
		}
		a := call()
		fa := v.Expect(mcp.MethodCallTool)
		b := call()
		fb := v.Expect(mcp.MethodCallTool)
		v.Refuse(fa, mcp.CodeHeaderMismatch, "missing")
		la := v.Expect(mcp.MethodListTools)
		v.Refuse(fb, mcp.CodeHeaderMismatch, "missing")
		lb := v.Expect(mcp.MethodListTools)
		v.Answer(la, listOf(rowsTool))
		synctest.Wait()
		v.Answer(lb, listOf(rowsTool))
		go func() {
			for range 2 {
				v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
			}
		}()
		if err := <-a; err != nil {
			t.Errorf("the first call: got %v, want it repeated", err)
		}
		if err := <-b; err != nil {
			t.Errorf("the second call: got %v, want it repeated", err)
		}
		v.Close()
	})
}

func TestToolIsListedAgainWithinTheTimeout(t *testing.T) {
	mirrored(t, nil, func(t *testing.T, s *script, c *mcpclient.Client, h *overHTTP) {
		v := s.next(t).modern()
		await(t, c)
		done := background(func() error {
			_, err := c.CallTool(t.Context(), "query", map[string]any{"region": "us"}, mcpclient.WithTimeout(time.Second))
			return err
		})
		took := elapsed(func() {
			v.Refuse(v.Expect(mcp.MethodCallTool), mcp.CodeHeaderMismatch, "missing")
			v.Expect(mcp.MethodListTools)
			<-done
		})
		if took > time.Second {
			t.Errorf("a call with a timeout of 1s took %v", took)
		}
	})
}

func TestTargetIsReportedForParamsOfAnyType(t *testing.T) {
	h := map[string]string{}
	bubbleWith(t, nil, func(s *script) transport.Transport {
		return &overHTTP{rigged: &rigged{Transport: s, send: func(m transport.Message) (error, bool) {
			h[m.Method] = m.Name
			return nil, false
		}}}
	}, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).modern()
		await(t, c)
		done := background(func() error {
			return c.Call(t.Context(), mcp.MethodReadResource, map[string]any{"uri": "file:///x"}, nil)
		})
		v.Answer(v.Expect(mcp.MethodReadResource), `{}`)
		<-done
		if h[mcp.MethodReadResource] != "file:///x" {
			t.Errorf("of a map: got the name %q, want file:///x", h[mcp.MethodReadResource])
		}
		done = background(func() error {
			return c.Call(t.Context(), mcp.MethodReadResource, mcp.ReadResourceParams{URI: "file:///x"}, nil)
		})
		v.Answer(v.Expect(mcp.MethodReadResource), `{}`)
		<-done
		if h[mcp.MethodReadResource] != "file:///x" {
			t.Errorf("of params by value: got the name %q, want file:///x", h[mcp.MethodReadResource])
		}
	})
}

func TestInvalidToolDoesNotHideOthers(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	o := &mcpclient.Options{Telemetry: rec.Telemetry()}
	ready(t, o, func(t *testing.T, _ *script, v *conversation, c *mcpclient.Client) {
		got := v.namesOf(c, toolA+`,{"name":"broken"},`+toolB)
		if !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("got the tools %q, want the two readable tools", got)
		}
		synctest.Wait()
		left := rec.Logs(names.EventMCPClientToolRejected)
		if len(left) != 1 || left[0].Attrs[names.KeyGenAIToolName].String() != "broken" {
			t.Errorf("got the records %v, want one about the third tool", left)
		}
	})
}
