package apps_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/app"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/apps"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	declared "github.com/mcpotel/mcpotel/mcpserver/apps"
)

// longName leaves no room for the name of a member, so the tool has a derived name in a group.
var longName = strings.Repeat("x", 128)

// member is a server with a view. Other members use the same URI for their views. Its tools return the name of their
// member, and ran records the tools that have run.
func member(t testing.TB, name string, ran *[]string) mcpclient.Member {
	t.Helper()
	s := newServer()
	must(t, declared.AddView(s, &declared.View{URI: uri, HTML: "<p>" + name}))
	add := func(tool string, visibility ...app.Caller) {
		listed, err := declared.ForTool(&mcp.Tool{Name: tool}, uri, visibility...)
		must(t, err)
		must(t, mcpserver.AddTool(s, listed, func(context.Context, struct{}) (string, error) {
			*ran = append(*ran, name+" "+tool)
			return name, nil
		}))
	}
	add("forecast")
	add("refresh", app.App)
	add("explain", app.Model)
	add(longName, app.App)
	return mcpclient.Member{
		Name:      name,
		Transport: transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) }),
	}
}

// grouped runs f in a bubble with a group of the members sky and sea, and of a member between them that never sends
// anything.
func grouped(t *testing.T, f func(t *testing.T, g *mcpclient.Group, ran *[]string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ran := new([]string)
		deaf := transport.InMemory(func(ctx context.Context, _ *transport.Peer) { <-ctx.Done() })
		g, err := mcpclient.NewGroup(
			[]mcpclient.Member{member(t, "sky", ran), {Name: "deaf", Transport: deaf}, member(t, "sea", ran)},
			&mcpclient.GroupOptions{Options: &mcpclient.Options{Telemetry: telemetry.Off()}})
		must(t, err)
		defer func() { must(t, g.Close()) }()
		synctest.Wait() // sky and sea are ready
		f(t, g, ran)
	})
}

func TestModelToolsListsOnlyModelToolsOfGroup(t *testing.T) {
	grouped(t, func(t *testing.T, g *mcpclient.Group, _ *[]string) {
		var got []string
		for tool, err := range apps.ModelTools(t.Context(), g) {
			if failed, ok := errors.AsType[*mcpclient.MemberError](err); ok {
				got = append(got, "without "+failed.Member)
				continue
			}
			must(t, err)
			got = append(got, tool.Name)
		}
		want := []string{"sky_forecast", "sky_explain", "without deaf", "sea_forecast", "sea_explain"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		for tool, err := range apps.ModelTools(t.Context(), g) {
			must(t, err)
			if tool.Name == "sky_forecast" {
				break // a loop may end early
			}
		}
	})
}

func TestEachMemberOfAGroupHasItsOwnView(t *testing.T) {
	grouped(t, func(t *testing.T, g *mcpclient.Group, _ *[]string) {
		seen := 0
		for tool, err := range apps.ModelTools(t.Context(), g) {
			if err != nil {
				continue // an error of the silent member
			}
			seen++
			c, err := g.Client(tool.Member)
			must(t, err)
			v, err := apps.Fetch(t.Context(), c, &tool.Tool)
			if must(t, err); v.URI != uri || v.HTML != "<p>"+tool.Member {
				t.Errorf("%s: got the view %s %s, want the view of %s", tool.Name, v.URI, v.HTML, tool.Member)
			}
			if r, err := apps.CallTool(t.Context(), c, "refresh", nil); err != nil || r.Text() != tool.Member {
				t.Errorf("%s: the view got %v, %v, want the answer of its own server", tool.Name, r, err)
			}
		}
		if seen != 4 {
			t.Errorf("the test saw %d tools, want 4", seen)
		}
	})
}

func TestCallModelToolAcceptsOnlyModelToolsOfGroup(t *testing.T) {
	grouped(t, func(t *testing.T, g *mcpclient.Group, ran *[]string) {
		var hidden string // the derived name of sea's tool that is for apps
		for tool, err := range g.Tools(t.Context()) {
			if err == nil && tool.Original == longName {
				hidden = tool.Name
			}
		}
		begun := time.Now()
		for _, test := range []struct {
			name string
			want error
		}{
			{"sky_forecast", nil},
			{"sea_explain", nil},
			{"sky_refresh", apps.ErrNotVisible},
			{hidden, apps.ErrNotVisible},
			{"sea_unlisted", apps.ErrNotVisible},
			{"refresh", mcpclient.ErrNoMember},
		} {
			r, err := apps.CallModelTool(t.Context(), g, test.name, nil, mcpclient.WaitForReady())
			if !errors.Is(err, test.want) || (r == nil) != (err != nil) {
				t.Errorf("%s: got %v, %v, want the error %v", test.name, r, err, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), test.name) {
				t.Errorf("the error %q does not name %s", err, test.name)
			}
		}
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("the calls took %v, want no wait for a member that is not ready", waited)
		}
		if _, err := apps.CallModelTool(t.Context(), g, "deaf_forecast", nil); !errors.Is(err, mcpclient.ErrNotReady) {
			t.Errorf("got %v, want %v", err, mcpclient.ErrNotReady)
		}
		if want := []string{"sky forecast", "sea explain"}; !slices.Equal(*ran, want) {
			t.Errorf("the tools %q ran, want %q", *ran, want)
		}
	})
}

func TestCallModelToolAcceptsOnlyModelToolsOfClient(t *testing.T) {
	var ran []string
	synctest.Test(t, func(t *testing.T) {
		c, err := mcpclient.New(member(t, "sky", &ran).Transport, &mcpclient.Options{Telemetry: telemetry.Off()})
		must(t, err)
		defer func() { must(t, c.Close()) }()
		// The list waits for the connection, as the call does.
		if r, err := apps.CallModelTool(t.Context(), c, "explain", nil, mcpclient.WaitForReady()); err != nil ||
			r.Text() != "sky" {
			t.Errorf("got %v, %v, want sky", r, err)
		}
		for _, name := range []string{"refresh", "unlisted"} {
			if r, err := apps.CallModelTool(t.Context(), c, name, nil); r != nil || !errors.Is(err, apps.ErrNotVisible) {
				t.Errorf("%s: got %v, %v, want %v", name, r, err, apps.ErrNotVisible)
			}
		}
	})
	if want := []string{"sky explain"}; !slices.Equal(ran, want) {
		t.Errorf("the tools %q ran, want %q", ran, want)
	}
}

func TestViewCallWaitsForConnectionWithWaitForReady(t *testing.T) {
	var ran []string
	synctest.Test(t, func(t *testing.T) {
		c, err := mcpclient.New(member(t, "sky", &ran).Transport, &mcpclient.Options{Telemetry: telemetry.Off()})
		must(t, err)
		defer func() { must(t, c.Close()) }()
		if r, err := apps.CallTool(t.Context(), c, "refresh", nil, mcpclient.WaitForReady()); err != nil ||
			r.Text() != "sky" {
			t.Errorf("got %v, %v, want sky", r, err)
		}
	})
}
