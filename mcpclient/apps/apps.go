// Package apps implements the server-facing part of a host in the Apps extension of MCP (SEP-1865), together with
// package mcp/app. It declares the extension, keeps app-only tools from the model and model-only tools from apps, and
// fetches views.
//
//	client, err := mcpclient.Connect(ctx, t, &mcpclient.Options{
//		Capabilities: mcp.ClientCapabilities{Extensions: apps.Capability()},
//	})
//
// Show a model the tools of [ModelTools], and make its calls with [CallModelTool]; both also accept a group of clients.
// Fetch the view of a tool with [Fetch], and make the calls that the view requests with [CallTool]. Both need the
// client of the server that owns the view; for the tool of a group, [mcpclient.Group.Client] returns the client of the
// tool's Member. Two servers may give their views the same URI, because servers do not know of each other. So a host
// that stores views must use the server and the URI as the key.
//
// A view is code from the server. The host renders it in a sandboxed frame, with a policy that allows no more than the
// view's metadata, and talks to the view by postMessage. Rendering and messages are outside the scope of this module.
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

// MaxBytes is the maximum size of a view's HTML: 8 MiB.
const MaxBytes = 8 << 20

var (
	// ErrNoView is the wrapped error for a tool without a view.
	ErrNoView = errors.New("the tool has no view")

	// ErrNotVisible is the wrapped error for a call that the view or the model must not make.
	ErrNotVisible = errors.New("the tool is not visible to the caller")
)

// Capability declares the extension. Use it in Options.Capabilities of a client that can show views.
func Capability() map[string]mcp.Object {
	return map[string]mcp.Object{app.Extension: mcp.Object(`{"mimeTypes":["` + app.MIMEType + `"]}`)}
}

// ModelTools yields the tools that a model may see: the tools of a [mcpclient.Client], or the tools of a
// [mcpclient.Group] under their names in the group. Order, errors and options are the same as for the method Tools of
// from. [CallModelTool] makes the calls. (SEP-1865, "Visibility")
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

// CallModelTool makes a call that a model requests. name is the name that [ModelTools] yields for the same client or
// group. If the server does not list the tool, or does not make it visible to models, the error wraps [ErrNotVisible]
// and the tool is not called. Everything else, including the options, is the same as for [CallTool]. CallModelTool
// sends no request to other members of a group. If no member has a tool with this name, the error wraps
// [mcpclient.ErrNoMember]. (SEP-1865, "Visibility")
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

// route returns the client of the tool, and the tool's name on the server.
func route[From *mcpclient.Client | *mcpclient.Group](
	ctx context.Context, from From, name string, options []mcpclient.CallOption,
) (*mcpclient.Client, string, error) {
	if g, ok := any(from).(*mcpclient.Group); ok {
		return g.Route(ctx, name, options...)
	}
	return any(from).(*mcpclient.Client), name, nil
}

// CallTool makes a call that a view requests. c must be the client of the server that owns the view, because a view may
// call only tools of its own server. If this server does not list the tool, or does not make it visible to apps, the
// error wraps [ErrNotVisible] and the tool is not called. CallTool lists the tools before each call, unless the client
// may use a cached list. The options apply to both the list and the call: [mcpclient.WithTimeout] bounds each of them.
// (SEP-1865, "Visibility")
func CallTool(
	ctx context.Context, c *mcpclient.Client, name string, arguments any, options ...mcpclient.CallOption,
) (*mcp.CallToolResult, error) {
	if err := checkVisible(ctx, c, name, app.App, options); err != nil {
		return nil, fmt.Errorf("call tool %q for an app: %w", name, err)
	}
	return c.CallTool(ctx, name, arguments, options...)
}

// checkVisible returns nil if the server lists the tool and makes it visible to the caller who, and otherwise an error.
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
	HTML string           // valid UTF-8, as the server sent it
	Meta app.ResourceMeta // the maximum of what the host may allow
}

// Fetch reads the view of a tool. c must be the client of the server that lists the tool. If the tool has no view, the
// error wraps [ErrNoView]. Fetch also returns an error for an invalid view: the MIME type is not [app.MIMEType], there
// are additional contents, the text exceeds [MaxBytes] or is not UTF-8, or [app.ResourceMetaOf] rejects the metadata.
// If the scheme of the URI is not ui, Fetch returns an error without a request. All other errors come from
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
		return nil, errors.New("the server must return exactly one content, with the requested URI")
	}
	if err := app.CheckMIMEType(contents[0].MIMEType); err != nil {
		return nil, err
	}
	html, err := contents[0].Bytes()
	switch {
	case err != nil:
		return nil, err
	case len(html) > MaxBytes:
		return nil, fmt.Errorf("the HTML has %d bytes; the limit is %d bytes", len(html), MaxBytes)
	case !utf8.Valid(html):
		return nil, errors.New("the HTML is not UTF-8")
	}
	meta, err := app.ResourceMetaOf(contents[0].Meta)
	if err != nil {
		return nil, err
	}
	return &View{URI: uri, HTML: string(html), Meta: meta}, nil
}
