package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// scenario is the behaviour of the client in one scenario.
type scenario struct {
	features      []mcpclient.Feature
	authorization func(details) auth.Options // nil for none
	steps         steps
	refuses       bool // authorization must fail, because the server is not trustworthy
}

var scenarios = map[string]scenario{
	"initialize":                       {steps: list},
	"request-metadata":                 {steps: none},
	"tools_call":                       {steps: inOrder(list, call("add_numbers", `{"a":2,"b":3}`))},
	"sse-retry":                        {steps: inOrder(list, call("test_reconnection", `{}`))},
	"http-standard-headers":            {steps: useEachFeature},
	"http-custom-headers":              {steps: inOrder(list, callAsTold)},
	"http-invalid-tool-headers":        {steps: callAllThatIsLeft},
	"json-schema-ref-no-deref":         {steps: list},
	"json-schema-2020-12-preservation": {steps: echoSchema},

	"elicitation-sep1034-client-defaults": {
		features: []mcpclient.Feature{mcpclient.HandleElicitation(accept(map[string]any{}))},
		steps:    inOrder(list, call("test_client_elicitation_defaults", `{}`)),
	},
	"sep-2322-client-request-state": {
		features: []mcpclient.Feature{mcpclient.HandleElicitation(accept(map[string]any{"confirmed": true}))},
		steps: inOrder(list, call("test_mrtr_echo_state", `{}`), call("test_mrtr_no_state", `{}`),
			call("test_mrtr_unrelated", `{}`), call("test_mrtr_no_result_type", `{}`)),
	},

	"sep-2640-client-no-prefetch":        {steps: listSkills},
	"sep-2640-client-verify-digest":      {steps: loadSkill},
	"sep-2640-client-verify-size":        {steps: loadSkill},
	"sep-2640-client-verify-frontmatter": {steps: loadSkill},

	"auth/metadata-default":                     authorized(byCode),
	"auth/metadata-var1":                        authorized(byCode),
	"auth/metadata-var2":                        authorized(byCodeForAll),
	"auth/metadata-var3":                        authorized(byCode),
	"auth/basic-cimd":                           authorized(byMetadataDocument),
	"auth/pre-registration":                     authorized(byPreRegistration),
	"auth/scope-from-www-authenticate":          authorized(byCode),
	"auth/scope-from-scopes-supported":          authorized(byCode),
	"auth/scope-omitted-when-undefined":         authorized(byCode),
	"auth/scope-step-up":                        authorized(byCode),
	"auth/scope-retry-limit":                    refusing(byCode),
	"auth/token-endpoint-auth-basic":            authorized(byCode),
	"auth/token-endpoint-auth-post":             authorized(byCode),
	"auth/token-endpoint-auth-none":             authorized(byCode),
	"auth/resource-mismatch":                    refusing(byCode),
	"auth/offline-access-scope":                 authorized(byCode),
	"auth/offline-access-not-supported":         authorized(byCode),
	"auth/authorization-server-migration":       authorized(byCode),
	"auth/iss-supported":                        authorized(byCode),
	"auth/iss-not-advertised":                   authorized(byCode),
	"auth/iss-supported-missing":                refusing(byCode),
	"auth/iss-wrong-issuer":                     refusing(byCode),
	"auth/iss-unexpected":                       refusing(byCode),
	"auth/iss-normalized":                       refusing(byCode),
	"auth/metadata-issuer-mismatch":             refusing(byCode),
	"auth/2025-03-26-oauth-metadata-backcompat": authorized(byCode),
	"auth/2025-03-26-oauth-endpoint-fallback":   authorized(byCode),
	"auth/client-credentials-basic":             authorized(bySecret),
	"auth/client-credentials-jwt":               authorized(byKey),
	"auth/enterprise-managed-authorization":     authorized(byEnterprise),
	"auth/wif-jwt-bearer":                       authorized(byWorkload),
	"auth/dpop":                                 authorized(byCode),
	"auth/dpop-nonce":                           authorized(byCode),
}

func authorized(by func(details) auth.Options) scenario {
	return scenario{authorization: by, steps: inOrder(list, call("test-tool", `{}`))}
}

func refusing(by func(details) auth.Options) scenario {
	s := authorized(by)
	s.refuses = true
	return s
}

