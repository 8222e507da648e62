package mcpotel_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// heard returns a case for a notification handler. The handler must also receive the second notification.
func heard(name string, callbacks []string, feature func(w *world) mcpclient.Feature,
	send func(w *world) error) failing {
	return failing{name: name, callbacks: callbacks, legacy: true,
		set: func(w *world) {
			speaks(w)
			w.co.Features = append(w.co.Features, feature(w))
		},
		do: func(w *world) error { return again(w, send) },
	}
}

// added is like heard, for a handler that is added to a connected client.
func added(name string, callbacks []string, add func(w *world) (remove func()), send func(w *world) error) failing {
	once := false
	return failing{name: name, callbacks: callbacks, legacy: true,
		set: func(w *world) { speaks(w); once = false },
		do: func(w *world) error {
			if !once {
				add(w)
				once = true
			}
			return again(w, send)
		},
	}
}

// again sends a notification and waits until the handler was called.
func again(w *world, send func(w *world) error) error {
	if err := w.client.WaitForReady(w.ctx()); err != nil {
		return err
	}
	time.Sleep(time.Second) // until the server has learned that the client is ready
	before := w.struck.Load()
	if err := send(w); err != nil {
		return err
	}
	time.Sleep(time.Second)
	if w.struck.Load() == before {
		return errOops
	}
	return nil
}

// speaks adds the tool, prompt and resource that the notifications need.
func speaks(w *world) {
	_ = mcpserver.AddTool(w.server, &mcp.Tool{Name: "report"}, func(ctx context.Context, _ struct{}) (struct{}, error) {
		return struct{}{}, mcpserver.RequestFrom(ctx).Progress(ctx, 1, 2, "half")
	})
	_ = w.server.AddPrompt(&mcp.Prompt{Name: "p"},
		func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) { return nil, nil })
	_ = w.server.AddResource(&mcp.Resource{Name: "r", URI: "file:///r"},
		func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return nil, nil
		})
}

func toolsChanged(w *world) error     { w.server.ToolsChanged(); return nil }
func promptsChanged(w *world) error   { w.server.PromptsChanged(); return nil }
func resourcesChanged(w *world) error { w.server.ResourcesChanged(); return nil }

func updated(w *world) error {
	if err := w.client.SubscribeResource(w.ctx(), "file:///r"); err != nil {
		return err
	}
	w.server.ResourceUpdated("file:///r")
	return nil
}

func logged(w *world) error { return w.server.Log(mcp.LevelError, "logger", "text") }

func reported(w *world) error {
	_, err := w.client.CallTool(w.ctx(), "report", struct{}{}, mcpclient.WithProgress(func(*mcp.ProgressParams) {}))
	return err
}

// striking is a failing log handler.
type striking struct{ w *world }

func (h striking) Enabled(context.Context, slog.Level) bool  { return true }
func (h striking) Handle(context.Context, slog.Record) error { h.w.strike(); return nil }
func (h striking) WithAttrs([]slog.Attr) slog.Handler        { return h }
func (h striking) WithGroup(string) slog.Handler             { return h }

// asked returns cases for a handler of the server's requests during a tool call, one for each era.
func asked(name string, callbacks []string, feature func(w *world) mcpclient.Feature,
	ask func(ctx context.Context) error) []failing {
	both := make([]failing, 2)
	for i, legacy := range []bool{true, false} {
		both[i] = failing{name: name + " of a modern server", legacy: legacy, callbacks: callbacks, ends: exits,
			set: func(w *world) {
				w.co.Features = append(w.co.Features, feature(w))
				_ = mcpserver.AddTool(w.server, &mcp.Tool{Name: "ask"}, func(ctx context.Context, _ struct{}) (struct{}, error) {
					return struct{}{}, ask(ctx)
				})
			},
			do: func(w *world) error {
				r, err := w.client.CallTool(w.ctx(), "ask", struct{}{}, mcpclient.WaitForReady())
				if err == nil && r.IsError {
					err = errOops
				}
				return err
			},
		}
	}
	both[0].name, both[0].ends = name+" of a legacy server", fails
	return both
}

func elicit(ctx context.Context) error {
	_, err := mcpserver.RequestFrom(ctx).Elicit(ctx, &mcp.ElicitParams{Message: "m",
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
	return err
}

func visit(ctx context.Context) error {
	_, err := mcpserver.RequestFrom(ctx).Elicit(ctx, &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "m", URL: "https://example.com",
		ElicitationID: "1"})
	return err
}

func sample(ctx context.Context) error {
	_, err := mcpserver.RequestFrom(ctx).CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{
		{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text("hi")}},
	}})
	return err
}

func roots(ctx context.Context) error {
	_, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
	return err
}

