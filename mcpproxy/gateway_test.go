package mcpproxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// Revisions of the gateways' members, and of the hosts in front of them.
var revisions = []mcp.Version{mcp.Version20241105, mcp.Version20250618, mcp.Version20260728}

// memberNames has the names of the members, in the order of their revisions.
var memberNames = []string{"old", "mid", "new"}

// around is a gateway with its members and hosts.
type around struct {
	t       *testing.T
	gateway *mcpproxy.Gateway
	servers []*mcptest.Server
}

// begin returns a gateway with a server for each revision. add adds features to each server.
func begin(t *testing.T, o *mcpproxy.GatewayOptions, add func(name string, s *mcptest.Server)) *around {
	t.Helper()
	return beginWith(t, o, mcpclient.Member{}, add)
}

// beginWith is like begin. The members are like the given one.
func beginWith(t *testing.T, o *mcpproxy.GatewayOptions, like mcpclient.Member,
	add func(name string, s *mcptest.Server)) *around {
	t.Helper()
	a := &around{t: t}
	var members []mcpclient.Member
	for i, v := range revisions {
		s := mcptest.NewServer(t, &mcpserver.Options{
			Versions: []mcp.Version{v}, Logging: true, LogLevel: mcp.LevelDebug, Telemetry: telemetry.Off(),
		})
		add(memberNames[i], s)
		a.servers = append(a.servers, s)
		like.Name, like.Transport = memberNames[i], s
		members = append(members, like)
	}
	var own mcpproxy.GatewayOptions
	if o != nil {
		own = *o
	}
	if own.Telemetry == nil {
		own.Telemetry = telemetry.Off()
	}
	var err error
	if a.gateway, err = mcpproxy.NewGateway(members, &own); err != nil {
		t.Fatal(err)
	}
	return a
}

// end closes the gateway, after the hosts have left.
func (a *around) end() {
	if err := a.gateway.Close(); err != nil {
		a.t.Errorf("the gateway stopped with %v", err)
	}
}

// host returns a host that speaks v, on a stream of its own.
func (a *around) host(v mcp.Version, features ...mcpclient.Feature) *mcpclient.Client {
	a.t.Helper()
	t := transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = a.gateway.Serve(ctx, p) })
	c, err := mcpclient.Connect(a.t.Context(), t, &mcpclient.Options{
		Versions: []mcp.Version{v}, Features: features, Telemetry: telemetry.Off(),
		Timeouts: mcpclient.Timeouts{Close: 3 * time.Second},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

// eachHost runs f in a synctest bubble for a host of each revision, in front of members that always run and of members
// that start on demand. Each host has its own gateway.
func eachHost(t *testing.T, add func(name string, s *mcptest.Server), f func(t *testing.T, a *around, v mcp.Version)) {
	for name, like := range map[string]mcpclient.Member{"": {}, " on demand": {Lazy: true, Idle: time.Minute}} {
		for _, v := range revisions {
			t.Run(string(v)+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a := beginWith(t, nil, like, add)
					defer a.end()
					f(t, a, v)
				})
			})
		}
	}
}

func leave(t *testing.T, c *mcpclient.Client) {
	if err := c.Close(); err != nil {
		t.Errorf("the host stopped with %v", err)
	}
}

// with returns a server that answers each method in results with the given JSON.
func with(t testing.TB, results map[string]string) *mcptest.Server {
	return mcptest.NewServer(t, &mcpserver.Options{
		Telemetry:    telemetry.Off(),
		Capabilities: mcp.ServerCapabilities{Tools: &mcp.ListCapability{}, Prompts: &mcp.ListCapability{}},
		Middleware: []func(mcpserver.RequestHandler) mcpserver.RequestHandler{
			func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
				return func(ctx context.Context, r *mcpserver.Request) (any, error) {
					if result, ok := results[r.Method]; ok {
						return json.RawMessage(result), nil
					}
					return next(ctx, r)
				}
			},
		},
	})
}

// addEcho adds the tool echo, which answers with the member's name and the arguments, and the tool refuse, which fails.
func addEcho(name string, s *mcptest.Server) {
	add := func(tool string, h mcpserver.ToolHandler) { must(s.AddTool(&mcp.Tool{Name: tool}, h)) }
	add("echo", func(_ context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(name + " " + string(r.Arguments))}}, nil
	})
	add("refuse", func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, &mcp.Error{Code: -31000, Message: "no " + name, Data: json.RawMessage(`{"a":[1]}`)}
	})
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func toolNames(t *testing.T, c *mcpclient.Client) (names []string) {
	t.Helper()
	for tool, err := range c.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

func textOf(r *mcp.CallToolResult) string {
	var texts []string
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "|")
}

