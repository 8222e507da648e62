package e2e

import (
	"context"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// person is the user of a client with all capabilities and a model, and records what has arrived.
type person struct {
	updated chan string // URIs of updated resources
	changed chan struct{}
	logged  chan *mcp.LoggingMessageParams
	visited chan string // visited URLs
	asked   chan *mcp.CreateMessageParams

	mu    sync.Mutex
	tasks map[string]func() (any, error) // guarded by mu; tasks of the server's requests, by id
}

func newPerson() *person {
	return &person{
		updated: make(chan string, 64), changed: make(chan struct{}, 64), visited: make(chan string, 64),
		asked:  make(chan *mcp.CreateMessageParams, 64),
		logged: make(chan *mcp.LoggingMessageParams, 64), tasks: map[string]func() (any, error){},
	}
}

// options returns the options of the person's client.
func (p *person) options() *mcpclient.Options {
	return &mcpclient.Options{
		Features: []mcpclient.Feature{
			mcpclient.UseRoots(&mcp.Root{URI: "file:///home/ada", Name: "home"}),
			mcpclient.HandleElicitation(p.fill),
			mcpclient.HandleURLElicitation(p.visit, nil),
			mcpclient.HandleSampling(p.model, nil),
			mcpclient.HandleLogMessage(func(_ context.Context, m *mcp.LoggingMessageParams) { p.logged <- m }),
			mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) { p.updated <- uri }),
			mcpclient.HandleResourceListChanged(func(context.Context) { p.changed <- struct{}{} }),
			mcpclient.UseTasks(nil),
			mcpclient.HandleRequest(mcp.MethodGetTask, p.task),
			mcpclient.HandleRequest(mcp.MethodTaskResult, p.outcome),
		},
		HandlerMiddleware: []func(mcpclient.RequestHandler) mcpclient.RequestHandler{p.asTask},
		Capabilities:      mcp.ClientCapabilities{Tasks: tasksOf("sampling", "createMessage", "elicitation", "create")},
	}
}

// tasksOf declares that requests of 2025-11-25 can become tasks. parts are the methods, each as the two parts of its
// name.
func tasksOf(parts ...string) *mcp.TasksCapability {
	c := &mcp.TasksCapability{Requests: map[string]map[string]mcp.Object{}}
	for i := 0; i < len(parts); i += 2 {
		c.Requests[parts[i]] = map[string]mcp.Object{parts[i+1]: {}}
	}
	return c
}

// fill answers a form with only the required fields.
func (*person) fill(_ context.Context, form *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	f, err := form.Form()
	if err != nil {
		return nil, err
	}
	content := map[string]any{}
	for _, name := range f.Required {
		content[name] = "Ada"
		if options := f.Field(name).OneOf; len(options) > 0 {
			content[name] = options[1].Const
		}
	}
	return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, nil
}

// visit opens a page and finishes at once.
func (p *person) visit(_ context.Context, e *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
	p.visited <- e.URL.String()
	e.Complete()
	return mcp.ElicitAccept, nil
}

func (p *person) model(_ context.Context, m *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	p.asked <- m
	return &mcp.CreateMessageResult{Model: "a-model", Content: mcp.SamplingContent{mcp.Text("a haiku")},
		StopReason: mcp.StopEndTurn}, nil
}

// everythingAsks calls the tools that ask the client for input.
func (x *explorer) everythingAsks(p *person) {
	x.Helper()
	x.says("trigger-sampling-request", map[string]any{"prompt": "tea", "maxTokens": 7}, `"text": "a haiku"`)
	if asked := next(x.T, x.ctx, "a question to the model", p.asked); asked.MaxTokens != 7 ||
		asked.SystemPrompt != "You are a helpful test server." || *asked.Temperature != 0.7 {
		x.Errorf("trigger-sampling-request: want its parameters, got %+v", asked)
	}
	// The client fills in the defaults of the fields that the person has left out.
	defaults := `"firstLine": "It was a dark and stormy night."`
	x.says("trigger-elicitation-request", nil, defaults)
	x.says("trigger-elicitation-request", nil, `"titledMultipleSelectEnum": [
      "fish-1"
    ]`)
	x.says("trigger-elicitation-request", nil, "- Name: Ada\n- Favorite Integer: 42\n- Favorite Number: 3.14")

	x.says("trigger-url-elicitation", map[string]any{"url": "https://example.com/one"}, "User completed")
	x.visits(p, "https://example.com/one")
	x.says("trigger-url-elicitation", map[string]any{"url": "https://example.com/two", "errorPath": true},
		"User completed")
	x.visits(p, "https://modelcontextprotocol.io") // the URL in the error -32042
	x.visits(p, "https://example.com/two")         // the URL of the second attempt

	x.says("trigger-sampling-request-async", map[string]any{"prompt": "tea"}, "Async sampling completed")
	x.says("trigger-elicitation-request-async", nil, "- Name: Ada")

	x.says("get-roots-list", nil, "home\n   URI: file:///home/ada")
	if err := x.client.SetRoots(x.ctx, &mcp.Root{URI: "file:///srv", Name: "other"}); err != nil {
		x.Fatal(err)
	}
	x.until("the server has the new roots", func() bool {
		return strings.Contains(x.call("get-roots-list", nil).Text(), "1. other\n   URI: file:///srv")
	})
}

func (x *explorer) visits(p *person, want string) {
	x.Helper()
	if got := next(x.T, x.ctx, "a visit of "+want, p.visited); got != want {
		x.Errorf("want a visit of %s, got %s", want, got)
	}
}
