package mcpotel_test

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/bearer"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// served returns a case for a handler. The request that calls it must fail.
func served(name string, callbacks []string, set func(w *world), do func(w *world) error) failing {
	return failing{name: name, callbacks: callbacks, ends: fails, set: set, do: ready(do)}
}

// ready returns a function that waits for the client and then calls do.
func ready(do func(w *world) error) func(w *world) error {
	return func(w *world) error {
		if err := w.client.WaitForReady(w.ctx()); err != nil {
			return err
		}
		return do(w)
	}
}

// calls calls the tool named "tool".
func calls(w *world) error {
	r, err := w.client.CallTool(w.ctx(), "tool", struct{}{})
	if err == nil && r.IsError {
		err = errOops
	}
	return err
}

type none struct{}

// host implements all parts of a server; one of its methods fails.
type host struct {
	w      *world
	method string
}

func (h host) strike(method string) {
	if method == h.method {
		h.w.strike()
	}
}

func (h host) Init(context.Context, *mcpserver.Session) error { h.strike("Init"); return nil }

func (h host) Terminate(context.Context, *mcpserver.Session, error) { h.strike("Terminate") }

func (h host) HandleClientCapabilities(context.Context, *mcpserver.Session, mcp.ClientCapabilities) error {
	h.strike("HandleClientCapabilities")
	return nil
}

func (h host) SetLevel(context.Context, mcp.LoggingLevel) error { h.strike("SetLevel"); return nil }

func (h host) ListTools(context.Context, *mcpserver.ListRequest) (*mcp.ListToolsResult, error) {
	h.strike("ListTools")
	return &mcp.ListToolsResult{Tools: []*mcp.Tool{{Name: "tool"}}}, nil
}

func (h host) CallTool(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	h.strike("CallTool")
	return nil, nil
}

func (h host) ListPrompts(context.Context, *mcpserver.ListRequest) (*mcp.ListPromptsResult, error) {
	h.strike("ListPrompts")
	return &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{{Name: "p"}}}, nil
}

func (h host) GetPrompt(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
	h.strike("GetPrompt")
	return nil, nil
}

func (h host) ListResources(context.Context, *mcpserver.ListRequest) (*mcp.ListResourcesResult, error) {
	h.strike("ListResources")
	return &mcp.ListResourcesResult{Resources: []*mcp.Resource{{Name: "r", URI: "file:///r"}}}, nil
}

func (h host) ListResourceTemplates(context.Context, *mcpserver.ListRequest) (*mcp.ListResourceTemplatesResult, error) {
	h.strike("ListResourceTemplates")
	return &mcp.ListResourceTemplatesResult{ResourceTemplates: []*mcp.ResourceTemplate{{Name: "t",
		URITemplate: "file:///{x}"}}}, nil
}

func (h host) ReadResource(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	h.strike("ReadResource")
	return contents()
}

func (h host) SubscribeResource(context.Context, string) error {
	h.strike("SubscribeResource")
	return nil
}

func (h host) UnsubscribeResource(context.Context, string) error {
	h.strike("UnsubscribeResource")
	return nil
}

func (h host) Complete(context.Context, *mcpserver.CompleteRequest) ([]string, error) {
	h.strike("Complete")
	return []string{"x"}, nil
}

func (h host) DeclareCapabilities(*mcp.ServerCapabilities, mcp.Version) {
	h.strike("DeclareCapabilities")
}

// hosted returns a case for one method of host, which belongs to the interface part.
func hosted(method, part string, e ends, do func(w *world) error) failing {
	f := served("host: "+method, []string{"mcpserver." + part + "." + method}, func(w *world) {
		if err := w.server.Implement(host{w, method}); err != nil {
			w.t.Fatal(err)
		}
	}, do)
	f.legacy, f.ends = true, e
	return f
}

func firstOf[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		return err
	}
	return nil
}

// reconnects ends a session and begins another.
func reconnects(w *world) error {
	other, err := mcpclient.Connect(w.ctx(), w.again(),
		&mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}, Telemetry: w.rec.Telemetry()})
	if err != nil {
		return err
	}
	return other.Close()
}

// shakyServerConn is a connection to a client. One of its methods fails.
type shakyServerConn struct {
	mcpserver.Conn
	w      *world
	method string
}

