package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// addRounds adds the tools that ask in rounds, with the keys that the scenarios expect.
func addRounds(s *mcpserver.Server) error {
	return errors.Join(
		add(s, "test_input_required_result_elicitation", "Asks the user's name",
			func(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
				name, err := field(ctx, "user_name", "What is your name?", "name")
				return answer(mcp.Text("Hello, " + name + "!")), err
			}),
		add(s, "test_input_required_result_sampling", "Asks the model",
			func(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
				text, err := sampled(ctx, "capital_question", "What is the capital of France?")
				return answer(mcp.Text(text)), err
			}),
		add(s, "test_input_required_result_list_roots", "Asks for roots",
			func(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
				var roots mcp.ListRootsResult
				if err := mcpserver.RequestFrom(ctx).AskAll(ctx, mcpserver.AskListRoots("client_roots", &roots)); err != nil {
					return nil, err
				}
				return answer(mcp.Text(rootsOf(&roots))), nil
			}),
		add(s, "test_input_required_result_request_state", "Asks to confirm", confirm),
		add(s, "test_input_required_result_tampered_state", "Asks to confirm", confirm),
		add(s, "test_input_required_result_multiple_inputs", "Asks for everything at once", askEverything),
		add(s, "test_input_required_result_multi_round", "Asks twice",
			func(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
				name, err := field(ctx, "step1", "What is your name?", "name")
				if err != nil {
					return nil, err
				}
				color, err := field(ctx, "step2", "What is your favorite color?", "color")
				return answer(mcp.Text(name + " likes " + color)), err
			}),
		add(s, "test_input_required_result_capabilities", "Asks for what the client can do", askTheCapable),
	)
}

// field asks the user for one line of text.
func field(ctx context.Context, key, message, name string) (string, error) {
	var r mcp.ElicitResult
	if err := mcpserver.RequestFrom(ctx).AskAll(ctx, askField(key, message, name, &r)); err != nil {
		return "", err
	}
	return fmt.Sprint(r.Content[name]), nil
}

func askField(key, message, name string, r *mcp.ElicitResult) *mcpserver.Ask {
	form := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%[1]q]}`, name)
	return mcpserver.AskElicit(key, &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(form)}, r)
}

// sampled asks the client's model for a line of text.
func sampled(ctx context.Context, key, prompt string) (string, error) {
	var r mcp.CreateMessageResult
	if err := mcpserver.RequestFrom(ctx).AskAll(ctx, askModel(key, prompt, &r)); err != nil {
		return "", err
	}
	return textOf(&r), nil
}

func askModel(key, prompt string, r *mcp.CreateMessageResult) *mcpserver.Ask {
	return mcpserver.AskCreateMessage(key, &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text(prompt)}}},
		MaxTokens: 100,
	}, r)
}

func textOf(r *mcp.CreateMessageResult) string {
	for _, block := range r.Content {
		if t, ok := block.(*mcp.TextContent); ok {
			return t.Text
		}
	}
	return "no text"
}

func rootsOf(r *mcp.ListRootsResult) string {
	text := fmt.Sprintf("%d roots:", len(r.Roots))
	for _, root := range r.Roots {
		text += " " + root.URI
	}
	return text
}

func confirm(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
	const form = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`
	ask := mcpserver.AskElicit("confirm",
		&mcp.ElicitParams{Message: "Please confirm", RequestedSchema: json.RawMessage(form)}, nil)
	if err := mcpserver.RequestFrom(ctx).AskAll(ctx, ask); err != nil {
		return nil, err
	}
	return answer(mcp.Text("state-ok")), nil // the library has verified the state before it calls the handler
}

func askEverything(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
	var (
		name     mcp.ElicitResult
		greeting mcp.CreateMessageResult
		roots    mcp.ListRootsResult
	)
	err := mcpserver.RequestFrom(ctx).AskAll(ctx,
		askField("user_name", "What is your name?", "name", &name),
		askModel("greeting", "Generate a greeting", &greeting),
		mcpserver.AskListRoots("client_roots", &roots))
	if err != nil {
		return nil, err
	}
	return answer(mcp.Text(fmt.Sprintf("%v, %s, %s", name.Content["name"], textOf(&greeting), rootsOf(&roots)))), nil
}

func askTheCapable(ctx context.Context, _ nothing) (*mcp.CallToolResult, error) {
	can := mcpserver.RequestFrom(ctx).ClientCapabilities()
	var asks []*mcpserver.Ask
	if can.Elicitation != nil {
		asks = append(asks, askField("user_name", "What is your name?", "name", nil))
	}
	if can.Sampling != nil {
		asks = append(asks, askModel("greeting", "Generate a greeting", nil))
	}
	if err := mcpserver.RequestFrom(ctx).AskAll(ctx, asks...); err != nil {
		return nil, err
	}
	return answer(mcp.Text(fmt.Sprintf("asked for %d things", len(asks)))), nil
}