func TestGatewayPresentsToolsOfAllMembers(t *testing.T) {
	eachHost(t, addEcho, func(t *testing.T, a *around, v mcp.Version) {
		c := a.host(v)
		defer leave(t, c)
		want := []string{"old_echo", "old_refuse", "mid_echo", "mid_refuse", "new_echo", "new_refuse"}
		if got := toolNames(t, c); !slices.Equal(got, want) {
			t.Errorf("the host gets the tools %q, want %q", got, want)
		}
		for _, name := range memberNames {
			r, err := c.CallTool(t.Context(), name+"_echo", map[string]int{"x": 1})
			if err != nil || textOf(r) != name+` {"x":1}` {
				t.Errorf("%s_echo answers %+v, %v", name, r, err)
			}
			_, err = c.CallTool(t.Context(), name+"_refuse", nil)
			e, ok := errors.AsType[*mcp.Error](err)
			if !ok || e.Message != "no "+name || string(e.Data) != `{"a":[1]}` {
				t.Errorf("%s_refuse answers %v, want the server's error with its data", name, err)
			}
		}
		_, err := c.CallTool(t.Context(), "else_echo", nil)
		if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != mcp.CodeInvalidParams ||
			!strings.Contains(e.Message, "old_, mid_, new_") {
			t.Errorf("an unknown tool answers %v, want the prefixes of the names", err)
		}
	})
}

func TestGatewayKeepsUnknownJSONMembers(t *testing.T) {
	for _, v := range revisions {
		synctest.Test(t, func(t *testing.T) {
			const tool = `{"name":"a b","inputSchema":{"type":"object"},"vendor":{"x":[1,2]},"description":"d"}`
			const answer = `"content":[{"type":"text","text":"yes","vendor":7}],"vendor":{"y":null}`
			s := with(t, map[string]string{
				mcp.MethodListTools: `{"tools":[` + tool + `,` + tool + `]}`, mcp.MethodCallTool: `{` + answer + `}`,
			})
			g, err := mcpproxy.NewGateway([]mcpclient.Member{{Name: "one", Transport: s, Options: &mcpclient.Options{
				Versions: []mcp.Version{mcp.Version20241105}, Telemetry: telemetry.Off(),
			}}}, &mcpproxy.GatewayOptions{Telemetry: telemetry.Off()})
			must(err)
			a := &around{t: t, gateway: g}
			defer a.end()
			c := a.host(v)
			defer leave(t, c)
			var list, result json.RawMessage
			must(c.Call(t.Context(), mcp.MethodListTools, nil, &list))
			name := "one_a-b-" + strings.Split(strings.Split(string(list), `one_a-b-`)[1], `"`)[0]
			want := `"tools":[` + strings.Replace(tool, "a b", name, 1) + `]`
			if !strings.Contains(string(list), want) {
				t.Errorf("%s: the list is %s, want %s in it", v, list, want)
			}
			must(c.Call(t.Context(), mcp.MethodCallTool, map[string]string{"name": name}, &result))
			if !strings.Contains(string(result), answer) {
				t.Errorf("%s: the result is %s, want %s in it", v, result, answer)
			}
		})
	}
}

func TestDisconnectedMemberIsNamedInErrorsAndReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := begin(t, nil, addEcho)
		defer a.end()
		h := new(heard)
		c := a.host(mcp.Version20250618, h.features()...)
		defer leave(t, c)
		if got := toolNames(t, c); len(got) != 6 {
			t.Fatalf("the host gets %q, want six tools", got)
		}
		must(a.servers[1].AddTool(&mcp.Tool{Name: "hang"},
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}))
		time.Sleep(10 * time.Second)
		hangs := make(chan error)
		go func() {
			_, err := c.CallTool(t.Context(), "mid_hang", nil, mcpclient.WithTimeout(time.Minute))
			hangs <- err
		}()
		synctest.Wait()
		a.servers[1].Refuse(errors.New("gone"))
		a.servers[1].Kill()
		if err := <-hangs; err == nil || !strings.Contains(err.Error(), `the server "mid"`) {
			t.Errorf("the call during which the member dies answers %v, want the member's name", err)
		}
		if got := toolNames(t, c); len(got) != 4 {
			t.Errorf("the host gets %q, want the tools of the other members", got)
		}
		_, err := c.CallTool(t.Context(), "mid_echo", nil)
		if err == nil || !strings.Contains(err.Error(), `the server "mid" is not connected: its state is`) {
			t.Errorf("a call of a disconnected member answers %v, want its name and state", err)
		}
		h.taken()
		a.servers[1].Refuse(nil)
		time.Sleep(time.Minute)
		told := slices.Contains(h.taken(), "tools")
		if got := toolNames(t, c); !told || len(got) != 7 {
			t.Errorf("after the member is back, the host was notified: %v, and gets %q", told, got)
		}
	})
}

