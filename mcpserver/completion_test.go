package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// completing returns a handler that always returns values.
func completing(values ...string) mcpserver.CompletionHandler {
	return func(context.Context, *mcpserver.CompleteRequest) ([]string, error) { return values, nil }
}

func completer(t *testing.T) *mcpserver.Server {
	t.Helper()
	s := library(t)
	must(t, s.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: "later"}, "language",
		func(_ context.Context, r *mcpserver.CompleteRequest) ([]string, error) {
			return []string{fmt.Sprint(r.Ref.Name, " ", r.Argument, " ", r.Value, " ", r.Context)}, nil
		}))
	many := make([]string, 250)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	must(t, s.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: "later"}, "many", completing(many...)))
	must(t, s.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: "later"}, "hundred", completing(many[:100]...)))
	must(t, s.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: "later"}, "unlisted", completing("x")))
	must(t, s.AddCompletion(mcp.CompleteRef{Type: mcp.RefResource, URI: "test://user/{id}"}, "id",
		completing("ada", "bob")))
	must(t, s.AddPrompt(&mcp.Prompt{Name: "later", Arguments: []mcp.PromptArgument{
		{Name: "language"}, {Name: "many"}, {Name: "hundred"}, {Name: "free"},
	}}, review))
	return s
}

func TestCompletionInEachRevision(t *testing.T) {
	inEachRevision(t, completer, func(t *testing.T, c *talk) {
		const (
			prompt = `"ref":{"type":"ref/prompt","name":"later"}`
			ofUser = `"ref":{"type":"ref/resource","uri":"test://user/`
			x      = `"argument":{"name":"x","value":""}`
			python = `"argument":{"name":"language","value":"py"},"context":{"arguments":{"a":"b"}}`
			found  = `{"values":["ada","bob"],"total":2}`
		)
		for params, want := range map[string]string{
			prompt + "," + python: `{"values":["later language py map[a:b]"],"total":1}`,
			prompt + `,"argument":{"name":"language","value":""}`: `{"values":["later language  map[]"],"total":1}`,
			prompt + `,"argument":{"name":"free","value":"x"}`:    `{"values":[]}`,
			ofUser + `{id}"},"argument":{"name":"id","value":""}`: found,
			ofUser + `a"},"argument":{"name":"id","value":"a"}`:   found,
		} {
			if got := c.result("completion/complete", params); got != `{"completion":`+want+`}` {
				t.Errorf("{%s} got %s, want %s", params, got, want)
			}
		}
		for params, want := range map[string]string{
			`"ref":{"type":"ref/prompt","name":"nobody"},` + x:    "-32602 unknown prompt: nobody",
			prompt + `,"argument":{"name":"unlisted","value":""}`: `-32602 prompt later has no argument "unlisted"`,
			`"ref":{"type":"ref/resource","uri":"test://a"},` + x: "-32602 unknown resource template: test://a",
			ofUser + `1"},` + x:                         `-32602 resource template test://user/{id} has no variable "x"`,
			`"ref":{"type":"ref/else","name":"x"},` + x: `-32602 unknown type of reference: "ref/else"`,
		} {
			if got := c.refused("completion/complete", params); got != want {
				t.Errorf("{%s} is refused with %s, want %s", params, got, want)
			}
		}
		if m := c.ask("completion/complete", `"ref":7`); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("params of the wrong type got %+v, want them refused", m)
		}
		for argument, more := range map[string]bool{"many": true, "hundred": false} {
			var r mcp.CompleteResult
			must(t, json.Unmarshal([]byte(c.result("completion/complete", prompt+`,"argument":{"name":"`+argument+
				`","value":""}`)), &r))
			total := map[bool]int64{true: 250, false: 100}[more]
			if n := len(r.Completion.Values); n != 100 || r.Completion.HasMore != more || *r.Completion.Total != total {
				t.Errorf("%s: got %d of %d values, more %v, want 100 of %d", argument, n, *r.Completion.Total, r.Completion.HasMore,
					total)
			}
		}
	})
}

func TestInvalidCompletionHandlersAreRejected(t *testing.T) {
	s := completer(t)
	for want, ref := range map[string]mcp.CompleteRef{
		`add completion: the type of the reference is ""`:                {},
		"add completion: ref/prompt: the reference has no name or URI":   {Type: mcp.RefPrompt, URI: "x"},
		"add completion: ref/resource: the reference has no name or URI": {Type: mcp.RefResource, Name: "x"},
		"add completion: ref/resource test://user/{id}: the argument id already has a completion": {Type: mcp.RefResource,
			URI: "test://user/{id}"},
	} {
		wantError(t, s.AddCompletion(ref, "id", completing()), want)
	}
	ref := mcp.CompleteRef{Type: mcp.RefPrompt, Name: "p"}
	wantError(t, s.AddCompletion(ref, "", completing()), "add completion: ref/prompt p: no argument")
	wantError(t, s.AddCompletion(ref, "a", nil), "add completion: no handler")
}
