package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// way is a combination of revision and transport.
type way struct {
	version mcp.Version
	http    bool
}

func (w way) String() string {
	if w.http {
		return string(w.version) + "/http"
	}
	return string(w.version) + "/memory"
}

// everyWay returns all revisions from first on, over each transport.
func everyWay(first mcp.Version) (all []way) {
	for _, v := range mcp.SupportedVersions() {
		if v >= first {
			all = append(all, way{v, false}, way{v, true})
		}
	}
	return all
}

// able returns the options of a client that answers every question of a server.
func able(features ...mcpclient.Feature) mcpclient.Options {
	return mcpclient.Options{
		Features: features,
		Capabilities: mcp.ClientCapabilities{
			Roots:       &mcp.RootsCapability{},
			Sampling:    &mcp.SamplingCapability{Tools: mcp.Object{}},
			Elicitation: &mcp.ElicitationCapability{Form: mcp.Object{}, URL: mcp.Object{}},
		},
	}
}

// answers returns handlers of a client for forms, samples and roots.
func answers(name string) []mcpclient.Feature {
	return []mcpclient.Feature{
		mcpclient.HandleRequest(mcp.MethodElicit, func(context.Context, *mcpclient.Request) (any, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": name}}, nil
		}),
		mcpclient.HandleRequest(mcp.MethodCreateMessage, func(_ context.Context, r *mcpclient.Request) (any, error) {
			var p mcp.CreateMessageParams
			if err := r.Decode(&p); err != nil {
				return nil, err
			}
			said := p.Messages[len(p.Messages)-1].Content[0].(*mcp.TextContent).Text
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m",
				Content: mcp.SamplingContent{mcp.Text("re: " + said)}}, nil
		}),
		mcpclient.HandleRequest(mcp.MethodListRoots, func(context.Context, *mcpclient.Request) (any, error) {
			return &mcp.ListRootsResult{Roots: []*mcp.Root{{URI: "file:///work"}}}, nil
		}),
	}
}

// connect returns a client of s.
func connect(t *testing.T, s *mcpserver.Server, w way, o mcpclient.Options) *mcpclient.Client {
	t.Helper()
	o.Versions = []mcp.Version{w.version}
	if o.Telemetry == nil {
		o.Telemetry = checked(t)
	}
	var tr transport.Transport = transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = s.Serve(ctx, p) })
	if w.http {
		h := s.HTTPHandler(nil)
		srv := httptest.NewServer(h)
		t.Cleanup(func() {
			if err := h.Shutdown(context.Background()); err != nil {
				t.Errorf("Shutdown returned %v, want nil", err)
			}
			srv.Close()
		})
		mode := transport.ModeAuto
		if w.version == mcp.Version20241105 {
			mode = transport.ModeSSE
		}
		tr = &transport.HTTP{URL: srv.URL, Mode: mode}
	}
	c, err := mcpclient.Connect(t.Context(), tr, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// callText calls a tool and returns the text of its result.
func callText(t *testing.T, c *mcpclient.Client, tool string) string {
	t.Helper()
	r, err := c.CallTool(t.Context(), tool, nil)
	if err != nil {
		t.Fatalf("the call failed: %v", err)
	}
	if r.IsError {
		return "error: " + r.Text()
	}
	return r.Text()
}

func toldBy(format string, args ...any) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(fmt.Sprintf(format, args...))}}, nil
}

var nameForm = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)

func said(r *mcp.CreateMessageResult) string { return r.Content[0].(*mcp.TextContent).Text }

func prompt(text string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: "user", Content: mcp.SamplingContent{mcp.Text(text)}}},
		MaxTokens: 10,
	}
}

