package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// TestHandlerManagesItsOwnRequestState serves clients of both eras with a handler that passes its requests to
// RequireInput.
func TestHandlerManagesItsOwnRequestState(t *testing.T) {
	for _, w := range everyWay(mcp.Version20250618) {
		t.Run(w.String(), func(t *testing.T) {
			var log []string
			s := withTool(t, mcpserver.Options{}, "tool",
				func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					log = append(log, fmt.Sprint(r.RequestState(), len(r.InputResponses())))
					switch r.RequestState() {
					case "":
						return nil, r.RequireInput(mcp.InputRequests{
							"who": {Method: mcp.MethodElicit,
								Params: json.RawMessage(`{"message":"who?","requestedSchema":` + string(nameForm) + `}`)},
							"where": {Method: mcp.MethodListRoots},
						}, "named")
					case "named":
						var who mcp.ElicitResult
						if err := json.Unmarshal(r.InputResponses()["who"], &who); err != nil {
							return nil, err
						}
						return nil, r.RequireInput(nil, "wait for "+fmt.Sprint(who.Content["name"]))
					}
					if _, err := r.ListRoots(ctx); err != nil { // a handler may use both RequireInput and ListRoots
						return nil, err
					}
					return toldBy("%s", r.RequestState())
				})
			c := connect(t, s, w, able(answers("Ada")...))
			got := callText(t, c, "tool")
			want, logged := "wait for Ada", "[0 named2 wait for Ada0]"
			if w.version.Era() == mcp.Modern {
				logged = "[0 named2 wait for Ada0 wait for Ada1]" // asking for the roots is a separate round
			}
			if got != want || fmt.Sprint(log) != logged {
				t.Errorf("the tool answered %q after %q, want %q after %q", got, log, want, logged)
			}
		})
	}
}

func TestRequireInputReportsInvalidRequests(t *testing.T) {
	for name, requests := range map[string]mcp.InputRequests{
		"nothing":        nil,
		"unknown method": {"a": {Method: "ping"}},
		"no key":         {"": {Method: mcp.MethodListRoots}},
		"no params":      {"a": {Method: mcp.MethodElicit, Params: json.RawMessage(`[]`)}},
	} {
		if err := (*mcpserver.RequestInfo)(nil).RequireInput(requests, ""); err == nil ||
			errors.Is(err, mcpserver.ErrInputRequired) {
			t.Errorf("%s: got %v, want another error", name, err)
		}
	}
	if err := (*mcpserver.RequestInfo)(nil).RequireInput(nil, "x"); !errors.Is(err, mcpserver.ErrInputRequired) {
		t.Errorf("got %v, want %v", err, mcpserver.ErrInputRequired)
	}
}

func TestEndlessInputRoundsAreStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		w := openedAble(t, withTool(t, mcpserver.Options{}, "tool",
			func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				runs++
				return nil, r.RequireInput(nil, "x")
			}), "2025-11-25")
		w.send(callOf(1, "tool", "{}"))
		time.Sleep(time.Hour)
		if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInternalError || runs != 11 {
			t.Errorf("after %d runs the answer is %s, %v, want -32603 after 11", runs, m.Result, m.Error)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}
