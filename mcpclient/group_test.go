package mcpclient_test

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

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// toolbox is a server with these tools. Each tool returns the names of its server and of itself.
func toolbox(server string, tools ...string) transport.Transport {
	s := mcpserver.New(mcp.Implementation{Name: server, Version: "1"}, nil)
	for _, name := range tools {
		err := s.AddTool(&mcp.Tool{Name: name, Description: "of " + server},
			func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(server + " has run " + name)}}, nil
			})
		if err != nil {
			panic(err)
		}
	}
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) })
}

// longName leaves no room for the name of a member.
var longName = strings.Repeat("x", 128)

// deaf is a server that never sends anything.
func deaf() transport.Transport {
	return transport.InMemory(func(ctx context.Context, _ *transport.Peer) { <-ctx.Done() })
}

// grouped runs f in a bubble with a group, and closes the group at the end.
func grouped(t *testing.T, o *mcpclient.GroupOptions, members []mcpclient.Member,
	f func(t *testing.T, g *mcpclient.Group)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g, err := mcpclient.NewGroup(members, o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := g.Close(); err != nil {
				t.Errorf("stop: %v", err)
			}
		}()
		f(t, g)
	})
}

// toolNames returns the names of g's tools. An error appears as its text in parentheses.
func toolNames(ctx context.Context, g *mcpclient.Group, options ...mcpclient.CallOption) (names []string) {
	for tool, err := range g.Tools(ctx, options...) {
		if err != nil {
			names = append(names, "("+err.Error()+")")
			continue
		}
		names = append(names, tool.Name)
	}
	return names
}

func TestGroupMergesToolListsAndRoutesCalls(t *testing.T) {
	members := []mcpclient.Member{
		{Name: "git_hub", Transport: toolbox("GitHub", "search", longName)},
		{Name: "git", Transport: toolbox("git", "hub_search", "log")},
		{Name: "empty", Transport: toolbox("nothing")},
	}
	grouped(t, nil, members, func(t *testing.T, g *mcpclient.Group) {
		if err := g.WaitForReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			n := 0
			for tool, err := range g.Tools(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				r, err := g.CallTool(t.Context(), tool.Name, nil)
				if err != nil {
					t.Fatal(err)
				}
				server := strings.TrimPrefix(tool.Description, "of ")
				if got, want := r.Text(), server+" has run "+tool.Original; got != want {
					t.Errorf("%s: %s, want %s", tool.Name, got, want)
				}
			}
			if n != 4 {
				t.Errorf("got %d tools, want 4", n)
			}
		}
		want := []string{"git-hub_search", "git_hub_search", "git_log"}
		long := func(s string) bool { return strings.Contains(s, "xxx") }
		if got := slices.DeleteFunc(toolNames(t.Context(), g), long); !slices.Equal(got, want) {
			t.Errorf("got the tools %q, want %q and one more", got, want)
		}
	})
}

// A model may use a name that another process listed long ago.
func TestDerivedToolNameIsResolvedWithoutPriorList(t *testing.T) {
	members := []mcpclient.Member{{Name: "a", Transport: toolbox("A", longName)}}
	var name string
	grouped(t, nil, members, func(t *testing.T, g *mcpclient.Group) {
		name = toolNames(t.Context(), g, mcpclient.WaitForReady())[0]
	})
	grouped(t, nil, members, func(t *testing.T, g *mcpclient.Group) {
		r, err := g.CallTool(t.Context(), name, nil, mcpclient.WaitForReady())
		if err != nil || r.Text() != "A has run "+longName {
			t.Errorf("call %s: got %+v, %v, want the original tool", name, r, err)
		}
		_, tool, err := g.Route(t.Context(), "a_x-0123456789")
		if err != nil || tool != "x-0123456789" {
			t.Errorf("got %s, %v, want the name unchanged", tool, err)
		}
	})
}