func TestOneHandlerSendsRequestsInEveryRevision(t *testing.T) {
	for _, w := range everyWay(mcp.Version20250618) {
		t.Run(w.String(), func(t *testing.T) {
			var runs, orders atomic.Int32
			s := withTool(t, mcpserver.Options{}, "greet",
				func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					runs.Add(1)
					order, err := mcpserver.Once(ctx, "order", func() (int32, error) { return orders.Add(1), nil })
					if err != nil {
						return nil, err
					}
					user, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
						&mcp.ElicitParams{Message: "Who are you?", RequestedSchema: nameForm})
					if err != nil {
						return nil, fmt.Errorf("elicit: %w", err)
					}
					var greeting mcp.CreateMessageResult
					var roots mcp.ListRootsResult
					err = mcpserver.RequestFrom(ctx).AskAll(ctx,
						mcpserver.AskCreateMessage("greeting", prompt(fmt.Sprint(user.Content["name"])), &greeting),
						mcpserver.AskListRoots("", &roots))
					if err != nil {
						return nil, err
					}
					return toldBy("%d: %s in %s", order, said(&greeting), roots.Roots[0].URI)
				})
			c := connect(t, s, w, able(answers("Ada")...))
			if got, want := callText(t, c, "greet"), "1: re: Ada in file:///work"; got != want {
				t.Errorf("the tool answered %q, want %q", got, want)
			}
			want := int32(1)
			if w.version.Era() == mcp.Modern {
				want = 3
			}
			if runs.Load() != want || orders.Load() != 1 {
				t.Errorf("the handler ran %d times and ordered %d times, want %d and 1", runs.Load(), orders.Load(), want)
			}
		})
	}
}

func TestOldestRevisionsSupportSamplingAndRoots(t *testing.T) {
	for _, w := range everyWay(mcp.Version20241105) {
		t.Run(w.String(), func(t *testing.T) {
			s := withTool(t, mcpserver.Options{}, "tool",
				func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					m, err := mcpserver.RequestFrom(ctx).CreateMessage(ctx, prompt("hi"))
					if err != nil {
						return nil, err
					}
					roots, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
					if err != nil {
						return nil, err
					}
					return toldBy("%s %s", said(m), roots[0].URI)
				})
			c := connect(t, s, w, able(answers("")...))
			if got := callText(t, c, "tool"); got != "re: hi file:///work" {
				t.Errorf("the tool answered %q", got)
			}
		})
	}
}

func TestServerRequestsNeedClientCapability(t *testing.T) {
	urlParams := &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "m", URL: "https://example.com/x"}
	formParams := &mcp.ElicitParams{Message: "m", RequestedSchema: nameForm}
	withTools := prompt("x")
	withTools.Tools = []*mcp.Tool{{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}}
	for _, tt := range []struct {
		name     string
		declared mcp.ClientCapabilities
		ask      *mcpserver.Ask
		need     string // missing capability; empty if the client can be asked
	}{
		{"no roots", mcp.ClientCapabilities{}, mcpserver.AskListRoots("", nil), `{"roots":{}}`},
		{"no sampling", mcp.ClientCapabilities{}, mcpserver.AskCreateMessage("", prompt("x"), nil), `{"sampling":{}}`},
		{"no tools", mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}},
			mcpserver.AskCreateMessage("", withTools, nil), `{"sampling":{"tools":{}}}`},
		{"no elicitation", mcp.ClientCapabilities{}, mcpserver.AskElicit("", formParams, nil), `{"elicitation":{"form":{}}}`},
		{"URLs only", mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{URL: mcp.Object{}}},
			mcpserver.AskElicit("", formParams, nil), `{"elicitation":{"form":{}}}`},
		{"forms only", mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}},
			mcpserver.AskElicit("", urlParams, nil), `{"elicitation":{"url":{}}}`},
		{"forms by default", mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}},
			mcpserver.AskElicit("", formParams, nil), ""},
		{"forms", mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: mcp.Object{}}},
			mcpserver.AskElicit("", formParams, nil), ""},
	} {
		for _, w := range []way{{mcp.Version20251125, false}, {mcp.Version20260728, true}} {
			t.Run(tt.name+"/"+w.String(), func(t *testing.T) {
				var failed error
				s := withTool(t, mcpserver.Options{}, "tool",
					func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						if failed = mcpserver.RequestFrom(ctx).AskAll(ctx, tt.ask); failed != nil {
							return nil, failed
						}
						return toldBy("asked")
					})
				c := connect(t, s, w, mcpclient.Options{Telemetry: checked(t), Features: answers("x"), Capabilities: tt.declared})
				r, err := c.CallTool(t.Context(), "tool", nil)
				if tt.need == "" {
					if err != nil || r.Text() != "asked" {
						t.Errorf("got %+v, %v, want the client asked", r, err)
					}
					return
				}
				if !errors.Is(failed, mcpserver.ErrUnsupported) {
					t.Errorf("asking failed with %v, want %v", failed, mcpserver.ErrUnsupported)
				}
				if w.version.Era() == mcp.Legacy {
					if err != nil || !r.IsError || !strings.Contains(r.Text(), tt.need) {
						t.Errorf("got %+v, %v, want a result with isError that names %s", r, err, tt.need)
					}
					return
				}
				e, ok := errors.AsType[*mcpclient.Error](err)
				if !ok || e.Server == nil || e.Server.Code != mcp.CodeMissingClientCapability ||
					string(e.Server.Data) != `{"requiredCapabilities":`+tt.need+`}` {
					t.Errorf("got %v, want -32021 with %s", err, tt.need)
				}
			})
		}
	}
}

