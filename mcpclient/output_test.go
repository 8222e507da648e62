package mcpclient_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

const (
	toolList   = `{"tools":[{"name":"tool","inputSchema":{"type":"object"},"outputSchema":%s}]}`
	structured = `{"content":[],"structuredContent":{"code":"abc"}}`
)

func TestUnusableOutputSchemaIsLoggedOrRejected(t *testing.T) {
	for name, tc := range map[string]struct {
		schema, wantErr string
		logged          int
	}{
		"a JavaScript pattern": {`{"type":"object","properties":{"code":{"type":"string","pattern":"^(?!x)"}}}`, "", 1},
		"an invalid schema":    {`{"type":"object","properties":7}`, "output of tool tool", 0},
	} {
		t.Run(name, func(t *testing.T) {
			observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
				rec *telemetrytest.Recording) {
				v := s.next(t).modern()
				await(t, c)
				done := background(func() error {
					_, err := mcpclient.CallToolAs[map[string]string](t.Context(), c, "tool",
						nil)
					return err
				})
				v.Answer(v.Expect(mcp.MethodListTools), fmt.Sprintf(toolList, tc.schema))
				if tc.wantErr == "" { // otherwise the tool does not run
					v.Answer(v.Expect(mcp.MethodCallTool), structured)
				}
				err := <-done
				switch e, _ := errors.AsType[*mcpclient.Error](err); {
				case tc.wantErr == "" && err != nil:
					t.Errorf("want the output unchecked, got %v", err)
				case tc.wantErr != "" &&
					(e == nil || e.Kind != mcpclient.KindProtocol || !mcpclient.SafeToRetry(err) ||
						!strings.Contains(err.Error(), tc.wantErr)):
					t.Errorf("want an error of kind protocol with %q, got %v", tc.wantErr, err)
				}
				if n := len(rec.Logs("mcp_client.tool.output_unchecked")); n != tc.logged {
					t.Errorf("want %d records of unchecked output, got %d", tc.logged, n)
				}
			})
		})
	}
}

func TestFailedToolListPreventsTypedCall(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		call := func() error { _, err := mcpclient.CallToolAs[struct{}](t.Context(), c, "tool", nil); return err }
		done := background(call)
		v.Refuse(v.Expect(mcp.MethodListTools), mcp.CodeInternalError, "out of order")
		if server, ok := errors.AsType[*mcp.Error](<-done); !ok || server.Message != "out of order" {
			t.Errorf("want the error of the list, got %v", server)
		}
		done = background(call)
		v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[]}`)
		v.Refuse(v.Expect(mcp.MethodCallTool), mcp.CodeInvalidParams, "no such tool")
		if server, ok := errors.AsType[*mcp.Error](<-done); !ok || server.Message != "no such tool" {
			t.Errorf("want the error of the call, got %v", server)
		}
	})
}

// The client requests the list for the call, so the list waits as the call does.
func TestTypedCallWaitsForReady(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		call := func(options ...mcpclient.CallOption) <-chan error {
			return background(func() error {
				_, err := mcpclient.CallToolAs[map[string]string](t.Context(), c, "tool", nil, options...)
				return err
			})
		}
		if err := <-call(); !errors.Is(err, mcpclient.ErrNotReady) || !mcpclient.SafeToRetry(err) {
			t.Errorf("want ErrNotReady, got %v", err)
		}
		if err := <-call(mcpclient.WaitForReady(), mcpclient.WithTimeout(time.Second)); !errors.Is(err,
			mcpclient.ErrTimeout) {
			t.Errorf("want a timeout, got %v", err)
		}
		done := call(mcpclient.WaitForReady())
		v := s.next(t).modern()
		v.Answer(v.Expect(mcp.MethodListTools), fmt.Sprintf(toolList, `{"type":"object"}`))
		v.Answer(v.Expect(mcp.MethodCallTool), structured)
		if err := <-done; err != nil {
			t.Errorf("want the output, got %v", err)
		}
	})
}

// A list that was requested before the tools changed may not describe the present tools.
func TestOutdatedToolListIsNotRemembered(t *testing.T) {
	const strict, open = `{"type":"object","required":["missing"]}`, `{"type":"object"}`
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		listed := background(func() error { _, err := c.ListTools(t.Context(), nil); return err })
		list := v.Expect(mcp.MethodListTools)
		v.Send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + opened(c) + `}}`)
		v.Answer(list, fmt.Sprintf(toolList, strict))
		if err := <-listed; err != nil {
			t.Fatal(err)
		}
		done := background(func() error {
			_, err := mcpclient.CallToolAs[map[string]string](t.Context(), c, "tool", nil)
			return err
		})
		v.Answer(v.Expect(mcp.MethodListTools), fmt.Sprintf(toolList, open))
		v.Answer(v.Expect(mcp.MethodCallTool), structured)
		if err := <-done; err != nil {
			t.Errorf("want the output checked against the new list, got %v", err)
		}
	})
}

func TestToolsFetchesPagesOnDemand(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error {
			for range c.Tools(t.Context()) {
				break
			}
			return c.Call(t.Context(), "next", nil, nil)
		})
		v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b",`+
			`"inputSchema":{"type":"object"}}],"nextCursor":"2"}`)
		v.Answer(v.Expect("next"), `{}`) // the client does not request the second page before this
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
