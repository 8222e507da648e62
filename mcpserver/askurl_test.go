package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// TestURLElicitationIsRequired serves clients with and without support for URLs.
func TestURLElicitationIsRequired(t *testing.T) {
	signedIn := false
	handler := func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		if !signedIn {
			return nil, mcpserver.URLElicitationRequired("sign in first",
				&mcp.ElicitParams{Message: "sign in", URL: "https://example.com/in", ElicitationID: "e1"})
		}
		return toldBy("in")
	}
	legacy := func(t *testing.T, version string) (*mcpserver.Server, *wire) {
		s := withTool(t, mcpserver.Options{}, "tool", handler)
		w := openedAble(t, s, version)
		w.send(callOf(1, "tool", "{}"))
		return s, w
	}
	t.Run("2025-11-25", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, w := legacy(t, "2025-11-25")
			w.expect(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"sign in first","data":{"elicitations":[`+
				`{"mode":"url","message":"sign in","url":"https://example.com/in","elicitationId":"e1"}]}}}`)
			other := openedAble(t, s, "2025-11-25")
			for _, id := range []string{"e2", "e1", "e1"} {
				s.ElicitationComplete(id)
			}
			synctest.Wait()
			w.expect(t, `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}`)
			other.expect(t)
			for _, w := range []*wire{w, other} {
				if err := w.finish(); err != nil {
					t.Fatal(err)
				}
			}
			s.ElicitationComplete("e1")
		})
	})
	t.Run("2025-06-18", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, w := legacy(t, "2025-06-18")
			if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInternalError ||
				strings.Contains(m.Error.Message, "example.com") {
				t.Errorf("the answer is %v, want -32603", m.Error)
			}
			if err := w.finish(); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("2026-07-28", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := callerOf(t, withTool(t, mcpserver.Options{}, "tool", handler), "tool")
			r := c.needs("")
			var key string
			for k, asked := range r.InputRequests {
				key = k
				if string(asked.Params) != `{"mode":"url","message":"sign in","url":"https://example.com/in"}` {
					t.Errorf("the client is asked %s", asked.Params)
				}
			}
			accept := fmt.Sprintf(`{%q:{"action":"accept"}}`, key)
			r = c.needs(with(accept, r.RequestState)) // the user has agreed but has not completed the visit
			if m := c.call(with(fmt.Sprintf(`{%q:{"action":"decline"}}`, key), r.RequestState)); m.Error == nil ||
				!strings.Contains(m.Error.Message, "the user did not agree to open the URL") {
				t.Errorf("the answer is %s, %v, want an error", m.Result, m.Error)
			}
			signedIn = true
			c.tells(with(accept, r.RequestState), "in")
			c.finish()
		})
	})
	for name, err := range map[string]error{
		"none": mcpserver.URLElicitationRequired("m"), "nil": mcpserver.URLElicitationRequired("m", nil),
		"relative": mcpserver.URLElicitationRequired("m", &mcp.ElicitParams{URL: "/in"}),
	} {
		if _, ok := errors.AsType[*mcp.Error](err); err == nil || ok {
			t.Errorf("%s: got %v, want an error that is not for the client", name, err)
		}
	}
}

func TestURLElicitationCompletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{}, "tool",
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				r, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
					&mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "m", URL: "https://example.com/x"})
				if err != nil {
					return nil, err
				}
				return toldBy("%s", r.Action)
			})
		w := openedAble(t, s, "2025-11-25")
		w.send(callOf(1, "tool", "{}"))
		var p mcp.ElicitParams
		if err := json.Unmarshal(paramsIn(t, w.taken()[0]), &p); err != nil || len(p.ElicitationID) < 26 {
			t.Errorf("the client got %+v (%v), want an id that cannot be guessed", p, err)
		}
		w.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)
		w.expect(t, fmt.Sprintf(rootsAnswer, 1, "accept"))
		s.ElicitationComplete(p.ElicitationID)
		synctest.Wait()
		if m := w.reply(t); m.Method != mcp.NotificationElicitationComplete {
			t.Errorf("the server sent %+v, want that the elicitation is complete", m)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}
