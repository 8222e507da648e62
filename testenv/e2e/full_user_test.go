package e2e

import (
	"context"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// user is the person at the client of a pair, and records what has arrived.
type user struct {
	updated   chan string // URIs of updated resources
	changed   map[string]chan struct{}
	logged    chan *mcp.LoggingMessageParams
	forms     chan *mcp.ElicitParams
	asked     chan *mcp.CreateMessageParams
	completed chan string // ids of completed elicitations

	client *mcpclient.Client // client that sends the user to a URL
}

func newUser() *user {
	return &user{
		updated: make(chan string, 256), logged: make(chan *mcp.LoggingMessageParams, 256),
		forms: make(chan *mcp.ElicitParams, 256),
		asked: make(chan *mcp.CreateMessageParams, 256), completed: make(chan string, 256),
		changed: map[string]chan struct{}{
			"tools": make(chan struct{}, 256), "prompts": make(chan struct{}, 256), "resources": make(chan struct{}, 256),
		},
	}
}

func (u *user) features() []mcpclient.Feature {
	change := func(of string) func(context.Context) { return func(context.Context) { u.changed[of] <- struct{}{} } }
	return []mcpclient.Feature{
		mcpclient.UseRoots(&mcp.Root{URI: "file:///home/ada", Name: "home", Meta: mark}),
		mcpclient.HandleElicitation(u.fill),
		mcpclient.HandleURLElicitation(u.visit, &mcpclient.URLElicitationOptions{
			Completed: func(_ context.Context, e *mcpclient.URLElicitation) { u.completed <- e.ID },
		}),
		mcpclient.HandleSampling(u.model, &mcpclient.SamplingOptions{Tools: true, Context: true}),
		mcpclient.HandleLogMessage(func(_ context.Context, m *mcp.LoggingMessageParams) { u.logged <- m }),
		mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) { u.updated <- uri }),
		mcpclient.HandleToolListChanged(change("tools")),
		mcpclient.HandlePromptListChanged(change("prompts")),
		mcpclient.HandleResourceListChanged(change("resources")),
		mcpclient.UseTasks(&mcpclient.TaskOptions{PollMin: 1}),
	}
}

// fill fills in the fields without defaults, unless the message requests another action.
func (u *user) fill(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	u.forms <- p
	if action := mcp.ElicitAction(p.Message); action == mcp.ElicitDecline || action == mcp.ElicitCancel {
		return &mcp.ElicitResult{Action: action}, nil
	}
	form, err := p.Form()
	if err != nil {
		return nil, err
	}
	content := map[string]any{}
	if form.Field("name") != nil {
		content["name"] = "Ada"
	}
	return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, nil
}

// visit opens a page and finishes there. The server is notified.
func (u *user) visit(ctx context.Context, e *mcpclient.URLElicitation) (mcp.ElicitAction, error) {
	ticket := strings.TrimPrefix(e.URL.Path, "/")
	if ticket == "decline" {
		return mcp.ElicitDecline, nil
	}
	_, err := u.client.CallTool(ctx, "visit", named{ticket})
	return mcp.ElicitAccept, err
}

// model greets, uses each allowed tool once, and otherwise repeats the text of the request.
func (u *user) model(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	u.asked <- p
	r := &mcp.CreateMessageResult{Model: "a-model", StopReason: mcp.StopEndTurn}
	last := p.Messages[len(p.Messages)-1].Content[0]
	switch block := last.(type) {
	case *mcp.ToolResultContent:
		r.Content = mcp.SamplingContent{&mcp.TextContent{Text: block.Content[0].(*mcp.TextContent).Text}}
	case *mcp.TextContent:
		if len(p.Tools) > 0 {
			r.Content = mcp.SamplingContent{
				&mcp.ToolUseContent{ID: "use1", Name: p.Tools[0].Name, Input: []byte(`{"city":"Paris"}`)}}
			r.StopReason = mcp.StopToolUse
			break
		}
		r.Content = mcp.SamplingContent{&mcp.TextContent{Text: "[" + block.Text + "]", Annotations: noted, Meta: mark}}
	}
	return r, nil
}