// refusal returns nil if err is a final refusal of authorization.
func refusal(err error) error {
	if err == nil {
		return errors.New("want a refusal to authorize, got none")
	}
	if refused, ok := errors.AsType[*auth.Error](err); !ok || !refused.Permanent() {
		return fmt.Errorf("want a final refusal to authorize, got: %w", err)
	}
	return nil
}

// steps are the actions of the client after it has connected.
type steps = func(ctx context.Context, c *mcpclient.Client, d details) error

func none(context.Context, *mcpclient.Client, details) error { return nil }

func inOrder(all ...steps) steps {
	return func(ctx context.Context, c *mcpclient.Client, d details) error {
		for _, step := range all {
			if err := step(ctx, c, d); err != nil {
				return err
			}
		}
		return nil
	}
}

// list lists the tools, if the server declares tools.
func list(ctx context.Context, c *mcpclient.Client, _ details) error {
	_, err := tools(ctx, c)
	if errors.Is(err, mcpclient.ErrUnsupported) {
		return nil
	}
	return err
}

func tools(ctx context.Context, c *mcpclient.Client) ([]*mcp.Tool, error) {
	var all []*mcp.Tool
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			return nil, fmt.Errorf("list tools: %w", err)
		}
		all = append(all, tool)
	}
	return all, nil
}

func call(name, arguments string) steps {
	return func(ctx context.Context, c *mcpclient.Client, _ details) error {
		return callTool(ctx, c, name, json.RawMessage(arguments))
	}
}

func callTool(ctx context.Context, c *mcpclient.Client, name string, arguments any) error {
	result, err := c.CallTool(ctx, name, arguments)
	if err != nil {
		return fmt.Errorf("call %s: %w", name, err)
	}
	if result.IsError {
		return fmt.Errorf("call %s: the tool failed: %q", name, result.Text())
	}
	return nil
}

// useEachFeature lists tools, resources and prompts, and uses one of each.
func useEachFeature(ctx context.Context, c *mcpclient.Client, d details) error {
	if err := inOrder(list, call("my-hyphenated-tool", `{}`))(ctx, c, d); err != nil {
		return err
	}
	var resources mcp.ListResourcesResult
	if err := c.Call(ctx, mcp.MethodListResources, nil, &resources); err != nil {
		return err
	}
	for _, r := range resources.Resources {
		if err := c.Call(ctx, mcp.MethodReadResource, &mcp.ReadResourceParams{URI: r.URI}, nil); err != nil {
			return err
		}
	}
	var prompts mcp.ListPromptsResult
	if err := c.Call(ctx, mcp.MethodListPrompts, nil, &prompts); err != nil {
		return err
	}
	for _, p := range prompts.Prompts {
		if err := c.Call(ctx, mcp.MethodGetPrompt, &mcp.GetPromptParams{Name: p.Name}, nil); err != nil {
			return err
		}
	}
	return nil
}

// callAsTold makes the calls that the scenario lists, with its arguments.
func callAsTold(ctx context.Context, c *mcpclient.Client, d details) error {
	for _, told := range d.ToolCalls {
		if err := callTool(ctx, c, told.Name, told.Arguments); err != nil {
			return err
		}
	}
	return nil
}

// callAllThatIsLeft calls every tool with a definition that the client has accepted.
func callAllThatIsLeft(ctx context.Context, c *mcpclient.Client, _ details) error {
	left, err := tools(ctx, c)
	if err != nil {
		return err
	}
	if len(left) == 0 {
		return errors.New("no tool is left to call")
	}
	for _, tool := range left {
		if err := callTool(ctx, c, tool.Name, map[string]string{"region": "us-west1"}); err != nil {
			return err
		}
	}
	return nil
}

// echoSchema sends the schema of one tool, as received, to another.
func echoSchema(ctx context.Context, c *mcpclient.Client, _ details) error {
	all, err := tools(ctx, c)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(t *mcp.Tool) bool { return t.Name == "json_schema_2020_12_tool" })
	if i < 0 {
		return errors.New("the tool with the schema is not listed")
	}
	return callTool(ctx, c, "json_schema_echo", map[string]any{"schema": all[i].InputSchema})
}

// accept answers every form with content.
func accept(content map[string]any) mcpclient.ElicitationHandler {
	return func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, nil
	}
}
