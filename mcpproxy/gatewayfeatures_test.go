package mcpproxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// addThings adds a prompt, a resource, a template, and completions.
func addThings(name string, s *mcptest.Server) {
	must(s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []mcp.PromptArgument{{Name: "who"}}},
		func(_ context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser,
				Content: mcp.Text(name + " greets " + r.Arguments["who"])}}}, nil
		}))
	read := func(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.URI, Text: name + " has it"}}}, nil
	}
	must(s.AddResource(&mcp.Resource{URI: name + "://thing", Name: "thing"}, read))
	must(s.AddResource(&mcp.Resource{URI: "all://thing", Name: "of " + name}, read))
	must(s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "files://" + name + "/{x}", Name: "file"}, read))
	complete := func(_ context.Context, r *mcpserver.CompleteRequest) ([]string, error) {
		return []string{name + " " + r.Argument + " " + r.Value}, nil
	}
	must(s.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: "greet"}, "who", complete))
	must(s.AddCompletion(mcp.CompleteRef{Type: mcp.RefResource, URI: "files://" + name + "/{x}"}, "x", complete))
}

func TestPromptsAndCompletionsGoToTheirMember(t *testing.T) {
	eachHost(t, addThings, func(t *testing.T, a *around, v mcp.Version) {
		c := a.host(v)
		defer leave(t, c)
		var names []string
		for p, err := range c.Prompts(t.Context()) {
			must(err)
			names = append(names, p.Name)
		}
		if want := []string{"old_greet", "mid_greet", "new_greet"}; !slices.Equal(names, want) {
			t.Errorf("the host gets the prompts %q, want %q", names, want)
		}
		for range c.ResourceTemplates(t.Context()) {
		}
		for _, name := range memberNames {
			r, err := c.GetPrompt(t.Context(), name+"_greet", map[string]string{"who": "you"})
			if err != nil || r.Messages[0].Content.(*mcp.TextContent).Text != name+" greets you" {
				t.Errorf("%s_greet answers %+v, %v", name, r, err)
			}
			for _, test := range []struct {
				ref  mcp.CompleteRef
				of   string
				want string
			}{
				{mcp.CompleteRef{Type: mcp.RefPrompt, Name: name + "_greet"}, "who", name + " who a"},
				{mcp.CompleteRef{Type: mcp.RefResource, URI: "files://" + name + "/{x}"}, "x", name + " x a"},
			} {
				got, err := c.Complete(t.Context(), test.ref, mcp.CompleteArgument{Name: test.of, Value: "a"}, nil)
				if err != nil || !slices.Equal(got.Completion.Values, []string{test.want}) {
					t.Errorf("%+v completes to %+v, %v, want %q", test.ref, got, err, test.want)
				}
			}
		}
		if _, err := c.GetPrompt(t.Context(), "greet", nil); !errors.Is(err, mcp.ErrInvalidParams) {
			t.Errorf("an unknown prompt answers %v, want -32602", err)
		}
	})
}

func TestResourcesAreReadFromTheirMember(t *testing.T) {
	eachHost(t, addThings, func(t *testing.T, a *around, v mcp.Version) {
		c := a.host(v)
		defer leave(t, c)
		for _, listed := range []bool{false, true} {
			if listed {
				var uris, templates []string
				for r, err := range c.Resources(t.Context()) {
					must(err)
					uris = append(uris, r.URI)
				}
				for r, err := range c.ResourceTemplates(t.Context()) {
					must(err)
					templates = append(templates, r.URITemplate)
				}
				if want := []string{"old://thing", "all://thing", "mid://thing", "new://thing"}; !slices.Equal(uris, want) {
					t.Errorf("the host gets the resources %q, want %q", uris, want)
				}
				if len(templates) != 3 {
					t.Errorf("the host gets the templates %q, want three", templates)
				}
			}
			for uri, of := range map[string]string{
				"old://thing": "old", "mid://thing": "mid", "new://thing": "new", "all://thing": "old",
				"files://mid/7": "mid", "files://new/7": "new",
			} {
				r, err := c.ReadResource(t.Context(), uri)
				if err != nil || r.Contents[0].Text != of+" has it" {
					t.Errorf("listed %v: %s answers %+v, %v, want the resource of %s", listed, uri, r, err, of)
				}
			}
			if _, err := c.ReadResource(t.Context(), "no://thing"); !errors.Is(err, mcp.ErrResourceNotFound) {
				t.Errorf("an unknown resource answers %v, want the error for a missing resource", err)
			}
		}
	})
}

// heard records the messages that a host gets. It is safe for concurrent use.
type heard struct {
	mu  sync.Mutex
	all []string
}

func (h *heard) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, fmt.Sprintf(format, args...))
}

// taken returns the messages since the last call, sorted.
func (h *heard) taken() []string {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.all
	h.all = nil
	slices.Sort(all)
	return all
}