func (c shakyServerConn) Send(ctx context.Context, frame []byte) error {
	if c.method == "Send" {
		c.w.strike()
	}
	return c.Conn.Send(ctx, frame)
}

func (c shakyServerConn) Receive(ctx context.Context) ([]byte, error) {
	if c.method == "Receive" {
		c.w.strike()
	}
	return c.Conn.Receive(ctx)
}

func (c shakyServerConn) Close() error {
	defer func() {
		if c.method == "Close" {
			c.w.strike()
		}
	}()
	return c.Conn.Close()
}

func shakesServer(method string, do func(w *world) error) failing {
	return failing{name: "server's " + method, callbacks: []string{"mcpserver.Conn." + method}, do: do,
		set: func(w *world) {
			w.wrap = func(c mcpserver.Conn) mcpserver.Conn { return shakyServerConn{c, w, method} }
		}}
}

// shakyTasks is a store of tasks. One of its methods fails.
type shakyTasks struct {
	store.Tasks
	w      *world
	method string
}

func (s shakyTasks) strike(method string) {
	if method == s.method {
		s.w.strike()
	}
}

func (s shakyTasks) Load(ctx context.Context, id string) (*store.Task, error) {
	s.strike("Load")
	return s.Tasks.Load(ctx, id)
}

func (s shakyTasks) Save(ctx context.Context, r *store.Task) error {
	s.strike("Save")
	return s.Tasks.Save(ctx, r)
}

func (s shakyTasks) List(ctx context.Context, principal string, behind store.TaskPlace, limit int) ([]*store.Task,
	error) {
	s.strike("List")
	return s.Tasks.List(ctx, principal, behind, limit)
}

func (s shakyTasks) Watch(ctx context.Context, changed func(string, int64)) (func(), error) {
	s.strike("Watch")
	return s.Tasks.Watch(ctx, changed)
}

func tasks(method string, e ends) failing {
	return failing{name: "tasks: " + method, callbacks: []string{"store.Tasks." + method}, ends: e,
		server: func(w *world) {
			w.so.Tasks = &mcpserver.TaskOptions{Store: shakyTasks{store.NewMemoryTasks(0, 0), w, method}}
		},
		set: taskTool(nothing), do: ready(calls),
	}
}

// listsTasks returns a case for the listing of tasks, which requires a client of 2025-11-25 with a principal.
func listsTasks() failing {
	f := tasks("List", fails)
	f.legacy, f.do = true, ready(func(w *world) error { return firstOf(w.client.LegacyTasks(w.ctx())) })
	add := f.set
	f.set = func(w *world) {
		add(w)
		overHTTP(w, &mcpserver.HTTPOptions{Principal: func(*http.Request) string { return "me" }}, nothing, nil)
	}
	return f
}

// taskTool adds a tool that runs as a task and calls during.
func taskTool(during func()) func(w *world) {
	return func(w *world) {
		w.co.Features = []mcpclient.Feature{mcpclient.UseTasks(nil)}
		_ = mcpserver.AddTool(w.server, &mcp.Tool{Name: "tool"}, func(context.Context, none) (none, error) {
			time.Sleep(time.Second)
			during()
			return none{}, nil
		}, mcpserver.TaskTool())
	}
}

func tool(h func(ctx context.Context, w *world) error) func(w *world) {
	return func(w *world) {
		_ = mcpserver.AddTool(w.server, &mcp.Tool{Name: "tool"},
			func(ctx context.Context, _ none) (none, error) { return none{}, h(ctx, w) })
	}
}

func text(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return nil, nil
}

