package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// saying returns a handler that always returns the same result.
func saying(r *mcp.GetPromptResult, err error) mcpserver.PromptHandler {
	return func(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) { return r, err }
}

// review is the handler of the prompt review, which has all members.
func review(_ context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Description: r.Name, Messages: []*mcp.PromptMessage{
		{Role: mcp.RoleUser, Content: mcp.Text(fmt.Sprint(r.Arguments))},
	}}, nil
}

func prompting(t *testing.T) *mcpserver.Server {
	t.Helper()
	s := bare(t, mcpserver.Options{})
	must(t, s.AddPrompt(&mcp.Prompt{
		Name: "review", Title: "R", Description: "d", Icons: []mcp.Icon{{Src: "https://example.com/a.png"}},
		Meta:      mcp.Meta(`{"k":1}`),
		Arguments: []mcp.PromptArgument{{Name: "code", Title: "C", Description: "e", Required: true}, {Name: "style"}},
	}, review))
	must(t, s.AddPrompt(&mcp.Prompt{Name: "nothing"}, saying(nil, nil)))
	must(t, s.AddPrompt(&mcp.Prompt{Name: "broken"}, saying(nil, errors.New("secret"))))
	must(t, s.AddPrompt(&mcp.Prompt{Name: "null"}, saying(&mcp.GetPromptResult{Messages: []*mcp.PromptMessage{nil}}, nil)))
	must(t, s.AddPrompt(&mcp.Prompt{Name: "empty"},
		saying(&mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser}}}, nil)))
	return s
}

func TestPromptListsFollowRevision(t *testing.T) {
	inEachRevision(t, prompting, func(t *testing.T, c *talk) {
		want := `{` + c.since(mcp.Version20260728, `"ttlMs":0,"cacheScope":"public",`, "") + `"prompts":[{` +
			c.since(mcp.Version20250618, `"_meta":{"k":1},`, "") + `"name":"review",` + c.since(mcp.Version20250618,
			`"title":"R",`, "") +
			`"description":"d",` + c.since(mcp.Version20251125, `"icons":[{"src":"https://example.com/a.png"}],`, "") +
			`"arguments":[{"name":"code",` + c.since(mcp.Version20250618, `"title":"C",`, "") +
			`"description":"e","required":true},{"name":"style"}]},` +
			`{"name":"nothing"},{"name":"broken"},{"name":"null"},{"name":"empty"}]}`
		if got := c.result("prompts/list", ""); got != want {
			t.Errorf("the prompts are\n%s, want\n%s", got, want)
		}
	})
}

func TestPromptsInEachRevision(t *testing.T) {
	inEachRevision(t, prompting, func(t *testing.T, c *talk) {
		message := func(text string) string { return `{"role":"user","content":{"type":"text","text":"` + text + `"}}` }
		for params, want := range map[string]string{
			`"name":"review","arguments":{"code":"x"}`: `{"description":"review","messages":[` +
				message("map[code:x]") + `]}`,
			`"name":"review","arguments":{"code":"","style":"s","more":"m"}`: `{"description":"review","messages":[` +
				message("map[code: more:m style:s]") + `]}`,
			`"name":"nothing"`: `{"messages":[]}`,
		} {
			if got := c.result("prompts/get", params); got != want {
				t.Errorf("{%s} got %s, want %s", params, got, want)
			}
		}
		for params, want := range map[string]string{
			``:                "-32602 params.name is missing, empty or not a string",
			`"name":"nobody"`: "-32602 unknown prompt: nobody",
			`"name":"review"`: "-32602 prompt review: the argument code is missing",
			`"name":"review","arguments":{"style":"s"}`: "-32602 prompt review: the argument code is missing",
			`"name":"broken"`: "-32603 internal error",
			`"name":"null"`:   "-32603 internal error",
			`"name":"empty"`:  "-32603 internal error",
		} {
			if got := c.refused("prompts/get", params); got != want {
				t.Errorf("{%s} is refused with %s, want %s", params, got, want)
			}
		}
		if m := c.ask("prompts/get", `"name":"review","arguments":{"code":7}`); m.Error == nil ||
			m.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("an argument that is no string got %+v, want it refused", m)
		}
	})
}

func TestPromptChangesNotifyClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := prompting(t)
		c := speak(t, s, mcp.Version20250618)
		s.RemovePrompts("nobody")
		time.Sleep(time.Second)
		if out := c.taken(); len(out) > 0 {
			t.Errorf("nothing has changed, and the server sent %q", out)
		}
		s.RemovePrompts("nothing")
		must(t, s.AddPrompt(&mcp.Prompt{Name: "nothing"}, saying(nil, nil)))
		time.Sleep(time.Second)
		if out := c.taken(); len(out) != 1 || decoded(t, out[0]).Method != mcp.NotificationPromptListChanged {
			t.Errorf("the server sent %q, want once that the list has changed", out)
		}
		c.bye()
	})
}

func TestInvalidPromptsAreRejected(t *testing.T) {
	s := prompting(t)
	for want, p := range map[string]*mcp.Prompt{
		"add prompt: no prompt": nil,
		"add prompt: no name":   {},
		"add prompt review: a prompt with this name already exists": {Name: "review"},
		"add prompt x: argument 1 has no name, or the name of another argument": {Name: "x",
			Arguments: []mcp.PromptArgument{{}}},
		"add prompt x: argument 2 has no name, or the name of another argument": {Name: "x",
			Arguments: []mcp.PromptArgument{{Name: "a"}, {Name: "a"}}},
	} {
		wantError(t, s.AddPrompt(p, review), want)
	}
	wantError(t, s.AddPrompt(&mcp.Prompt{Name: "x"}, nil), "add prompt x: no handler")
	if s.AddPrompt(&mcp.Prompt{Name: "x", Meta: mcp.Meta("{x")}, review) == nil {
		t.Error("a prompt with a _meta that is no JSON was added, want an error")
	}
}

func TestSpansOfPromptsCarryTheName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := bare(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		must(t, s.AddPrompt(&mcp.Prompt{Name: "nothing"}, saying(nil, nil)))
		c := speak(t, s, mcp.Version20251125)
		c.result("prompts/get", `"name":"nothing"`)
		if n := rec.Count("mcp.server.operation.duration", "gen_ai.prompt.name", "nothing"); n != 1 {
			t.Errorf("%d durations have the prompt's name, want 1", n)
		}
		c.bye()
	})
}