func TestUnreadyMemberDoesNotDelayOthers(t *testing.T) {
	members := []mcpclient.Member{
		{Name: "slow", Transport: deaf()},
		{Name: "gone", Transport: transport.Stdio{Command: "/no/such/program"}},
		{Name: "good", Transport: toolbox("good", "x")},
	}
	grouped(t, nil, members, func(t *testing.T, g *mcpclient.Group) {
		good, err := g.Client("good")
		if err != nil {
			t.Fatal(err)
		}
		if err := good.WaitForReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		got := toolNames(t.Context(), g)
		if len(got) != 3 || !strings.HasPrefix(got[0], "(slow: ") || !strings.HasPrefix(got[1], "(gone: ") ||
			got[2] != "good_x" {
			t.Errorf("got %q, want an error of each member that is not ready, and the tool", got)
		}
		for _, err := range g.Tools(t.Context()) {
			if m, _ := errors.AsType[*mcpclient.MemberError](err); m == nil || m.Member != "slow" ||
				!errors.Is(err, mcpclient.ErrNotReady) {
				t.Errorf("got %v, want ErrNotReady of slow", err)
			}
			break
		}
		if r, err := g.CallTool(t.Context(), "good_x", nil); err != nil || r.Text() != "good has run x" {
			t.Errorf("got %+v, %v, want the tool's result", r, err)
		}
		if _, err := g.CallTool(t.Context(), "slow_x", nil); !errors.Is(err, mcpclient.ErrNotReady) {
			t.Errorf("got %v, want ErrNotReady", err)
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("it took %v, want no wait for a member", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = g.WaitForReady(ctx)
		if text := fmt.Sprint(err); !strings.Contains(text, "slow: ") || !strings.Contains(text, "gone: ") ||
			strings.Contains(text, "good: ") {
			t.Errorf("got %v, want an error for each member that is not ready", err)
		}
		states := map[string]connstate.State{}
		for name, c := range g.Members() {
			states[name] = c.State()
		}
		if states["good"] != connstate.Ready || states["gone"] != connstate.Closing || states["slow"] == connstate.Ready ||
			len(states) != 3 {
			t.Errorf("got the states %v", states)
		}
	})
}

func TestGroupListWaitsForMembersWithWaitForReady(t *testing.T) {
	members := []mcpclient.Member{{Name: "slow", Transport: deaf()}, {Name: "good", Transport: toolbox("good", "x")},
		{Name: "none", Transport: toolbox("none")}}
	grouped(t, nil, members, func(t *testing.T, g *mcpclient.Group) {
		begun := time.Now()
		got := toolNames(t.Context(), g, mcpclient.WaitForReady(), mcpclient.WithTimeout(5*time.Second))
		if len(got) != 2 || !strings.HasPrefix(got[0], "(slow: ") || got[1] != "good_x" ||
			time.Since(begun) != 5*time.Second {
			t.Errorf("got %q after %v, want the tool, and an error of the member slow", got, time.Since(begun))
		}
		begun = time.Now()
		for tool := range g.Tools(t.Context(), mcpclient.WaitForReady(), mcpclient.WithTimeout(time.Hour)) {
			if tool != nil {
				t.Errorf("got %s first, want the members in their order", tool.Name)
			}
			break
		}
		if time.Since(begun) != time.Hour {
			t.Errorf("it took %v, want an hour", time.Since(begun))
		}
	})
}

func TestStoppedIterationDoesNotWaitForMembers(t *testing.T) {
	members := []mcpclient.Member{{Name: "good", Transport: toolbox("good", "x")}, {Name: "slow", Transport: deaf()}}
	grouped(t, nil, members, func(t *testing.T, g *mcpclient.Group) {
		begun := time.Now()
		for range g.Tools(t.Context(), mcpclient.WaitForReady()) {
			break
		}
		if time.Since(begun) != 0 {
			t.Errorf("it took %v, want no wait for a member", time.Since(begun))
		}
	})
}

func TestGroupMembersCanBeAddedAndRemoved(t *testing.T) {
	grouped(t, nil, nil, func(t *testing.T, g *mcpclient.Group) {
		if got := toolNames(t.Context(), g); len(got) != 0 {
			t.Errorf("got %q of an empty group", got)
		}
		c, err := g.Add(mcpclient.Member{Name: "a_b", Transport: toolbox("A", "x")})
		if err != nil {
			t.Fatal(err)
		}
		for _, same := range []string{"a_b", "a-b"} {
			if _, err := g.Add(mcpclient.Member{Name: same, Transport: toolbox("B")}); err == nil ||
				!strings.Contains(err.Error(), `"a_b"`) {
				t.Errorf("add %s: got %v, want an error that names a_b", same, err)
			}
		}
		for _, bad := range []mcpclient.Member{
			{Transport: toolbox("B")}, {Name: "b"}, {Name: "b", Transport: toolbox("B"),
				Options: &mcpclient.Options{Limits: mcpclient.Limits{Frame: -1}}},
		} {
			if _, err := g.Add(bad); err == nil {
				t.Errorf("add %+v: got no error", bad)
			}
		}
		if got := toolNames(t.Context(), g, mcpclient.WaitForReady()); !slices.Equal(got, []string{"a-b_x"}) {
			t.Errorf("got %q, want the tool of a_b", got)
		}
		if err := g.Remove("a_b"); err != nil || c.State() != connstate.Closing {
			t.Errorf("remove: got %v, the client %v, want it stopped", err, c.State())
		}
		_, noClient := g.Client("a_b")
		_, noTool := g.CallTool(t.Context(), "a-b_x", nil)
		_, noPrefix := g.CallTool(t.Context(), "x", nil)
		for _, err := range []error{noClient, noTool, noPrefix, g.Remove("a_b")} {
			if !errors.Is(err, mcpclient.ErrNoMember) {
				t.Errorf("got %v, want ErrNoMember", err)
			}
		}
		if _, err := g.Add(mcpclient.Member{Name: "a-b", Transport: toolbox("B", "y")}); err != nil {
			t.Errorf("add a member with the name of a removed one: %v", err)
		}
	})
}

func TestGroupClosesMembersConcurrentlyAndPermanently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var members []mcpclient.Member
		for i := range 20 {
			members = append(members, mcpclient.Member{Name: fmt.Sprint(i), Transport: stubbornServer()})
		}
		g, err := mcpclient.NewGroup(members, nil)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		begun := time.Now()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 150*time.Millisecond {
			t.Errorf("it took %v, want the time of one member, about 100 ms", took)
		}
		if _, err := g.Add(members[0]); !errors.Is(err, mcpclient.ErrShutdown) {
			t.Errorf("add: got %v, want ErrShutdown", err)
		}
		if got := toolNames(t.Context(), g); len(got) != 20 || !strings.Contains(got[0], "shut down") {
			t.Errorf("got %q, want 20 errors", got)
		}
		time.Sleep(time.Minute) // wait until the servers have ended
	})
}

