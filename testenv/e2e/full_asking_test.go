package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// order is the answer to a form.
type order struct {
	Name  string  `json:"name" jsonschema:"who orders"`
	Size  string  `json:"size,omitempty"`
	Count int     `json:"count,omitempty"`
	Ratio float64 `json:"ratio,omitempty"`
	Gift  bool    `json:"gift,omitempty"`
}

// refineOrder adds constraints to the form that the Go types cannot express.
func refineOrder(form *mcp.FormSchema) {
	form.Field("size").OneOf = []mcp.FormOption{{Const: "s", Title: "Small"}, {Const: "l", Title: "Large"}}
	for name, value := range map[string]string{"size": `"l"`, "count": "3", "ratio": "0.5", "gift": "true"} {
		form.Field(name).Default = json.RawMessage(value)
	}
	form.Field("count").Minimum, form.Field("ratio").Maximum = new(1.0), new(0.75)
}

// several is a form with a choice of several values, which exists from revision 2025-11-25 on.
type several struct {
	Toppings []string `json:"toppings"`
}

func refineSeveral(form *mcp.FormSchema) {
	f := form.Field("toppings")
	f.Items, f.Default, f.MinItems = &mcp.FormItems{
		AnyOf: []mcp.FormOption{{Const: "a", Title: "A"}, {Const: "b", Title: "B"}}}, json.RawMessage(`["b"]`), new(int64(1))
}

// asking adds a tool that asks the client for input. Its result is the answer, or the information that the client
// cannot be asked.
func (f *full) asking(name string, ask func(ctx context.Context, in named) (any, error)) {
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: name}, func(ctx context.Context, in named) (string, error) {
		answer, err := ask(ctx, in)
		if in.Name != "insist" && errors.Is(err, mcpserver.ErrUnsupported) {
			return "unsupported", nil
		}
		if err != nil {
			return "", err
		}
		said, err := json.Marshal(answer)
		return string(said), err
	}))
}

// addAsking adds the tools that ask the client for input.
func (f *full) addAsking() {
	f.asking("ask_form", func(ctx context.Context, in named) (any, error) {
		answer, action, err := mcpserver.ElicitAs[order](ctx, cmp.Or(in.Name, "accept"), refineOrder)
		return []any{action, answer}, err
	})
	f.asking("ask_several", func(ctx context.Context, _ named) (any, error) {
		answer, action, err := mcpserver.ElicitAs[several](ctx, "Which ones?", refineSeveral)
		return []any{action, answer}, err
	})
	f.asking("ask_url", func(ctx context.Context, in named) (any, error) {
		r, err := mcpserver.RequestFrom(ctx).Elicit(ctx, site(in.Name))
		if err != nil {
			return nil, err
		}
		return []any{r.Action, f.done(in.Name)}, nil
	})
	f.asking("need_url", func(_ context.Context, in named) (any, error) {
		if !f.done(in.Name) {
			return nil, mcpserver.URLElicitationRequired("sign in first", site(in.Name))
		}
		return "signed in", nil
	})
	must(mcpserver.AddTool(f.Server, &mcp.Tool{Name: "visit"}, func(_ context.Context, in named) (string, error) {
		f.mu.Lock()
		f.visited[in.Name] = true
		f.mu.Unlock()
		f.ElicitationComplete(in.Name)
		return "seen", nil
	}))
	f.asking("ask_model", func(ctx context.Context, _ named) (any, error) {
		r, err := mcpserver.RequestFrom(ctx).CreateMessage(ctx, &mcp.CreateMessageParams{
			Messages: []*mcp.SamplingMessage{
				{Role: mcp.RoleUser, Content: mcp.SamplingContent{&mcp.TextContent{Text: "hello", Annotations: noted, Meta: mark}},
					Meta: mark}},
			ModelPreferences: &mcp.ModelPreferences{Hints: []mcp.ModelHint{{Name: "small"}}, CostPriority: new(1.0)},
			SystemPrompt:     "be brief", IncludeContext: mcp.IncludeThisServer, Temperature: new(0.5), MaxTokens: 10,
			StopSequences: []string{"."},
			Metadata:      json.RawMessage(`{"provider":1}`), Meta: mark,
		})
		if err != nil {
			return nil, err
		}
		return []any{r.Model, r.Content, r.StopReason}, nil
	})
	f.asking("ask_model_with_tools", askWithTools)
	f.asking("ask_roots", func(ctx context.Context, _ named) (any,
		error) {
		return mcpserver.RequestFrom(ctx).ListRoots(ctx)
	})
	f.asking("ask_all", func(ctx context.Context, _ named) (any, error) {
		var roots mcp.ListRootsResult
		var message mcp.CreateMessageResult
		err := mcpserver.RequestFrom(ctx).AskAll(ctx, mcpserver.AskListRoots("where", &roots),
			mcpserver.AskCreateMessage("what", &mcp.CreateMessageParams{Messages: says("hello"), MaxTokens: 1}, &message))
		return []any{len(roots.Roots), message.Model}, err
	})
	f.asking("ask_in_rounds", f.rounds)
	f.asking("require", require)
	must(f.AddPrompt(&mcp.Prompt{Name: "asking"},
		func(ctx context.Context, _ *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
			roots, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
			if err != nil {
				return nil, err
			}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text(roots[0].URI)}}},
				nil
		}))
	must(f.AddResource(&mcp.Resource{URI: "demo://asking", Name: "asking"},
		func(ctx context.Context, _ *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			roots, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
			if err != nil {
				return nil, err
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: roots[0].URI}}}, nil
		}))
}