func (h *heard) features() []mcpclient.Feature {
	return []mcpclient.Feature{
		mcpclient.HandleToolListChanged(func(context.Context) { h.note("tools") }),
		mcpclient.HandlePromptListChanged(func(context.Context) { h.note("prompts") }),
		mcpclient.HandleResourceListChanged(func(context.Context) { h.note("resources") }),
		mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) { h.note("updated %s", uri) }),
		mcpclient.HandleLogMessage(func(_ context.Context, m *mcp.LoggingMessageParams) {
			h.note("%s %s %s", m.Level, m.Logger, m.Data)
		}),
	}
}

func TestChangesOfEachMemberReachHosts(t *testing.T) {
	eachHost(t, func(name string, s *mcptest.Server) { addEcho(name, s); addThings(name, s) },
		func(t *testing.T, a *around, v mcp.Version) {
			h := new(heard)
			c := a.host(v, h.features()...)
			defer leave(t, c)
			toolNames(t, c)
			for _, name := range memberNames {
				if err := c.SubscribeResource(t.Context(), name+"://thing"); err != nil {
					t.Errorf("%s://thing cannot be watched: %v", name, err)
				}
			}
			time.Sleep(10 * time.Second) // the client no longer merges reads of a subscription
			h.taken()
			for i, s := range a.servers {
				s.RemoveTools("echo")
				s.RemovePrompts("greet")
				s.RemoveResources("all://thing")
				s.ResourceUpdated(memberNames[i] + "://thing")
				time.Sleep(time.Second)
				want := []string{"prompts", "resources", "tools", "updated " + memberNames[i] + "://thing"}
				if got := h.taken(); !slices.Equal(got, want) {
					t.Errorf("from %s the host gets %q, want %q", memberNames[i], got, want)
				}
			}
			must(c.UnsubscribeResource(t.Context(), "mid://thing"))
			a.servers[1].ResourceUpdated("mid://thing")
			time.Sleep(time.Second)
			if got := h.taken(); len(got) > 0 {
				t.Errorf("after unsubscribing the host gets %q", got)
			}
		})
}

// addWork adds tools that report progress, log, wait for the end, and send requests.
func addWork(ended *heard) func(name string, s *mcptest.Server) {
	return func(name string, s *mcptest.Server) {
		must(s.AddTool(&mcp.Tool{Name: "work"},
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				must(r.Progress(ctx, 1, 2, "half"))
				must(r.Log(ctx, mcp.LevelWarning, "part", map[string]int{"n": 1}))
				must(r.Log(ctx, mcp.LevelDebug, "", "less"))
				return &mcp.CallToolResult{}, nil
			}))
		must(s.AddTool(&mcp.Tool{Name: "wait"},
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				ended.note("%s ended", name)
				return nil, ctx.Err()
			}))
		must(s.AddTool(&mcp.Tool{Name: "sample"},
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				said, err := r.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 10,
					Messages: []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text(name)}}}})
				if err != nil {
					return nil, err
				}
				roots, err := r.ListRoots(ctx)
				if err != nil {
					return nil, err
				}
				return &mcp.CallToolResult{Content: mcp.ContentList{said.Content[0], mcp.Text(roots[0].URI)}}, nil
			}))
		must(s.AddTool(&mcp.Tool{Name: "elicit"},
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				said, err := r.Elicit(ctx, &mcp.ElicitParams{Message: name + "?",
					RequestedSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)})
				if err != nil {
					return nil, err
				}
				return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(fmt.Sprint(said.Action, said.Content["n"]))}}, nil
			}))
	}
}

func TestProgressAndLogMessagesReachHostOfCall(t *testing.T) {
	eachHost(t, addWork(new(heard)), func(t *testing.T, a *around, v mcp.Version) {
		h := new(heard)
		c := a.host(v, h.features()...)
		defer leave(t, c)
		toolNames(t, c)
		must(c.SetLogLevel(t.Context(), mcp.LevelInfo))
		time.Sleep(time.Second)
		h.taken()
		for _, name := range memberNames {
			_, err := c.CallTool(t.Context(), name+"_work", nil, mcpclient.WithProgress(func(p *mcp.ProgressParams) {
				h.note("progress %v %v %s", p.Progress, *p.Total, p.Message)
			}))
			must(err)
			message := "half"
			if v < mcp.Version20250326 || name == "old" { // old has no progress messages
				message = ""
			}
			want := []string{"progress 1 2 " + message, "warning " + name + `/part {"n":1}`}
			if got := h.taken(); !slices.Equal(got, want) {
				t.Errorf("from %s the host gets %q, want %q", name, got, want)
			}
		}
	})
}

func TestCancelledCallEndsAtMember(t *testing.T) {
	ended := new(heard)
	eachHost(t, addWork(ended), func(t *testing.T, a *around, v mcp.Version) {
		c := a.host(v)
		defer leave(t, c)
		toolNames(t, c)
		for _, name := range memberNames {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := c.CallTool(ctx, name+"_wait", nil); err == nil {
				t.Errorf("%s_wait got no error", name)
			}
			cancel()
			time.Sleep(time.Second)
			if got := ended.taken(); !slices.Equal(got, []string{name + " ended"}) {
				t.Errorf("after a cancelled call of %s: %q", name, got)
			}
		}
	})
}