// stubbornServer is a server that takes half a minute to notice that its client is gone.
func stubbornServer() transport.Transport {
	return transport.InMemory(func(ctx context.Context, _ *transport.Peer) {
		<-ctx.Done()
		time.Sleep(30 * time.Second)
	})
}

func TestInvalidGroupLeaksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no goroutine may outlive this bubble
		_, err := mcpclient.NewGroup([]mcpclient.Member{{Name: "a", Transport: toolbox("A")},
			{Name: "a", Transport: toolbox("B")}}, nil)
		if err == nil {
			t.Error("got no error for two members with the same name")
		}
		if _, err := mcpclient.NewGroup(nil, &mcpclient.GroupOptions{Separator: "/"}); err == nil {
			t.Error("got no error for an invalid separator")
		}
	})
}

func TestEachMemberHasANameInTelemetry(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	shared := &mcpclient.Options{Name: "all of them", Telemetry: rec.Telemetry()}
	own := &mcpclient.Options{Name: "own", Telemetry: rec.Telemetry()}
	nameless := &mcpclient.Options{Telemetry: rec.Telemetry()}
	members := []mcpclient.Member{
		{Name: "a", Transport: toolbox("A", "x")},
		{Name: "b", Transport: toolbox("B", "x"), Options: own},
		{Name: "c", Transport: toolbox("C", "x"), Options: nameless},
	}
	grouped(t, &mcpclient.GroupOptions{Separator: "__", Options: shared}, members, func(t *testing.T, g *mcpclient.Group) {
		var calls sync.WaitGroup
		for _, m := range members {
			calls.Go(func() {
				if _, err := g.CallTool(t.Context(), m.Name+"__x", nil, mcpclient.WaitForReady()); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
	})
	names := map[string]bool{}
	for _, s := range rec.Spans() {
		for _, a := range s.Attributes() {
			if a.Key == "mcp_client.name" {
				names[a.Value.AsString()] = true
			}
		}
	}
	if len(names) != 3 || !names["a"] || !names["own"] || !names["c"] {
		t.Errorf("got the names %v, want a, own and c", names)
	}
	if shared.Name != "all of them" || nameless.Name != "" {
		t.Error("the options have changed")
	}
}

func TestGroupCallWithoutMemberRecordsOneOperation(t *testing.T) {
	for _, name := range []string{"telemetry of the group", "telemetry of a member"} {
		t.Run(name, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			own := &mcpclient.Options{Telemetry: rec.Telemetry()}
			o := &mcpclient.GroupOptions{Options: own}
			if name == "telemetry of a member" {
				o = nil
			}
			members := []mcpclient.Member{{Name: "a", Transport: toolbox("A", "x"), Options: own}}
			grouped(t, o, members, func(t *testing.T, g *mcpclient.Group) {
				_, err := g.CallTool(t.Context(), "b_x", nil)
				spans := rec.SpansNamed("tools/call b_x", trace.SpanKindClient)
				if len(spans) != 1 || spans[0].Status().Description != err.Error() {
					t.Errorf("got the spans %v, want one with %q", spans, err)
				}
				n := rec.Count("mcp.client.operation.duration", "mcp.method.name", "tools/call", "error.type", "_OTHER")
				if n != 1 {
					t.Errorf("got %d durations, want 1", n)
				}
				if logs := rec.Logs("mcp_client.request.exception"); len(logs) != 1 {
					t.Errorf("got the records %v, want 1", logs)
				}
			})
		})
	}
}

func TestToolListedTwiceAppearsOnce(t *testing.T) {
	twice := transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		answerEach(ctx, peer, func(method string) string {
			if method == mcp.MethodDiscover {
				return `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,` +
					`"cacheScope":"private"}`
			}
			return `{"resultType":"complete","tools":[{"name":"x","description":"first","inputSchema":{"type":"object"}},` +
				`{"name":"x","description":"second","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`
		})
	})
	grouped(t, nil, []mcpclient.Member{{Name: "a", Transport: twice}}, func(t *testing.T, g *mcpclient.Group) {
		for tool, err := range g.Tools(t.Context(), mcpclient.WaitForReady()) {
			if err != nil || tool.Description != "first" {
				t.Errorf("got %+v, %v, want only the first", tool, err)
			}
		}
	})
}

// answerEach answers each request with the result for its method.
func answerEach(ctx context.Context, peer *transport.Peer, result func(method string) string) {
	for {
		raw, err := peer.Receive(ctx)
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal(raw, &request); err != nil {
			return
		}
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result(request.Method))
		if peer.Send(ctx, []byte(answer)) != nil {
			return
		}
	}
}
