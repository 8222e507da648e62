package apps_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/app"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/apps"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	declared "github.com/mcpotel/mcpotel/mcpserver/apps"
)

const uri = "ui://weather/forecast"

func newServer() *mcpserver.Server {
	return mcpserver.New(mcp.Implementation{Name: "weather", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off()})
}

func connect(t testing.TB, s *mcpserver.Server, o *mcpclient.Options) *mcpclient.Client {
	t.Helper()
	o.Telemetry = telemetry.Off()
	c, err := mcpclient.Connect(t.Context(),
		transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) }), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func show(ctx context.Context, _ struct{}) (string, error) {
	if declared.Supported(ctx) {
		return "shown", nil
	}
	return "told", nil
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestViewWorksInEachRevisionWithMetadata(t *testing.T) {
	meta := app.ResourceMeta{CSP: &app.CSP{ConnectDomains: []string{"https://api.example"}}, PrefersBorder: new(true)}
	s := newServer()
	refresh, err := declared.ForTool(&mcp.Tool{Name: "refresh"}, uri, app.App)
	must(t, err)
	must(t,
		declared.AddTool(s, &mcp.Tool{Name: "forecast"}, &declared.View{URI: uri, HTML: "<!doctype html>", Meta: meta}, show),
		mcpserver.AddTool(s, refresh, show),
		mcpserver.AddTool(s, &mcp.Tool{Name: "plain"}, show))
	for _, version := range []mcp.Version{mcp.Version20260728, mcp.Version20251125, mcp.Version20250618} {
		c := connect(t, s, &mcpclient.Options{
			Versions: []mcp.Version{version}, Capabilities: mcp.ClientCapabilities{Extensions: apps.Capability()},
		})
		var names []string
		for tool, err := range apps.ModelTools(t.Context(), c) {
			must(t, err)
			names = append(names, tool.Name)
			v, err := apps.Fetch(t.Context(), c, tool)
			if tool.Name == "plain" {
				if !errors.Is(err, apps.ErrNoView) {
					t.Errorf("%s: got %v, want %v", version, err, apps.ErrNoView)
				}
				continue
			}
			if want := (&apps.View{URI: uri, HTML: "<!doctype html>", Meta: meta}); err != nil || !reflect.DeepEqual(v, want) {
				t.Errorf("%s: got %+v, %v, want %+v", version, v, err, want)
			}
		}
		if want := []string{"forecast", "plain"}; !slices.Equal(names, want) {
			t.Errorf("%s: the model sees %v, want %v", version, names, want)
		}
		if r, err := apps.CallTool(t.Context(), c, "refresh", nil); err != nil || r.Text() != "shown" {
			t.Errorf("%s: got %v, %v, want shown", version, r, err)
		}
		plain := connect(t, s, &mcpclient.Options{Versions: []mcp.Version{version}})
		if r, err := plain.CallTool(t.Context(), "forecast", nil); err != nil || r.Text() != "told" {
			t.Errorf("%s: got %v, %v, want told, because the client has not declared the extension", version, r, err)
		}
	}
}

func TestAppCannotCallModelOnlyTool(t *testing.T) {
	called := false
	s := newServer()
	secret, err := declared.ForTool(&mcp.Tool{Name: "secret"}, uri, app.Model)
	must(t, err)
	must(t, mcpserver.AddTool(s, secret, func(context.Context, struct{}) (string, error) {
		called = true
		return "", nil
	}))
	c := connect(t, s, &mcpclient.Options{})
	for _, name := range []string{"secret", "of another server"} {
		if r, err := apps.CallTool(t.Context(), c, name, nil); r != nil || !errors.Is(err, apps.ErrNotVisible) {
			t.Errorf("%s: got %v, %v, want %v", name, r, err, apps.ErrNotVisible)
		}
	}
	if must(t, c.Close()); called {
		t.Error("the tool was called")
	}
	if _, err := apps.CallTool(t.Context(), c, "secret", nil); err == nil || errors.Is(err, apps.ErrNotVisible) {
		t.Errorf("got %v, want the error of the list", err)
	}
}

func TestInvalidViewsAreRejected(t *testing.T) {
	good := func() *mcp.ResourceContents { return &mcp.ResourceContents{MIMEType: app.MIMEType, Text: "<p>"} }
	blob := func(b string) *mcp.ResourceContents {
		c := mcp.BlobContents([]byte(b))
		c.MIMEType = app.MIMEType
		return c
	}
	for name, test := range map[string]struct {
		contents []*mcp.ResourceContents
		want     string // part of the error or, without one, the view's HTML
		fails    bool
	}{
		"text": {contents: []*mcp.ResourceContents{good()}, want: "<p>"},
		"blob": {contents: []*mcp.ResourceContents{blob("<b>")}, want: "<b>"},
		"none": {contents: []*mcp.ResourceContents{}, want: "exactly one content", fails: true},
		"two":  {contents: []*mcp.ResourceContents{good(), good()}, want: "exactly one content", fails: true},
		"another URI": {
			contents: []*mcp.ResourceContents{{URI: "ui://b", MIMEType: app.MIMEType, Text: "<p>"}}, want: "exactly one content",
			fails: true,
		},
		"another type": {contents: []*mcp.ResourceContents{{MIMEType: "text/html", Text: "<p>"}}, want: "MIME type",
			fails: true},
		"not UTF-8": {contents: []*mcp.ResourceContents{blob("\xff")}, want: "UTF-8", fails: true},
		"not base64": {contents: []*mcp.ResourceContents{{MIMEType: app.MIMEType, Blob: new("?")}}, want: "base64",
			fails: true},
		"too large": {contents: []*mcp.ResourceContents{blob(strings.Repeat("a", apps.MaxBytes+1))}, want: "the limit is",
			fails: true},
		"a wrong policy": {contents: []*mcp.ResourceContents{{
			MIMEType: app.MIMEType, Text: "<p>", Meta: mcp.Meta(`{"ui":{"csp":{"frameDomains":["*; script-src *"]}}}`),
		}}, want: "not an origin", fails: true},
	} {
		s := newServer()
		must(t, s.AddResource(&mcp.Resource{URI: uri, Name: "view"},
			func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: test.contents}, nil
			}))
		tool, err := declared.ForTool(&mcp.Tool{Name: "t"}, uri)
		must(t, err)
		v, err := apps.Fetch(t.Context(), connect(t, s, &mcpclient.Options{}), tool)
		switch {
		case test.fails && (v != nil || err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got an error %v, want one with %q", name, err, test.want)
		case !test.fails && (err != nil || v.HTML != test.want):
			t.Errorf("%s: got %+v, %v, want %q", name, v, err, test.want)
		}
	}
	tool := &mcp.Tool{Name: "t", Meta: mcp.Meta(`{"ui":{"resourceUri":"file:///etc/passwd"}}`)}
	v, err := apps.Fetch(t.Context(), connect(t, newServer(), &mcpclient.Options{}), tool)
	if v != nil || err == nil || !strings.Contains(err.Error(), "ui://") {
		t.Errorf("got %v, %v, want an error about the scheme", v, err)
	}
}

func TestRejectedToolAddsNoView(t *testing.T) {
	s := newServer()
	view := &declared.View{URI: uri, HTML: "<p>"}
	if err := declared.AddTool(s, &mcp.Tool{}, view, show); err == nil {
		t.Error("a tool without a name was added")
	}
	if err := declared.AddTool(s, nil, view, show); err == nil {
		t.Error("a nil tool was added")
	}
	must(t, declared.AddView(s, view)) // the URI is still free
	for name, v := range map[string]*declared.View{
		"none": nil, "no HTML": {URI: "ui://b"},
		"not UTF-8": {URI: "ui://b", HTML: "\xff"}, "another scheme": {URI: "https://b", HTML: "<p>"},
		"the same again": view,
		"a wrong policy": {URI: "ui://b", HTML: "<p>", Meta: app.ResourceMeta{CSP: &app.CSP{FrameDomains: []string{""}}}},
	} {
		if err := declared.AddView(s, v); err == nil {
			t.Errorf("%s: the view was added", name)
		}
	}
}