// able returns the features of a host that answers requests of servers.
func able() []mcpclient.Feature {
	return []mcpclient.Feature{
		mcpclient.UseRoots(&mcp.Root{URI: "file:///home"}),
		mcpclient.HandleSampling(func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			text := p.Messages[0].Content[0].(*mcp.TextContent).Text
			return &mcp.CreateMessageResult{Model: "m", Role: mcp.RoleAssistant,
				Content: mcp.SamplingContent{mcp.Text("said " + text)}}, nil
		}, nil),
		mcpclient.HandleElicitation(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"n": 7}}, nil
		}),
	}
}

// TestMemberRequestOutlivesParallelRequest uses a tool that sends a request while a later call is in flight. The later
// call ends before the answer. The gateway cannot know which of the two calls has sent the request.
func TestMemberRequestOutlivesParallelRequest(t *testing.T) {
	asking := func(name string, s *mcptest.Server) {
		must(mcpserver.AddTool(s.Server, &mcp.Tool{Name: "later"}, func(ctx context.Context, _ struct{}) (string, error) {
			time.Sleep(time.Second)
			said, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
				&mcp.ElicitParams{Message: "sure?", RequestedSchema: json.RawMessage(
					`{"type":"object","properties":{"n":{"type":"integer"}}}`)})
			if err != nil {
				return "", err
			}
			return string(said.Action), nil
		}))
		must(mcpserver.AddTool(s.Server, &mcp.Tool{Name: "nap"}, func(ctx context.Context, _ struct{}) (string, error) {
			time.Sleep(2 * time.Second)
			return "", nil
		}))
	}
	eachHost(t, asking, func(t *testing.T, a *around, v mcp.Version) {
		if v < mcp.Version20250618 || v >= mcp.Version20260728 {
			return // the host gets no request, or gets it in the answer to its own call
		}
		c := a.host(v, mcpclient.HandleElicitation(func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			time.Sleep(3 * time.Second)
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		}))
		defer leave(t, c)
		toolNames(t, c)
		for _, name := range memberNames {
			if name == "old" {
				continue // the host lacks elicitation
			}
			var nap sync.WaitGroup
			nap.Go(func() {
				time.Sleep(time.Second / 2)
				_, err := c.CallTool(t.Context(), name+"_nap", nil)
				must(err)
			})
			r, err := c.CallTool(t.Context(), name+"_later", nil)
			if err != nil || r.IsError || textOf(r) != "decline" {
				t.Errorf("%s: got %+v, %v, want a decline of the host", name, r, err)
			}
			nap.Wait()
		}
	})
}

func TestHostAnswersRequestsOfMember(t *testing.T) {
	eachHost(t, addWork(new(heard)), func(t *testing.T, a *around, v mcp.Version) {
		c := a.host(v, able()...)
		defer leave(t, c)
		toolNames(t, c)
		for _, name := range memberNames {
			sampled, err := c.CallTool(t.Context(), name+"_sample", nil)
			must(err)
			elicited, err := c.CallTool(t.Context(), name+"_elicit", nil)
			if e, ok := errors.AsType[*mcp.Error](err); ok { // a server of 2026-07-28 reports a missing capability
				elicited = &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(e.Message)}, IsError: true}
			}
			if v == mcp.Version20260728 && name != "new" {
				for _, r := range []*mcp.CallToolResult{sampled, elicited} {
					if !r.IsError {
						t.Errorf("%s cannot ask this host, but answers %s", name, textOf(r))
					}
				}
				continue
			}
			if got, want := textOf(sampled), "said "+name+"|file:///home"; got != want {
				t.Errorf("%s_sample answers %q, want %q", name, got, want)
			}
			can := name != "old" && v != mcp.Version20241105 // host and member support elicitation
			if got := textOf(elicited); can && got != "accept7" || can == elicited.IsError {
				t.Errorf("%s_elicit answers %q, want the host's answer: %v", name, got, can)
			}
		}
	})
}

func TestServerRequestNeedsHostCapability(t *testing.T) {
	eachHost(t, addWork(new(heard)), func(t *testing.T, a *around, v mcp.Version) {
		c := a.host(v)
		defer leave(t, c)
		toolNames(t, c)
		for _, name := range memberNames {
			r, err := c.CallTool(t.Context(), name+"_sample", nil)
			if err == nil && !r.IsError || err != nil && !strings.Contains(err.Error(), "sampling") {
				t.Errorf("%s_sample answers %+v, %v, want the error for a host without sampling", name, r, err)
			}
		}
	})
}

func TestRootChangesReachMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := new(heard)
		a := begin(t, nil, func(name string, s *mcptest.Server) {
			addEcho(name, s)
			must(s.HandleRootsChanged(func(context.Context, *mcpserver.Session) { told.note("%s", name) }))
		})
		defer a.end()
		c := a.host(mcp.Version20250618, able()...)
		defer leave(t, c)
		toolNames(t, c)
		must(c.SetRoots(t.Context(), &mcp.Root{URI: "file:///tmp"}))
		time.Sleep(time.Second)
		if got := told.taken(); !slices.Equal(got, []string{"mid", "old"}) {
			t.Errorf("notified members: %q, want all that can be notified", got)
		}
	})
}
