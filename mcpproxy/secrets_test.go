package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/health"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// notSeen redacts the secrets in these tests: sk- with a number, and the values of tokens.
var notSeen = Redaction{Keys: []string{"token"}, Patterns: []string{`sk-\d+`}}

type login struct {
	User  string `json:"user"`
	Token string `json:"token"`
}

// addSecretTools adds features that send secrets in all possible ways.
func addSecretTools(g *guarded, s *mcpserver.Server) {
	add(g.t, s, "login", func(ctx context.Context, in login) (login, error) {
		g.note("login %s", in.Token)
		r := mcpserver.RequestFrom(ctx)
		if err := errors.Join(r.Progress(ctx, 1, 2, "with sk-1"),
			r.Log(ctx, mcp.LevelError, "x", login{User: "sk-2", Token: "t"})); err != nil {
			return login{}, err
		}
		return login{User: "ada sk-3", Token: "t"}, nil
	})
	add(g.t, s, "refuse", func(context.Context, struct{}) (string, error) {
		return "", &mcp.Error{Code: 7, Message: "not sk-4", Data: json.RawMessage(`{"token":1,"x":"sk-5"}`)}
	})
	add(g.t, s, "ask", func(ctx context.Context, _ struct{}) (string, error) {
		r, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
			&mcp.ElicitParams{Message: "for sk-6?", RequestedSchema: json.RawMessage(
				`{"type":"object","properties":{"token":{"type":"string","title":"sk-7"}}}`)})
		if err != nil {
			return "", err
		}
		return string(r.Action), nil
	})
	err := errors.Join(
		mcpserver.AddTool(s, &mcp.Tool{Name: "later"}, func(context.Context, struct{}) (login, error) {
			return login{User: "sk-8", Token: "t"}, nil
		}, mcpserver.TaskTool()),
		s.AddResource(&mcp.Resource{URI: "x:y", Name: "y"},
			func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "x:y", Text: "sk-9"}}}, nil
			}),
		s.AddPrompt(&mcp.Prompt{Name: "p", Description: "sk-10", Arguments: []mcp.PromptArgument{{Name: "token"}}},
			func(_ context.Context, r *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
				g.note("p %s", r.Arguments["token"])
				return &mcp.GetPromptResult{Description: "sk-11"}, nil
			}))
	if err != nil {
		g.t.Fatal(err)
	}
}

// hearing returns options for a host that records the messages that it gets.
func hearing(g **guarded, v mcp.Version) mcpclient.Options {
	return mcpclient.Options{Versions: []mcp.Version{v}, Features: []mcpclient.Feature{
		mcpclient.UseTasks(nil),
		mcpclient.HandleProgress(func(_ context.Context, p *mcp.ProgressParams) { (*g).note("progress %s", p.Message) }),
		mcpclient.HandleLogMessage(func(_ context.Context, m *mcp.LoggingMessageParams) { (*g).note("log %s", m.Data) }),
		mcpclient.HandleElicitation(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			(*g).note("asked %s %s", p.Message, p.RequestedSchema)
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		}),
	}}
}

func TestHostSeesNoSecrets(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		t.Run(string(v), func(t *testing.T) {
			var host *guarded
			serve := func(g *guarded, s *mcpserver.Server) { host = g; addSecretTools(g, s) }
			guarding(t, Policy{Redaction: notSeen}, hearing(&host, v), serve, func(t *testing.T, g *guarded) {
				logging := mcpclient.WithLogLevel(mcp.LevelDebug)
				if v.Era() == mcp.Legacy {
					logging = mcpclient.WithTimeout(time.Minute)
					if err := g.SetLogLevel(t.Context(), mcp.LevelDebug); err != nil {
						t.Fatal(err)
					}
				}
				sees := func(result any, err error) {
					t.Helper()
					text, failed := json.Marshal(result)
					if e, ok := errors.AsType[*mcp.Error](err); ok {
						text = append(text, e.Message+string(e.Data)...)
					} else if err != nil || failed != nil {
						t.Fatal(err, failed)
					}
					if strings.Contains(string(text), "sk-") || !strings.Contains(string(text), "[redacted]") {
						t.Errorf("got %s", text)
					}
				}
				sees(g.CallTool(t.Context(), "login", login{Token: "mine"}, logging,
					mcpclient.WithProgress(func(p *mcp.ProgressParams) { g.note("progress %s", p.Message) })))
				sees(g.CallTool(t.Context(), "refuse", nil))
				sees(g.ReadResource(t.Context(), "x:y"))
				sees(g.GetPrompt(t.Context(), "p", map[string]string{"token": "mine"}))
				sees(g.ListPrompts(t.Context(), nil))
				task, err := g.StartTool(t.Context(), "later", nil)
				if err != nil {
					t.Fatal(err)
				}
				sees(task.Wait(t.Context()))
				if _, err := g.CallTool(t.Context(), "ask", nil); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				log := strings.Join(g.log, "\n")
				for _, want := range []string{
					"login mine", "p mine", "progress with [redacted]", `log {"user":"[redacted]","token":"[redacted]"}`,
					"asked for [redacted]?", `"properties":{"token":{"type":"string","title":"[redacted]"}}`,
				} {
					if !strings.Contains(log, want) {
						t.Errorf("got\n%s\nwant %s", log, want)
					}
				}
				if strings.Contains(log, "sk-") {
					t.Errorf("got\n%s", log)
				}
				g.decided("redacted", "login", 1)
				records := g.rec.Logs("mcp_server.policy.decided")
				if len(records) == 0 {
					t.Error("got no record")
				}
			})
		})
	}
}