var serverCases = []failing{
	served("tool", []string{"mcpserver.AddTool h"},
		tool(func(_ context.Context, w *world) error { w.strike(); return nil }), calls),
	served("raw tool", []string{"mcpserver.Server.AddTool h"}, func(w *world) {
		_ = w.server.AddTool(&mcp.Tool{Name: "tool"},
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				w.strike()
				return nil, nil
			})
	}, calls),
	served("task tool", []string{"mcpserver.AddTool h"}, func(w *world) { taskTool(w.strike)(w) }, calls),
	served("raw task tool", []string{"mcpserver.Server.AddTool h"}, func(w *world) {
		w.co.Features = []mcpclient.Feature{mcpclient.UseTasks(nil)}
		_ = w.server.AddTool(&mcp.Tool{Name: "tool"},
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				w.strike()
				return nil, nil
			}, mcpserver.TaskTool())
	}, calls),
	served("the decoder of arguments", nil, func(w *world) {
		_ = w.server.AddTool(&mcp.Tool{Name: "tool"},
			func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, (&brittle{w}).UnmarshalJSON(r.Arguments)
			})
	}, calls),
	served("the encoder of a result", nil, func(w *world) {
		_ = w.server.HandleRequest("x/encode", func(context.Context, *mcpserver.Request) (any, error) {
			return map[string]any{"more": brittle{w}}, nil
		})
	}, func(w *world) error { return w.client.Call(w.ctx(), "x/encode", nil, nil) }),
	served("method", []string{"mcpserver.Server.HandleRequest h"}, func(w *world) {
		_ = w.server.HandleRequest("x/method", func(context.Context, *mcpserver.Request) (any, error) {
			w.strike()
			return nil,
				nil
		})
	}, func(w *world) error { return w.client.Call(w.ctx(), "x/method", nil, nil) }),
	{name: "middleware of the server", callbacks: []string{"mcpserver.Options.Middleware"}, ends: fails,
		server: func(w *world) {
			type handler = mcpserver.RequestHandler
			w.so.Middleware = []func(handler) handler{func(next handler) handler {
				return func(ctx context.Context, r *mcpserver.Request) (any, error) {
					result, err := next(ctx, r)
					whenReady(w)()
					return result, err
				}
			}}
		}, do: ping},
	served("prompt", []string{"mcpserver.Server.AddPrompt h"}, func(w *world) {
		_ = w.server.AddPrompt(&mcp.Prompt{Name: "p"},
			func(ctx context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
				w.strike()
				return text(ctx, r)
			})
	}, func(w *world) error { _, err := w.client.GetPrompt(w.ctx(), "p", nil); return err }),
	served("resource", []string{"mcpserver.Server.AddResource h"}, func(w *world) {
		_ = w.server.AddResource(&mcp.Resource{Name: "r", URI: "file:///r"},
			func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				w.strike()
				return contents()
			})
	}, reads("file:///r")),
	served("template", []string{"mcpserver.Server.AddResourceTemplate h"}, func(w *world) {
		_ = w.server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "t", URITemplate: "file:///{x}"},
			func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				w.strike()
				return contents()
			})
	}, reads("file:///t")),
	served("completion", []string{"mcpserver.Server.AddCompletion h"}, func(w *world) {
		_ = w.server.AddPrompt(&mcp.Prompt{Name: "p", Arguments: []mcp.PromptArgument{{Name: "a"}}}, text)
		_ = w.server.AddCompletion(mcp.PromptRef("p"), "a",
			func(context.Context, *mcpserver.CompleteRequest) ([]string, error) {
				w.strike()
				return nil, nil
			})
	}, completes),
	served("once", []string{"mcpserver.Once f"}, tool(func(ctx context.Context, w *world) error {
		_, err := mcpserver.Once(ctx, "key", func() (int, error) { w.strike(); return 1, nil })
		return err
	}), calls),
	{name: "the change of a session", callbacks: []string{"mcpserver.Session.Update change"}, legacy: true, ends: fails,
		do: ready(calls),
		set: tool(func(ctx context.Context, w *world) error {
			mcpserver.RequestFrom(ctx).Session().Update("key", func(any) any { w.strike(); return 1 })
			return nil
		})},
	{name: "the refinement of a form", callbacks: []string{"mcpserver.ElicitAs refine"}, ends: fails, do: ready(calls),
		set: func(w *world) {
			decline := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
			}
			w.co.Features = []mcpclient.Feature{mcpclient.HandleElicitation(decline)}
			tool(func(ctx context.Context, w *world) error {
				_, _, err := mcpserver.ElicitAs[struct{ Name string }](ctx, "m", func(*mcp.FormSchema) { w.strike() })
				return err
			})(w)
		}},

	hosted("ListTools", "ToolLister", fails, func(w *world) error { return firstOf(w.client.Tools(w.ctx())) }),
	hosted("CallTool", "ToolCaller", fails, calls),
	hosted("ListPrompts", "PromptLister", fails, func(w *world) error { return firstOf(w.client.Prompts(w.ctx())) }),
	hosted("GetPrompt", "PromptGetter", fails,
		func(w *world) error { _, err := w.client.GetPrompt(w.ctx(), "p", nil); return err }),
	hosted("ListResources", "ResourceLister", fails, func(w *world) error { return firstOf(w.client.Resources(w.ctx())) }),
	hosted("ListResourceTemplates", "ResourceTemplateLister", fails,
		func(w *world) error { return firstOf(w.client.ResourceTemplates(w.ctx())) }),
	hosted("ReadResource", "ResourceReader", fails, reads("file:///r")),
	hosted("Complete", "Completer", fails, completes),
	hosted("SetLevel", "LevelSetter", fails,
		func(w *world) error { return w.client.SetLogLevel(w.ctx(), mcp.LevelError) }),
	hosted("SubscribeResource", "ResourceSubscriber", fails,
		func(w *world) error { return w.client.SubscribeResource(w.ctx(), "file:///r") }),
	hosted("UnsubscribeResource", "ResourceSubscriber", fails, func(w *world) error {
		if err := w.client.SubscribeResource(w.ctx(), "file:///r"); err != nil {
			return err
		}
		return w.client.UnsubscribeResource(w.ctx(), "file:///r")
	}),
	hosted("Init", "Initializer", goesOn, ping),
	hosted("HandleClientCapabilities", "ClientCapabilitiesHandler", goesOn, ping),
	hosted("DeclareCapabilities", "CapabilityDeclarer", goesOn, ping),
	hosted("Terminate", "Terminator", goesOn, reconnects),

	shakesServer("Send", nil),
	shakesServer("Receive", nil),
	shakesServer("Close", reconnects),

	tasks("Load", goesOn),
	tasks("Save", fails),
	tasks("Watch", goesOn),
	listsTasks(),

	{name: "principal", callbacks: []string{"mcpserver.HTTPOptions.Principal"}, set: func(w *world) {
		overHTTP(w, &mcpserver.HTTPOptions{Principal: func(*http.Request) string { w.strike(); return "me" }}, nothing, nil)
	}},
	{name: "account", callbacks: []string{"mcpserver.HTTPOptions.Account"}, set: func(w *world) {
		overHTTP(w, &mcpserver.HTTPOptions{Account: func(*http.Request) string { w.strike(); return "me" }}, nothing, nil)
	}},
	{name: "principal of a session", callbacks: []string{"mcpserver.HTTPOptions.Principal"}, legacy: true, ends: goesOn,
		do: ping, set: func(w *world) {
			overHTTP(w, &mcpserver.HTTPOptions{Principal: func(*http.Request) string { whenReady(w)(); return "me" }}, nothing,
				nil)
		}},
	{name: "verifier of tokens", callbacks: []string{"bearer.Verifier.Verify"}, ends: fails, do: ping,
		set: func(w *world) {
			behind(w, bearer.Options{}, whenReady(w))
		}},
	{name: "scopes of a request", callbacks: []string{"bearer.Options.RequestScopes"}, ends: fails, do: ping,
		set: func(w *world) {
			behind(w, bearer.Options{RequestScopes: func(*http.Request) []string { whenReady(w)(); return nil }}, nothing)
		}},
}

func reads(uri string) func(w *world) error {
	return func(w *world) error { _, err := w.client.ReadResource(w.ctx(), uri); return err }
}

func completes(w *world) error {
	_, err := w.client.Complete(w.ctx(), mcp.PromptRef("p"), mcp.CompleteArgument{Name: "a"}, nil)
	return err
}

// behind makes the client use HTTP and puts a token check in front of the server.
func behind(w *world, o bearer.Options, strike func()) {
	o.Resource = "http://127.0.0.1"
	overHTTP(w, nil, nothing, authorizer{nothing, nothing})
	verify := bearer.VerifierFunc(func(context.Context, string, *http.Request) (*bearer.Principal, error) {
		strike()
		return &bearer.Principal{Subject: "me", Audience: []string{o.Resource}, Expiry: time.Now().Add(24 * time.Hour)}, nil
	})
	w.around = func(h http.Handler) http.Handler {
		guarded := bearer.Require(verify, &o)(h)
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			r.Header.Set("Authorization", "Bearer token")
			guarded.ServeHTTP(rw, r)
		})
	}
}

func contents() (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "file:///r", Text: "text"}}}, nil
}