func TestMemberThatNeverStartsDelaysOnlyFirstList(t *testing.T) {
	eachHost(t, func(name string, s *mcptest.Server) {
		addEcho(name, s)
		if name == "mid" {
			s.Delay(time.Hour)
		}
	}, func(t *testing.T, a *around, v mcp.Version) {
		begun := time.Now()
		c := a.host(v)
		defer leave(t, c)
		if d := time.Since(begun); d > time.Second {
			t.Errorf("the host was answered after %v, want at once", d)
		}
		for i, most := range []time.Duration{5 * time.Second, 0} {
			begun = time.Now()
			if got := toolNames(t, c); len(got) != 4 || time.Since(begun) > most {
				t.Errorf("list %d: the host got %q after %v, want four after %v at most", i, got, time.Since(begun), most)
			}
		}
	})
}

func TestNewGatewayRejectsInvalidOptions(t *testing.T) {
	s := transport.InMemory(func(context.Context, *transport.Peer) {})
	for _, test := range []struct {
		members []mcpclient.Member
		o       *mcpproxy.GatewayOptions
		want    string
	}{
		{nil, nil, "needs at least one member"},
		{[]mcpclient.Member{{Name: "a"}}, nil, `member "a" has no transport`},
		{[]mcpclient.Member{{Transport: s}}, nil, "a member has no name"},
		{[]mcpclient.Member{{Name: "a b", Transport: s}, {Name: "a-b", Transport: s}}, nil, "prefix a-b_"},
		{[]mcpclient.Member{{Name: "a", Transport: s}}, &mcpproxy.GatewayOptions{Separator: "/"}, `separator "/"`},
		{[]mcpclient.Member{{Name: "a", Transport: s}},
			&mcpproxy.GatewayOptions{Policy: &mcpproxy.Policy{Timeout: -1}}, "the timeout is negative"},
	} {
		if _, err := mcpproxy.NewGateway(test.members, test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v, want %q", test.members, err, test.want)
		}
	}
}

func TestHealthNamesEachMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := begin(t, nil, addEcho)
		defer a.end()
		w := get(a.gateway.HealthHandler())
		if w != `200 {"ready":true,"clients":[]}` {
			t.Errorf("without a host: %s", w)
		}
		c := a.host(mcp.Version20260728)
		defer leave(t, c)
		toolNames(t, c)
		a.servers[2].Refuse(errors.New("gone"))
		a.servers[2].Kill()
		synctest.Wait()
		w = get(a.gateway.HealthHandler())
		for _, want := range []string{"503 ", `"name":"old","state":"ready"`, `"name":"new","state":"backoff"`} {
			if !strings.Contains(w, want) {
				t.Errorf("want %s in %s", want, w)
			}
		}
	})
}

func TestClosedGatewayRejectsHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := begin(t, nil, addEcho)
		c := a.host(mcp.Version20250618)
		toolNames(t, c)
		a.end()
		if _, err := c.CallTool(t.Context(), "old_echo", nil); err == nil {
			t.Error("a call after Close got no error")
		}
		leave(t, c)
		err := a.gateway.Serve(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "the gateway is closed") {
			t.Errorf("Serve returned %v, want the error of a closed gateway", err)
		}
	})
}

// TestGatewayShutdownWaitsForHostOperations ends a gateway during a call of a host.
func TestGatewayShutdownWaitsForHostOperations(t *testing.T) {
	for name, patience := range map[string]time.Duration{
		"the call ends in time": time.Minute, "the context ends first": time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := begin(t, nil, func(_ string, s *mcptest.Server) {
					must(mcpserver.AddTool(s.Server, &mcp.Tool{Name: "slow"}, func(ctx context.Context, _ struct{}) (string, error) {
						select {
						case <-time.After(10 * time.Second):
							return "done", nil
						case <-ctx.Done():
							return "", context.Cause(ctx)
						}
					}))
				})
				host := a.host(mcp.Version20251125)
				defer leave(t, host)
				answered := make(chan string, 1)
				go func() {
					r, err := host.CallTool(t.Context(), "new_slow", nil)
					if err != nil {
						answered <- err.Error()
						return
					}
					answered <- textOf(r)
				}()
				time.Sleep(time.Millisecond) // virtual time
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				err := a.gateway.Shutdown(ctx)
				got := <-answered
				if inTime := patience == time.Minute; (err == nil) != inTime || (got == "done") != inTime {
					t.Errorf("Shutdown: %v; the host's call: %s", err, got)
				}
				if err := a.gateway.Serve(t.Context(), nil); err == nil {
					t.Error("a host was accepted afterwards")
				}
			})
		})
	}
}