// own returns a case for code that runs in the user's goroutine.
func own(name string, callbacks []string, set func(w *world), do func(w *world) error) failing {
	return failing{name: name, callbacks: callbacks, ends: likewise, set: func(w *world) {
		speaks(w)
		if set != nil {
			set(w)
		}
	}, do: func(w *world) error {
		if err := w.client.WaitForReady(w.ctx()); err != nil {
			return err
		}
		return do(w)
	}}
}

// brittle is a value whose encoder and decoder fail.
type brittle struct{ w *world }

func (b brittle) MarshalJSON() ([]byte, error)  { b.w.strike(); return []byte(`{}`), nil }
func (b *brittle) UnmarshalJSON(_ []byte) error { b.w.strike(); return nil }

var clientCases = func() []failing {
	cases := []failing{
		heard("notification handler", []string{"mcpclient.HandleNotification h"}, func(w *world) mcpclient.Feature {
			return mcpclient.HandleNotification("", func(context.Context, *mcpclient.Notification) { w.strike() })
		}, toolsChanged),
		heard("handler of tools", []string{"mcpclient.HandleToolListChanged h"}, func(w *world) mcpclient.Feature {
			return mcpclient.HandleToolListChanged(func(context.Context) { w.strike() })
		}, toolsChanged),
		heard("handler of prompts", []string{"mcpclient.HandlePromptListChanged h"}, func(w *world) mcpclient.Feature {
			return mcpclient.HandlePromptListChanged(func(context.Context) { w.strike() })
		}, promptsChanged),
		heard("handler of resources", []string{"mcpclient.HandleResourceListChanged h"}, func(w *world) mcpclient.Feature {
			return mcpclient.HandleResourceListChanged(func(context.Context) { w.strike() })
		}, resourcesChanged),
		heard("handler of updates", []string{"mcpclient.HandleResourceUpdated h"}, func(w *world) mcpclient.Feature {
			return mcpclient.HandleResourceUpdated(func(context.Context, string) { w.strike() })
		}, updated),
		heard("handler of log messages", []string{"mcpclient.HandleLogMessage h"}, func(w *world) mcpclient.Feature {
			return mcpclient.HandleLogMessage(func(context.Context, *mcp.LoggingMessageParams) { w.strike() })
		}, logged),
		heard("logger of log messages", []string{"mcpclient.LogMessagesTo l"}, func(w *world) mcpclient.Feature {
			return mcpclient.LogMessagesTo(slog.New(striking{w}))
		}, logged),
		heard("handler of progress", []string{"mcpclient.HandleProgress h"}, func(w *world) mcpclient.Feature {
			return mcpclient.HandleProgress(func(context.Context, *mcp.ProgressParams) { w.strike() })
		}, reported),
		added("added notification handler", nil, func(w *world) func() {
			return w.client.Handle(mcpclient.HandleNotification("", func(context.Context, *mcpclient.Notification) { w.strike() }))
		}, toolsChanged),

		{name: "transitions", callbacks: []string{"mcpclient.Options.OnTransition"}, set: func(w *world) {
			w.co.OnTransition = func(connstate.Transition) { w.strike() }
		}},
		own("middleware", []string{"mcpclient.Options.Middleware"}, func(w *world) {
			w.co.Middleware = []mcpclient.Middleware{func(next mcpclient.CallFunc) mcpclient.CallFunc {
				return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
					err := next(ctx, method, params, result, options...)
					w.strike()
					return err
				}
			}}
		}, func(w *world) error { return w.client.Ping(w.ctx()) }),
		own("progress", []string{"mcpclient.WithProgress f"}, nil, func(w *world) error {
			_, err := w.client.CallTool(w.ctx(), "report", struct{}{},
				mcpclient.WithProgress(func(*mcp.ProgressParams) { w.strike() }))
			return err
		}),
		own("a loop over progress", []string{"mcpclient.FollowProgress yield"}, nil, func(w *world) error {
			for _, err := range mcpclient.FollowProgress(w.ctx(), func(ctx context.Context, follow mcpclient.CallOption) error {
				_, err := w.client.CallTool(ctx, "report", struct{}{}, follow)
				return err
			}) {
				w.strike()
				if err != nil {
					return err
				}
			}
			return nil
		}),
		own("the call of a loop over progress", []string{"mcpclient.FollowProgress call"}, nil, func(w *world) error {
			for _, err := range mcpclient.FollowProgress(w.ctx(),
				func(context.Context, mcpclient.CallOption) error { w.strike(); return nil }) {
				return err
			}
			return nil
		}),
		own("a loop over tools", []string{"mcpclient.Client.Tools yield"}, nil, func(w *world) error {
			for _, err := range w.client.Tools(w.ctx()) {
				w.strike()
				return err
			}
			return nil
		}),
		own("a loop over prompts", []string{"mcpclient.Client.Prompts yield"}, nil, func(w *world) error {
			for _, err := range w.client.Prompts(w.ctx()) {
				w.strike()
				return err
			}
			return nil
		}),
		own("a loop over resources", []string{"mcpclient.Client.Resources yield"}, nil, func(w *world) error {
			for _, err := range w.client.Resources(w.ctx()) {
				w.strike()
				return err
			}
			return nil
		}),
		own("a loop over templates", []string{"mcpclient.Client.ResourceTemplates yield"}, func(w *world) {
			_ = w.server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "u", URITemplate: "x:///{x}"},
				func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
					return contents()
				})
		}, func(w *world) error {
			for _, err := range w.client.ResourceTemplates(w.ctx()) {
				w.strike()
				return err
			}
			return nil
		}),
		own("the status of a task", []string{"mcpclient.WithTaskStatus f"}, taskTool(nothing), func(w *world) error {
			_, err := w.client.CallTool(w.ctx(), "tool", struct{}{}, mcpclient.WithTaskStatus(func(mcp.Task) { w.strike() }))
			return err
		}),
		heard("the end of a visit", []string{"mcpclient.URLElicitationOptions.Completed"}, func(w *world) mcpclient.Feature {
			_ = mcpserver.AddTool(w.server, &mcp.Tool{Name: "ask"}, func(ctx context.Context, _ struct{}) (struct{}, error) {
				return struct{}{}, visit(ctx)
			})
			return mcpclient.HandleURLElicitation(func(context.Context, *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
				return mcp.ElicitAccept, nil
			}, &mcpclient.URLElicitationOptions{Completed: func(context.Context, *mcpclient.URLElicitation) { w.strike() }})
		}, func(w *world) error {
			if _, err := w.client.CallTool(w.ctx(), "ask", struct{}{}); err != nil {
				return err
			}
			w.server.ElicitationComplete("1")
			return nil
		}),
		own("the encoder of params", nil, nil,
			func(w *world) error { return w.client.Notify(w.ctx(), "x/notify", brittle{w}) }),
		own("the encoder of params of a call", nil, nil, func(w *world) error {
			_, err := w.client.CallTool(w.ctx(), "report", brittle{w})
			return err
		}),
		own("the decoder of a result", nil, nil,
			func(w *world) error { return w.client.Call(w.ctx(), "tools/list", nil, &brittle{w}) }),
	}
	cases = append(cases, asked("elicitation handler", []string{"mcpclient.HandleElicitation h"},
		func(w *world) mcpclient.Feature {
			return mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				w.strike()
				return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
			})
		}, elicit)...)
	cases = append(cases, asked("URL handler", []string{"mcpclient.HandleURLElicitation h"},
		func(w *world) mcpclient.Feature {
			return mcpclient.HandleURLElicitation(func(context.Context, *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
				w.strike()
				return mcp.ElicitAccept, nil
			}, nil)
		}, visit)...)
	cases = append(cases, asked("sampling handler", []string{"mcpclient.HandleSampling h"},
		func(w *world) mcpclient.Feature {
			return mcpclient.HandleSampling(func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
				w.strike()
				return &mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{mcp.Text("hi")}}, nil
			}, nil)
		}, sample)...)
	cases = append(cases, asked("request handler", []string{"mcpclient.HandleRequest h"},
		func(w *world) mcpclient.Feature {
			w.co.Capabilities.Roots = &mcp.RootsCapability{}
			return mcpclient.HandleRequest("roots/list", func(context.Context, *mcpclient.Request) (any, error) {
				w.strike()
				return &mcp.ListRootsResult{Roots: []*mcp.Root{}}, nil
			})
		}, roots)...)
	cases = append(cases, asked("middleware of handlers", []string{"mcpclient.Options.HandlerMiddleware"},
		func(w *world) mcpclient.Feature {
			type handler = mcpclient.RequestHandler
			w.co.HandlerMiddleware = []func(handler) handler{func(next handler) handler {
				return func(ctx context.Context, r *mcpclient.Request) (any, error) {
					if r.Method != "ping" {
						w.strike()
					}
					return next(ctx, r)
				}
			}}
			return mcpclient.UseRoots()
		}, roots)...)
	return append(cases, asked("the encoder of a handler's result", nil, func(w *world) mcpclient.Feature {
		w.co.Capabilities.Roots = &mcp.RootsCapability{}
		return mcpclient.HandleRequest("roots/list", func(context.Context, *mcpclient.Request) (any, error) {
			return struct {
				Roots []string `json:"roots"`
				More  brittle  `json:"more"`
			}{[]string{}, brittle{w}}, nil
		})
	}, roots)...)
}()