func (f *full) done(ticket string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.visited[ticket]
}

// site returns a URL elicitation with a ticket.
func site(ticket string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "sign in", URL: "https://example.com/" + ticket,
		ElicitationID: ticket}
}

func says(text string) []*mcp.SamplingMessage {
	return []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text(text)}}}
}

// askWithTools lets the model use a tool until the model answers with text.
func askWithTools(ctx context.Context, _ named) (any, error) {
	p := &mcp.CreateMessageParams{
		Messages: says("how is the weather?"), MaxTokens: 100, ToolChoice: &mcp.ToolChoice{Mode: mcp.ToolChoiceAuto},
		Tools: []*mcp.Tool{{Name: "weather",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`), Title: "Weather"}},
	}
	for {
		r, err := mcpserver.RequestFrom(ctx).CreateMessage(ctx, p)
		if err != nil {
			return nil, err
		}
		use, ok := r.Content[0].(*mcp.ToolUseContent)
		if !ok {
			return []any{r.Content, r.StopReason}, nil
		}
		p.Messages = append(p.Messages, &mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: r.Content},
			&mcp.SamplingMessage{
				Role: mcp.RoleUser, Content: mcp.SamplingContent{&mcp.ToolResultContent{
					ToolUseID: use.ID, Content: mcp.ContentList{mcp.Text("rain for " + string(use.Input))},
					StructuredContent: json.RawMessage(`{"rain":true}`),
				}},
			})
	}
}

// rounds asks three times, each time with the earlier answers, and performs one action once.
func (f *full) rounds(ctx context.Context, _ named) (any, error) {
	ticket, err := mcpserver.Once(ctx, "ticket", func() (int, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.counts["tickets"]++
		return f.counts["tickets"], nil
	})
	if err != nil {
		return nil, err
	}
	said := []string{fmt.Sprintf("ticket %d", ticket)}
	for range 3 {
		r, err := mcpserver.RequestFrom(ctx).CreateMessage(ctx,
			&mcp.CreateMessageParams{Messages: says(strings.Join(said, ", ")), MaxTokens: 1})
		if err != nil {
			return nil, err
		}
		said = append(said, r.Content[0].(*mcp.TextContent).Text)
	}
	return said, nil
}

// require asks with its own messages and its own state.
func require(ctx context.Context, _ named) (any, error) {
	r := mcpserver.RequestFrom(ctx)
	if r.RequestState() != "asked" {
		return nil, mcpserver.RequestFrom(ctx).RequireInput(mcp.InputRequests{"where": {Method: mcp.MethodListRoots}},
			"asked")
	}
	var roots mcp.ListRootsResult
	if err := json.Unmarshal(r.InputResponses()["where"], &roots); err != nil {
		return nil, err
	}
	return len(roots.Roots), nil
}

// addTasks adds a slow tool.
func (f *full) addTasks() {
	must(mcpserver.AddTool(f.Server,
		&mcp.Tool{Name: "job", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}},
		func(ctx context.Context, in named) (sum, error) {
			r := mcpserver.RequestFrom(ctx)
			switch in.Name {
			case "ask":
				answer, _, err := mcpserver.ElicitAs[order](ctx, "What do you want?", refineOrder)
				return sum{float64(answer.Count)}, err
			case "wait":
				if err := r.TaskStatus("waiting"); err != nil {
					return sum{}, err
				}
				<-ctx.Done()
				f.cancelled <- struct{}{}
				return sum{}, ctx.Err()
			case "refuse":
				return sum{}, &mcp.Error{Code: -31050, Message: "refused"}
			case "fail":
				return sum{}, errors.New("failed")
			}
			return sum{7}, nil
		}, mcpserver.TaskTool()))
}
