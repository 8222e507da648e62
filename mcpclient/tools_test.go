package mcpclient_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

func TestToolsYieldsAllPages(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		var names []string
		done := background(func() error {
			for tool, err := range c.Tools(t.Context()) {
				if err != nil {
					return err
				}
				names = append(names, tool.Name)
			}
			return nil
		})
		for page, next := range []string{`,"nextCursor":"2"`, `,"nextCursor":"3"`, ``} {
			f := v.Expect(mcp.MethodListTools)
			if want := fmt.Sprintf(`"cursor":"%d"`, page+1); page > 0 && !strings.Contains(f.Raw, want) {
				t.Errorf("want %s in the request for page %d, got %s", want, page+1, f.Raw)
			}
			v.Answer(f, fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}],"ttlMs":0,`+
				`"cacheScope":"private"%s}`, page+1, next))
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if want := []string{"t1", "t2", "t3"}; !slices.Equal(names, want) {
			t.Errorf("want %v, got %v", want, names)
		}
	})
}

func TestARepeatedCursorEndsTheList(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error {
			for _, err := range c.Tools(t.Context()) {
				if err != nil {
					return err
				}
			}
			return nil
		})
		for range 2 {
			v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[],"nextCursor":"again"}`)
		}
		if err := <-done; err == nil || !strings.Contains(err.Error(), `the cursor "again" twice`) {
			t.Errorf("want an error about the repeated cursor, got %v", err)
		}
	})
}

func TestStructuredOutputIsCheckedAgainstTheListedSchema(t *testing.T) {
	type out struct {
		Celsius int `json:"celsius"`
	}
	const list = `{"tools":[{"name":"weather","inputSchema":{"type":"object"},"outputSchema":{"type":"object",` +
		`"properties":{"celsius":{"type":"integer","maximum":60}},"required":["celsius"]}},{"name":"bare",` +
		`"inputSchema":{"type":"object"}}]}`
	for name, tc := range map[string]struct {
		tool, result, wantErr string
		want                  int
	}{
		"valid":                 {"weather", `{"content":[],"structuredContent":{"celsius":21}}`, "", 21},
		"invalid by the schema": {"weather", `{"content":[],"structuredContent":{"celsius":99}}`, "celsius", 0},
		"missing":               {"weather", `{"content":[{"type":"text","text":"21"}]}`, "no structured content", 0},
		"no schema":             {"bare", `{"content":[],"structuredContent":{"celsius":99}}`, "", 99},
		"not listed":            {"hidden", `{"content":[],"structuredContent":{"celsius":7}}`, "", 7},
		"another type than Out": {"bare", `{"content":[],"structuredContent":{"celsius":"warm"}}`, "celsius", 0},
	} {
		t.Run(name, func(t *testing.T) {
			ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				var got out
				call := func() error {
					var err error
					got, err = mcpclient.CallToolAs[out](t.Context(), c, tc.tool, nil)
					return err
				}
				done := background(call)
				v.Answer(v.Expect(mcp.MethodListTools), list)
				v.Answer(v.Expect(mcp.MethodCallTool), tc.result)
				err := <-done
				if tc.wantErr == "" && (err != nil || got.Celsius != tc.want) {
					t.Errorf("want %d, got %d, %v", tc.want, got.Celsius, err)
				}
				if tc.wantErr != "" {
					if e, ok := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != mcpclient.KindProtocol ||
						!strings.Contains(err.Error(), tc.wantErr) {
						t.Errorf("want an error of kind protocol about %q, got %v", tc.wantErr, err)
					}
				}
				if name == "valid" { // the client stores the list until it changes
					done = background(call)
					v.Answer(v.Expect(mcp.MethodCallTool), tc.result)
					if err := <-done; err != nil {
						t.Errorf("want no list before the second call, got %v", err)
					}
					v.Send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + opened(c) + `}}`)
					synctest.Wait()
					done = background(call)
					v.Answer(v.Expect(mcp.MethodListTools), list)
					v.Answer(v.Expect(mcp.MethodCallTool), tc.result)
					if err := <-done; err != nil {
						t.Errorf("want a new list before the third call, got %v", err)
					}
				}
			})
		})
	}
}

func TestUndeclaredCapabilityFailsLocally(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), strings.Replace(discovered, `{"tools":{}}`, `{}`, 1))
		await(t, c)
		_, err := c.CallTool(t.Context(), "echo", nil)
		if !errors.Is(err, mcpclient.ErrUnsupported) || !mcpclient.SafeToRetry(err) {
			t.Errorf("want %v without sending anything, got %v", mcpclient.ErrUnsupported, err)
		}
	})
}
