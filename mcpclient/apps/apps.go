// Package apps implements the server-facing part of a host in the Apps extension of MCP (SEP-1865), together with
// package mcp/app. It declares the extension, keeps app-only tools from the model and model-only tools from apps, and
// fetches views.
//
//	client, err := mcpclient.Connect(ctx, t, &mcpclient.Options{
//		Capabilities: mcp.ClientCapabilities{Extensions: apps.Capability()},
//	})
//
// Show a model the tools of [ModelTools] and make its calls with [CallModelTool]; both also accept a group of clients.
// Fetch the view of a tool with [Fetch], and make the calls that the view asks for with [CallTool]. Both require the
// client of the server that owns the view; for the tool of a group, [mcpclient.Group.Client] returns the client of its
// Member. Servers do not know of each other: two servers may give their views the same URI, so a host that stores views
// must use the server and the URI as the key.
//
// A view is code from the server. The host renders it in a sandboxed frame, with a policy that allows no more than the
// view's metadata, and talks to it by postMessage. Both are outside the scope of this module.
package apps

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/app"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// MaxBytes bounds the HTML of a view: 8 MiB.
const MaxBytes = 8 << 20

var (
	// ErrNoView is in the error chain for a tool without a view.
	ErrNoView = errors.New("the tool has no view")

	// ErrNotVisible is in the error chain for a call that the view or the model must not make.
	ErrNotVisible = errors.New("the tool is not visible to the caller")
)

// Capability declares the extension. Use it in Options.Capabilities of a client that can show views.
func Capability() map[string]mcp.Object {
	return map[string]mcp.Object{app.Extension: mcp.Object(`{"mimeTypes":["` + app.MIMEType + `"]}`)}
}

// ModelTools yields the tools that a model may see: the tools of a [mcpclient.Client], or the tools of a
// [mcpclient.Group] under their names in the group. Order, errors and options are the same as for their method Tools.
// [CallModelTool] makes the calls. (SEP-1865, "Visibility")
func ModelTools[T *mcp.Tool | *mcpclient.GroupTool](
	ctx context.Context,
	from interface {
		Tools(ctx context.Context, options ...mcpclient.CallOption) iter.Seq2[T, error]
	},
	options ...mcpclient.CallOption,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for t, err := range from.Tools(ctx, options...) {
			if (err != nil || app.VisibleTo(toolOf(t), app.Model)) && !yield(t, err) {
				return
			}
		}
	}
}

func toolOf[T *mcp.Tool | *mcpclient.GroupTool](t T) *mcp.Tool {
	if t, ok := any(t).(*mcpclient.GroupTool); ok {
		return &t.Tool
	}
	return any(t).(*mcp.Tool)
}

// CallModelTool makes a call that a model asks for, by the name that [ModelTools] yields for the same client or group.
// If the server does not list the tool, or does not make it visible to models, the error has [ErrNotVisible] in its
// chain and the tool is not called. Everything else, including the options, is the same as for [CallTool].
// CallModelTool sends no request to other members of a group; if no member has a tool of this name, the error has
// [mcpclient.ErrNoMember] in its chain. (SEP-1865, "Visibility")
func CallModelTool[From *mcpclient.Client | *mcpclient.Group](
	ctx context.Context, from From, name string, arguments any, options ...mcpclient.CallOption,
) (*mcp.CallToolResult, error) {
	c, original, err := route(ctx, from, name, options)
	if err == nil {
		err = checkVisible(ctx, c, original, app.Model, options)
	}
	if err != nil {
		return nil, fmt.Errorf("call tool %q for a model: %w", name, err)
	}
	return c.CallTool(ctx, original, arguments, options...)
}

// route returns the client of the tool and the tool's name on the server.
func route[From *mcpclient.Client | *mcpclient.Group](
	ctx context.Context, from From, name string, options []mcpclient.CallOption,
) (*mcpclient.Client, string, error) {
	if g, ok := any(from).(*mcpclient.Group); ok {
		return g.Route(ctx, name, options...)
	}
	return any(from).(*mcpclient.Client), name, nil
}

// CallTool makes a call that a view asks for. c must be the client of the server that owns the view, because a view may
// call only tools of its own server. If this server does not list the tool, or does not make it visible to apps, the
// error has [ErrNotVisible] in its chain and the tool is not called. CallTool lists the tools before each call, unless
// the client may use a cached list. The options apply to both the list and the call: [mcpclient.WithTimeout] bounds
// each of them. (SEP-1865, "Visibility")
func CallTool(
	ctx context.Context, c *mcpclient.Client, name string, arguments any, options ...mcpclient.CallOption,
) (*mcp.CallToolResult, error) {
	if err := checkVisible(ctx, c, name, app.App, options); err != nil {
		return nil, fmt.Errorf("call tool %q for an app: %w", name, err)
	}
	return c.CallTool(ctx, name, arguments, options...)
}

// checkVisible returns nil if the server lists the tool and the caller who may see it.
func checkVisible(ctx context.Context, c *mcpclient.Client, name string, who app.Caller,
	options []mcpclient.CallOption) error {
	for t, err := range c.Tools(ctx, options...) {
		switch {
		case err != nil:
			return err
		case t.Name != name:
			continue
		case app.VisibleTo(t, who):
			return nil
		default:
			return ErrNotVisible
		}
	}
	return ErrNotVisible
}

// View is a view as the server provides it.
type View struct {
	URI  string
	HTML string           // valid UTF-8, otherwise unchanged
	Meta app.ResourceMeta // the most that the host may allow
}

// Fetch reads the view of a tool. c must be the client of the server that lists the tool. For a tool without a view,
// the error has [ErrNoView] in its chain. Fetch also returns an error for an invalid view: a URI with another scheme
// (without sending a request), another MIME type than [app.MIMEType], additional contents, more than [MaxBytes], text
// that is not UTF-8, or metadata that [app.ResourceMetaOf] rejects. All other errors come from
// [mcpclient.Client.ReadResource]. (SEP-1865, "UI Resource Format")
func Fetch(ctx context.Context, c *mcpclient.Client, t *mcp.Tool, options ...mcpclient.CallOption) (*View, error) {
	meta, err := app.ToolMetaOf(t)
	if err != nil {
		return nil, err
	}
	if meta.ResourceURI == "" {
		return nil, fmt.Errorf("tool %s: %w", t.Name, ErrNoView)
	}
	r, err := c.ReadResource(ctx, meta.ResourceURI, options...)
	if err != nil {
		return nil, err
	}
	v, err := viewOf(meta.ResourceURI, r.Contents)
	if err != nil {
		return nil, fmt.Errorf("view %s: %w", meta.ResourceURI, err)
	}
	return v, nil
}

func viewOf(uri string, contents []*mcp.ResourceContents) (*View, error) {
	if len(contents) != 1 || contents[0].URI != uri {
		return nil, errors.New("the result must have exactly one content, with the requested URI")
	}
	if err := app.CheckMIMEType(contents[0].MIMEType); err != nil {
		return nil, err
	}
	html, err := contents[0].Bytes()
	switch {
	case err != nil:
		return nil, err
	case len(html) > MaxBytes:
		return nil, fmt.Errorf("it has %d bytes, above the limit of %d", len(html), MaxBytes)
	case !utf8.Valid(html):
		return nil, errors.New("it is not UTF-8")
	}
	meta, err := app.ResourceMetaOf(contents[0].Meta)
	if err != nil {
		return nil, err
	}
	return &View{URI: uri, HTML: string(html), Meta: meta}, nil
}