func TestLegacyClientErrorIsReturnedToHandler(t *testing.T) {
	var failed error
	s := withTool(t, mcpserver.Options{}, "tool",
		func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			_, failed = mcpserver.RequestFrom(ctx).CreateMessage(ctx, prompt("x"))
			return nil, failed
		})
	c := connect(t, s, way{mcp.Version20251125, false}, able(
		mcpclient.HandleRequest(mcp.MethodCreateMessage, func(context.Context, *mcpclient.Request) (any, error) {
			return nil, &mcp.Error{Code: -1, Message: "the user says no", Data: json.RawMessage(`[1]`)}
		})))
	r, err := c.CallTool(t.Context(), "tool", nil)
	if err != nil || !r.IsError || r.Text() != "sampling/createMessage: the client answered: the user says no (-1)" {
		t.Errorf("got %+v, %v, want the tool's report", r, err)
	}
	if e, ok := errors.AsType[*mcpserver.ClientError](failed); !ok || e.Code != -1 || e.Message != "the user says no" ||
		string(e.Data) != "[1]" {
		t.Errorf("asking failed with %#v, want the client's error", failed)
	}
}

func TestConcurrentServerRequests(t *testing.T) {
	for _, w := range everyWay(mcp.Version20251125) {
		t.Run(w.String(), func(t *testing.T) {
			s := mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, &mcpserver.Options{Telemetry: checked(t)})
			type in struct {
				N int `json:"n"`
			}
			err := mcpserver.AddTool(s, &mcp.Tool{Name: "tool"}, func(ctx context.Context, in in) (string, error) {
				asks, results := make([]*mcpserver.Ask, 3), make([]mcp.CreateMessageResult, 3)
				for i := range asks {
					asks[i] = mcpserver.AskCreateMessage("", prompt(fmt.Sprint(in.N, "-", i)), &results[i])
				}
				if err := mcpserver.RequestFrom(ctx).AskAll(ctx, asks...); err != nil {
					return "", err
				}
				return said(&results[0]) + said(&results[1]) + said(&results[2]), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			c := connect(t, s, w, able(answers("")...))
			failures := make(chan error, 20)
			for n := range cap(failures) {
				go func() {
					r, err := c.CallTool(t.Context(), "tool", in{n})
					if want := strings.ReplaceAll("re: N-0re: N-1re: N-2", "N", fmt.Sprint(n)); err == nil && r.Text() != want {
						err = fmt.Errorf("got %q, want %q", r.Text(), want)
					}
					failures <- err
				}()
			}
			for range cap(failures) {
				if err := <-failures; err != nil {
					t.Error(err)
				}
			}
		})
	}
}
