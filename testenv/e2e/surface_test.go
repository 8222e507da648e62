package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// explorer uses every tool, prompt, resource and template of a server, and notices omissions.
type explorer struct {
	*testing.T
	ctx    context.Context
	client *mcpclient.Client
	tools  map[string]*mcp.Tool // tools that the server lists

	called, checked, got, read, expanded map[string]bool // names of the used and checked features
}

// explore connects to a server. By the end of the test, everything that the server offers must have been used.
func explore(t *testing.T, tr transport.Transport, o *mcpclient.Options) *explorer {
	t.Helper()
	x := &explorer{
		T: t, tools: map[string]*mcp.Tool{},
		called: map[string]bool{}, checked: map[string]bool{}, got: map[string]bool{}, read: map[string]bool{},
		expanded: map[string]bool{},
	}
	var cancel context.CancelFunc
	x.ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	o.Telemetry, o.Timeouts.Init = telemetry.Off(), slowStart
	var err error
	if x.client, err = mcpclient.Connect(x.ctx, checked(t, tr, false), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.client.Close() })
	for tool, err := range x.client.Tools(x.ctx) {
		if err != nil {
			t.Fatal(err)
		}
		x.tools[tool.Name] = tool
	}
	return x
}

// done lists again and compares the lists with what was used. It does not request a list without the server's
// capability.
func (x *explorer) done() {
	x.Helper()
	var tools, prompts, resources, templates []string
	offers := x.client.ServerCapabilities()
	if offers.Tools != nil {
		tools = names(x, x.client.Tools(x.ctx), func(t *mcp.Tool) string { return t.Name })
	}
	if offers.Prompts != nil {
		prompts = names(x, x.client.Prompts(x.ctx), func(p *mcp.Prompt) string { return p.Name })
	}
	if offers.Resources != nil {
		resources = names(x, x.client.Resources(x.ctx), func(r *mcp.Resource) string { return r.URI })
		templates = names(x, x.client.ResourceTemplates(x.ctx), func(t *mcp.ResourceTemplate) string { return t.URITemplate })
	}
	for kind, v := range map[string]struct {
		offered []string
		used    map[string]bool
	}{
		"tools": {tools, x.called}, "prompts": {prompts, x.got}, "resources": {resources, x.read},
		"templates": {templates, x.expanded},
	} {
		for _, name := range v.offered {
			if !v.used[name] {
				x.Errorf("%s: %s is offered, and this test has no case for it", kind, name)
			}
		}
		for name := range v.used {
			if !slices.Contains(v.offered, name) {
				x.Errorf("%s: %s has a case, and is not offered", kind, name)
			}
		}
	}
	for name, tool := range x.tools {
		if tool.OutputSchema != nil && !x.checked[name] {
			x.Errorf("tools: %s has an output schema, and no output was held against it", name)
		}
	}
	x.Logf("used: %d tools, %d of them with checked output, %d prompts, %d resources, %d templates",
		len(x.called), len(x.checked), len(x.got), len(x.read), len(x.expanded))
}

// names returns the sorted names of a list.
func names[T any](x *explorer, list func(func(T, error) bool), name func(T) string) []string {
	x.Helper()
	all := map[string]bool{}
	for v, err := range list {
		if err != nil {
			x.Fatal(err)
		}
		all[name(v)] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// call calls a tool and expects success.
func (x *explorer) call(tool string, arguments any, options ...mcpclient.CallOption) *mcp.CallToolResult {
	x.Helper()
	x.called[tool] = true
	r, err := x.client.CallTool(x.ctx, tool, arguments, options...)
	if err != nil {
		x.Fatalf("%s: %v", tool, err)
	}
	if r.IsError {
		x.Fatalf("%s: want it to succeed, got %s", tool, r.Text())
	}
	return r
}

// says calls a tool and expects a text that contains want.
func (x *explorer) says(tool string, arguments any, want string, options ...mcpclient.CallOption) {
	x.Helper()
	if got := x.call(tool, arguments, options...).Text(); !strings.Contains(got, want) {
		x.Errorf("%s: want %q in the text, got %q", tool, want, got)
	}
}

// gives calls a tool and expects structured output that contains the JSON want. The client validates the output against
// the tool's schema.
func (x *explorer) gives(tool string, arguments any, want string) {
	x.Helper()
	x.called[tool], x.checked[tool] = true, true
	got, err := mcpclient.CallToolAs[map[string]any](x.ctx, x.client, tool, arguments)
	if err != nil {
		x.Fatalf("%s: %v", tool, err)
	}
	if err := within(want, got); err != nil {
		x.Errorf("%s: %v", tool, err)
	}
}

// refuses calls a tool and expects an error that contains want.
func (x *explorer) refuses(tool string, arguments any, want string) {
	x.Helper()
	x.called[tool] = true
	_, err := mcpclient.CallToolAs[map[string]any](x.ctx, x.client, tool, arguments)
	if refusal, ok := errors.AsType[*mcp.ToolError](err); !ok || !strings.Contains(refusal.Error(), want) {
		x.Errorf("%s: want it refused with %q, got %v", tool, want, err)
	}
}

// within returns the part of the JSON want that is missing or different in got: an object may have more members, but a
// list not more elements. The string "*" matches any value, and a string that ends with an asterisk matches any text
// with that prefix.
func within(want string, got any) error {
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		return fmt.Errorf("%w in %s", err, want)
	}
	return missing("", w, got)
}

func missing(path string, want, got any) error {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for name, w := range want {
			g, has := object[name]
			if !ok || !has {
				return fmt.Errorf("want %s.%s, got %v", path, name, got)
			}
			if err := missing(path+"."+name, w, g); err != nil {
				return err
			}
		}
		return nil
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Errorf("want %d elements in %s, got %v", len(want), path, got)
		}
		for i := range want {
			if err := missing(fmt.Sprintf("%s[%d]", path, i), want[i], list[i]); err != nil {
				return err
			}
		}
		return nil
	case string:
		if begin, open := strings.CutSuffix(want, "*"); open {
			if text, ok := got.(string); begin == "" && got != nil || ok && strings.HasPrefix(text, begin) {
				return nil
			}
			return fmt.Errorf("want %s to begin with %q, got %v", path, begin, got)
		}
	}
	if want != got {
		return fmt.Errorf("want %s to be %v, got %v", path, want, got)
	}
	return nil
}