func TestSecretsInArgumentsAreHiddenFromServer(t *testing.T) {
	var host *guarded
	o := notSeen
	o.Arguments = true
	serve := func(g *guarded, s *mcpserver.Server) { host = g; addSecretTools(g, s) }
	guarding(t, Policy{Redaction: o}, hearing(&host, mcp.Version20260728), serve, func(t *testing.T, g *guarded) {
		if _, err := g.CallTool(t.Context(), "wait", waitArguments{Token: "mine"}); err != nil {
			t.Error(err)
		}
		if _, err := g.GetPrompt(t.Context(), "p", map[string]string{"token": "mine"}); err != nil {
			t.Error(err)
		}
		if _, err := g.CallTool(t.Context(), "wait", waitArguments{}); err != nil {
			t.Error(err)
		}
		g.noted("wait 0 [redacted]", "p [redacted]", "wait 0 ")
	})
}

// taking is a server that stores the latest request.
type taking struct {
	quick
	took relay.Message
}

func (s *taking) Request(_ context.Context, m relay.Message, answer relay.Answer) { s.took = m }

func TestHeadersDoNotRepeatRedactedValues(t *testing.T) {
	r, err := (&Policy{Redaction: Redaction{Keys: []string{"token"}, Arguments: true}}).compile()
	if err != nil {
		t.Fatal(err)
	}
	g := &guard{rules: r, tel: instrument.NewServer(telemetry.Off(), "x", instrument.Network{})}
	s := new(taking)
	p := &pair{host: quick{}}
	l := newLink(p, relay.Message{}, nil)
	l.server, l.running, p.link = s, false, l
	for params, header := range map[string]map[string]string{
		`{"name":"a","arguments":{"token":"mine"}}`: nil,
		`{"name":"a","arguments":{"topic":"mine"}}`: {"Mcp-Param-A": "mine"},
	} {
		g.request(t.Context(), p, relay.Message{
			Method: mcp.MethodCallTool, Params: json.RawMessage(params), Header: map[string]string{"Mcp-Param-A": "mine"},
		}, func(json.RawMessage, error) {})
		if !maps.Equal(s.took.Header, header) {
			t.Errorf("%s: the server gets the headers %v, want %v", params, s.took.Header, header)
		}
	}
}

func TestReasonOfCancellationIsRedacted(t *testing.T) {
	r, err := (&Policy{Redaction: notSeen}).compile()
	if err != nil {
		t.Fatal(err)
	}
	g := &guard{rules: r}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		own, _, answer := g.asks(ctx, relay.Message{Method: "roots/list"}, func(json.RawMessage, error) {})
		cancel(errors.New("because of sk-1"))
		synctest.Wait()
		if got := context.Cause(own).Error(); got != "because of [redacted]" {
			t.Errorf("got %q", got)
		}
		answer(nil, nil)
		own, _, answer = g.asks(t.Context(), relay.Message{Method: "roots/list"}, func(json.RawMessage, error) {})
		if answer(nil, nil); own.Err() == nil {
			t.Error("want the context to end with the answer")
		}
	})
	for _, c := range []struct{ in, want error }{
		{&relay.Cancelled{Reason: "sk-1"}, &relay.Cancelled{Reason: "[redacted]"}},
		{errNoServer, errNoServer},
		{errMethod, errMethod},
	} {
		if _, got := r.secrets.redactError(c.in); got.Error() != c.want.Error() {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
}

// quick is a server that answers immediately, without allocations.
type quick struct{}

func (quick) Request(_ context.Context, _ relay.Message, answer relay.Answer) { answer(nil, nil) }
func (quick) Notify(context.Context, relay.Message) error                     { return nil }
func (quick) Ready() bool                                                     { return true }
func (quick) Health() health.Connection                                       { return health.Connection{} }
func (quick) Stop(context.Context) error                                      { return nil }
func (quick) Shared() bool                                                    { return false }
func (quick) End(error)                                                       {}

func TestNilPolicyChangesNothing(t *testing.T) {
	p := &pair{host: quick{}}
	l := newLink(p, relay.Message{}, nil)
	l.server, l.running, p.link = quick{}, false, l
	h := &hosts{pairs: map[relay.Peer]*pair{quick{}: p}}
	m := relay.Message{Method: mcp.MethodCallTool, Params: json.RawMessage(`{"name":"a"}`)}
	answer := func(json.RawMessage, error) {}
	ctx := t.Context()
	direct := testing.AllocsPerRun(100, func() { p.request(ctx, m, answer) })
	if got := testing.AllocsPerRun(100, func() { h.ReceiveRequest(ctx, m, quick{}, answer) }); got != direct {
		t.Errorf("a request takes %v allocations, want %v", got, direct)
	}
	if got := testing.AllocsPerRun(100, func() {
		l.ReceiveRequest(ctx, m, nil, answer)
		l.ReceiveNotification(ctx, m, nil)
	}); got != 0 {
		t.Errorf("a message of the server takes %v allocations, want none", got)
	}
}

func TestNewRejectsInvalidPolicy(t *testing.T) {
	o := &Options{Policy: &Policy{MaxConcurrent: -1}, Telemetry: telemetry.Off()}
	if _, err := New(transport.Stdio{Command: "x"}, o); err == nil ||
		err.Error() != "mcpproxy: policy: the number of concurrent calls is negative" {
		t.Errorf("got %v", err)
	}
}
