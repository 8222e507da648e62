package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// sessions keeps the latest session, and the sessions that watch resources.
type sessions struct {
	*everything
	latest  *mcpserver.Session
	watched []*mcpserver.Session
}

func (s *sessions) Init(_ context.Context, opened *mcpserver.Session) error {
	s.latest = opened
	return nil
}

func (s *sessions) SubscribeResource(ctx context.Context, _ string) error {
	s.watched = append(s.watched, mcpserver.SessionFrom(ctx))
	return nil
}

func (s *sessions) UnsubscribeResource(ctx context.Context, _ string) error {
	s.watched = append(s.watched, mcpserver.SessionFrom(ctx))
	return nil
}

func TestSessionNotifiesOnlyItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &sessions{everything: newEverything()}
		s := implementing(t, nil, h)
		other := opened(t, t.Context(), s)
		w := opened(t, t.Context(), s)
		told := h.latest
		for _, one := range []*wire{other, w} {
			one.send(requestOf(1, "resources/subscribe", `{"uri":"file:///a"}`), setLevel("warning"))
			one.taken()
		}
		if got := told.LogLevel(); got != mcp.LevelWarning {
			t.Errorf("the log level of the session is %q, want the one that the client has set", got)
		}
		told.ToolsChanged()
		told.PromptsChanged()
		told.ResourcesChanged()
		told.ResourceUpdated("file:///a")
		told.ResourceUpdated("file:///b")
		must(t, told.Log(mcp.LevelWarning, "l", 1))
		must(t, told.Log(mcp.LevelInfo, "l", 1))
		if err := told.Log("loud", "l", 1); err == nil {
			t.Error("a level that there is not got no error")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		var methods []string
		for _, f := range w.taken() {
			methods = append(methods, decoded(t, f).Method)
		}
		slices.Sort(methods)
		want := []string{mcp.NotificationMessage, mcp.NotificationPromptListChanged, mcp.NotificationResourceListChanged,
			mcp.NotificationResourceUpdated, mcp.NotificationToolListChanged}
		if !slices.Equal(methods, want) {
			t.Errorf("the client is told %q, want %q", methods, want)
		}
		if got := other.taken(); len(got) > 0 {
			t.Errorf("another client is told %q", got)
		}
		for _, one := range []*wire{other, w} {
			must(t, one.finish())
		}
		if len(h.watched) != 4 || h.watched[1] != told || h.watched[3] != told || h.watched[0] != h.watched[2] {
			t.Errorf("the sessions that watch and leave are %v, want each twice", h.watched)
		}
		var none *mcpserver.Session
		none.ToolsChanged()
		must(t, none.Log(mcp.LevelError, "", 1))
		if none.LogLevel() != "" || mcpserver.SessionFrom(t.Context()) != nil {
			t.Error("no session has a level, or there is one without a request")
		}
	})
}

// Middleware that answers requests itself may require input from clients of both eras.
func TestMiddlewareRequiresInputInBothEras(t *testing.T) {
	asks := func(mcpserver.RequestHandler) mcpserver.RequestHandler {
		return func(_ context.Context, r *mcpserver.Request) (any, error) {
			if r.Method != "tools/call" {
				return nil, &mcp.Error{Code: 1, Message: "other"}
			}
			if given := r.InputResponses(); given != nil {
				return json.RawMessage(`{"content":[],"said":` + string(given["k"]) + `,"state":"` + r.RequestState() + `"}`), nil
			}
			return nil, r.RequireInput(mcp.InputRequests{"k": {Method: mcp.MethodListRoots}}, "s")
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := implementing(t, &mcpserver.Options{
			Middleware: []func(mcpserver.RequestHandler) mcpserver.RequestHandler{
				func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
					own := asks(next)
					return func(ctx context.Context, r *mcpserver.Request) (any, error) {
						if r.Method == "tools/call" {
							return own(ctx, r)
						}
						return next(ctx, r)
					}
				},
			},
		}, toolbox{})
		w := serve(t, t.Context(), s)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":`+
			`{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		w.taken()
		w.send(requestOf(2, "tools/call", `{"name":"one"}`))
		asked := w.reply(t)
		if asked.Method != mcp.MethodListRoots {
			t.Fatalf("the client gets %+v, want a question", asked)
		}
		w.send(`{"jsonrpc":"2.0","id":` + fmt.Sprint(asked.ID) + `,"result":{"roots":[]}}`)
		if m := w.reply(t); !strings.Contains(string(m.Result), `"said":{"roots":[]},"state":"s"`) {
			t.Errorf("the result is %s, want what the client has said, and the state", m.Result)
		}
		must(t, w.finish())
	})
}
