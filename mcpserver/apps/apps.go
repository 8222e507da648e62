// Package apps adds views to the tools of a server: the Apps extension of MCP (SEP-1865), with package mcp/app.
//
//	view := &apps.View{URI: "ui://weather/forecast", HTML: page}
//	err := apps.AddTool(server, &mcp.Tool{Name: "forecast"}, view, forecast)
//
// A client that cannot show views calls the same tool, so the tool must return a result that is useful as text. A
// handler can check with [Supported] whether the client shows views. The host renders a view and communicates with it
// by postMessage.
package apps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/app"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// View is an HTML page in which hosts show the results of tools.
type View struct {
	URI         string // starts with ui://
	Name        string // name for programs; empty means the URI without ui://
	Title       string // name for people
	Description string
	HTML        string // an HTML5 document in UTF-8
	Meta        app.ResourceMeta
}

// AddView adds a view as a resource; [ForTool] links tools to it. Remove it with [mcpserver.Server.RemoveResources].
func AddView(s *mcpserver.Server, v *View) error {
	if err := v.check(); err != nil {
		return fmt.Errorf("add view: %w", err)
	}
	meta, err := v.Meta.Write(nil)
	if err != nil {
		return fmt.Errorf("add view %s: %w", v.URI, err)
	}
	r := &mcp.Resource{
		Meta: meta, URI: v.URI, Name: v.Name, Title: v.Title, Description: v.Description,
		MIMEType: app.MIMEType, Size: new(int64(len(v.HTML))),
	}
	if r.Name == "" {
		r.Name = strings.TrimPrefix(v.URI, "ui://")
	}
	result := &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Meta: meta, Text: v.HTML}}}
	return s.AddResource(r, func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return result, nil
	})
}

func (v *View) check() error {
	switch {
	case v == nil:
		return errors.New("no view")
	case v.HTML == "" || !utf8.ValidString(v.HTML):
		return fmt.Errorf("%s: the HTML is empty or not UTF-8", v.URI)
	}
	return app.CheckURI(v.URI)
}

// ForTool returns a copy of t that names the view at uri and the callers that may see and call the tool. Without
// visibility, both the model and apps may see and call it. A tool that only [app.App] may call serves the buttons and
// timers of a view.
func ForTool(t *mcp.Tool, uri string, visibility ...app.Caller) (*mcp.Tool, error) {
	if t == nil {
		return nil, errors.New("no tool")
	}
	if err := app.CheckURI(uri); err != nil {
		return nil, fmt.Errorf("tool %s: %w", t.Name, err)
	}
	meta, err := app.ToolMeta{ResourceURI: uri, Visibility: visibility}.Write(t.Meta)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", t.Name, err)
	}
	c := *t
	c.Meta = meta
	return &c, nil
}

// AddTool adds a tool with a view: it calls [AddView], [ForTool] and [mcpserver.AddTool]. If AddTool returns an error,
// it has added neither the tool nor the view.
func AddTool[In, Out any](
	s *mcpserver.Server, t *mcp.Tool, v *View, h func(ctx context.Context, in In) (Out, error), visibility ...app.Caller,
) error {
	if err := AddView(s, v); err != nil {
		return err
	}
	t, err := ForTool(t, v.URI, visibility...)
	if err == nil {
		err = mcpserver.AddTool(s, t, h)
	}
	if err != nil {
		s.RemoveResources(v.URI)
	}
	return err
}

// Supported reports whether the client can show views. ctx is the context of a handler. A client that cannot show
// views shows the result as text.
func Supported(ctx context.Context) bool {
	return app.DeclaredBy(mcpserver.RequestFrom(ctx).ClientCapabilities())
}
