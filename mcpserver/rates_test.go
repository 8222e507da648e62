package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// ratedServer returns a server with a prompt that has a completion, and with a tool that sends many notifications.
func ratedServer(t *testing.T, o mcpserver.Options) *mcpserver.Server {
	t.Helper()
	o.Logging = true
	s := withTool(t, o, "talk", func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		for n := range 10 {
			if err := r.Progress(ctx, float64(n+1), 10, ""); err != nil {
				return nil, err
			}
			if err := r.Log(ctx, mcp.LevelError, "", n); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	must(t, s.AddPrompt(&mcp.Prompt{Name: "p", Arguments: []mcp.PromptArgument{{Name: "a"}}}, review))
	must(t, s.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: "p"}, "a", completing("x")))
	return s
}

const completeA = `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`

func TestRequestsAboveRateAreRefused(t *testing.T) {
	for _, test := range []struct {
		name, method, params string
		rates                mcpserver.Rates
	}{
		{"completions", "completion/complete", completeA,
			mcpserver.Rates{Completions: mcpserver.Rate{PerSecond: 2, Burst: 3}}},
		{"calls of tools", "tools/call", `"name":"talk"`, mcpserver.Rates{ToolCalls: mcpserver.Rate{PerSecond: 2, Burst: 3}}},
	} {
		for _, v := range []mcp.Version{mcp.Version20260728, mcp.Version20251125} {
			t.Run(fmt.Sprint(test.name, " ", v), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := speak(t, ratedServer(t, mcpserver.Options{Rates: test.rates, LogLevel: mcp.LevelEmergency}), v)
					allowed := func(asked int) (n int) {
						for range asked {
							switch m := c.ask(test.method, test.params); {
							case m.Error == nil:
								n++
							case m.Error.Code != mcp.CodeInternalError ||
								!strings.Contains(m.Error.Message, "too many requests of this kind"):
								t.Errorf("got %v", m.Error)
							}
						}
						return n
					}
					if n := allowed(10); n != 3 {
						t.Errorf("%d of 10 at once are answered, want 3", n)
					}
					time.Sleep(time.Second)
					if n := allowed(10); n != 2 {
						t.Errorf("%d of 10 are answered a second later, want 2", n)
					}
					if m := c.ask("prompts/list", ""); m.Error != nil {
						t.Errorf("another method got %v, want a result", m.Error)
					}
					c.bye()
				})
			})
		}
	}
}

func TestHTTPRatesApplyPerAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := ratedServer(t, mcpserver.Options{Rates: mcpserver.Rates{Completions: mcpserver.Rate{PerSecond: 1, Burst: 2}}})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Account: func(r *http.Request) string { return r.Header.Get("Account") }})
		session := map[string]string{}
		for _, who := range []string{"a", "b"} {
			p := w.post(initialize, "Account", who)
			session[who] = p.header.Get("Mcp-Session-Id")
		}
		modern := func(who string) page {
			return w.post(asked(1, "completion/complete", bothMetas, completeA),
				append(modernHeaders("completion/complete", ""), "Account", who)...)
		}
		legacy := func(who string) page {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{%s}}`, completeA)
			return w.post(body, "Account", who, "Mcp-Session-Id", session[who], "Mcp-Protocol-Version", "2025-11-25")
		}
		for i, ask := range []func(string) page{modern, legacy, modern, legacy} {
			want := http.StatusOK
			if i >= 2 {
				want = http.StatusTooManyRequests
			}
			if p := ask("a"); p.status != want || want != http.StatusOK && p.header.Get("Retry-After") == "" {
				t.Errorf("request %d of an account got %d, %v, want %d", i, p.status, p.header, want)
			}
		}
		for who, asked := range map[string]int{"b": 1, "": 10} {
			for range asked {
				if p := modern(who); p.status != http.StatusOK {
					t.Errorf("account %q got %d, want 200", who, p.status)
				}
			}
		}
		session[""] = w.post(initialize).header.Get("Mcp-Session-Id")
		for i := range 3 {
			if p := legacy(""); (p.status == http.StatusOK) != (i < 2) {
				t.Errorf("request %d of a session without an account got %d, want two answered", i, p.status)
			}
		}
		time.Sleep(time.Second)
		if p := modern("a"); p.status != http.StatusOK {
			t.Errorf("a second later the account got %d, want 200", p.status)
		}
		w.end()
	})
}

func TestNotificationsAboveRateAreDroppedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		c := speak(t, ratedServer(t, mcpserver.Options{Telemetry: rec.Telemetry(), Rates: mcpserver.Rates{
			Progress: mcpserver.Rate{PerSecond: 1, Burst: 4}, Logs: mcpserver.Rate{PerSecond: 1, Burst: 3},
		}}), mcp.Version20251125)
		c.send(c.request("tools/call", `"name":"talk","_meta":{"progressToken":1}`))
		sent := strings.Join(c.taken(), "\n")
		for method, want := range map[string]int{mcp.NotificationProgress: 4, mcp.NotificationMessage: 3} {
			if n := strings.Count(sent, method); n != want {
				t.Errorf("%d times %s, want %d of 10", n, method, want)
			}
			lost := rec.Value("mcp_server.notification.drops", "mcp.method.name", method, "mcp_server.drop.reason",
				"rate_limited")
			if lost != int64(10-want) {
				t.Errorf("%d times %s are counted as dropped, want %d", lost, method, 10-want)
			}
		}
		if !strings.Contains(sent, `"result"`) {
			t.Errorf("got %s, want the result", sent)
		}
		c.bye()
	})
}
