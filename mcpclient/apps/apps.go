// Package apps is the part of a host in the Apps extension of MCP (SEP-1865), with package mcp/app, that has to do with
// servers: it declares the extension, keeps the tools of apps from the model and those of the model from apps, and
// fetches views.
//
//	client, err := mcpclient.Connect(ctx, t, &mcpclient.Options{
//		Capabilities: mcp.ClientCapabilities{Extensions: apps.Capability()},
//	})
//
// Show a model the tools of [ModelTools] and make its calls with [CallModelTool]; both take a group of clients, too.
// Fetch the view of a tool with [Fetch], and have [CallTool] make the calls that the view asks for; both take the
// client of the one server whose view it is, which [mcpclient.Group.Client] returns for the Member of a tool. Servers
// do not know of each other: two of them may give their views the same URI, so a host that keeps views keeps them by
// server and URI.
//
// A view is code of the server's: rendering it in a sandboxed frame, with a policy that allows no more than its
// metadata, and the conversation with it by postMessage, are the host's, and not part of this module.
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

// MaxBytes is how many bytes the HTML of a view may have: 8 MiB.
const MaxBytes = 8 << 20

var (
	// ErrNoView is in the chain of the error for a tool that has no view.
	ErrNoView = errors.New("the tool has no view")

	// ErrNotVisible is in the chain of the error for a call that a view, or a model, may not make.
	ErrNotVisible = errors.New("the tool is not visible to the caller")
)

// Capability declares the extension, for Options.Capabilities of a client that can show views.
func Capability() map[string]mcp.Object {
	return map[string]mcp.Object{app.Extension: mcp.Object(`{"mimeTypes":["` + app.MIMEType + `"]}`)}
}

// ModelTools yields the tools that a model may see: those of a [mcpclient.Client], or those of a [mcpclient.Group] by
// their names in it. Order, errors and options are those of their Tools. [CallModelTool] makes the calls. (SEP-1865,
// "Visibility")
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
// A tool that its server does not list, or does not make visible to models, is an error with [ErrNotVisible] in its
// chain, and is not called. All else, the options too, is as [CallTool] says, and no other member of a group is asked
// for anything; a name that no member's tools have is an error with [mcpclient.ErrNoMember] in its chain. (SEP-1865,
// "Visibility")
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

// route returns the client that has the tool, and what the tool is called there.
func route[From *mcpclient.Client | *mcpclient.Group](
	ctx context.Context, from From, name string, options []mcpclient.CallOption,
) (*mcpclient.Client, string, error) {
	if g, ok := any(from).(*mcpclient.Group); ok {
		return g.Route(ctx, name, options...)
	}
	return any(from).(*mcpclient.Client), name, nil
}

// CallTool makes a call that a view asks for. c is the client of the server from which the view comes: a view calls no
// tool of another. A tool that this server does not list, or does not make visible to apps, is an error with
// [ErrNotVisible] in its chain, and is not called. The list is asked for before each call, unless the client may keep
// it. The options are those of the list and of the call: [mcpclient.WithTimeout] bounds each of them. (SEP-1865,
// "Visibility")
func CallTool(
	ctx context.Context, c *mcpclient.Client, name string, arguments any, options ...mcpclient.CallOption,
) (*mcp.CallToolResult, error) {
	if err := checkVisible(ctx, c, name, app.App, options); err != nil {
		return nil, fmt.Errorf("call tool %q for an app: %w", name, err)
	}
	return c.CallTool(ctx, name, arguments, options...)
}

// checkVisible returns nil if the server lists the tool and the caller may see it.
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

// View is a view as the server has it.
type View struct {
	URI  string
	HTML string           // valid UTF-8, and otherwise as it came
	Meta app.ResourceMeta // what the host may allow it, at most
}

// Fetch reads the view of a tool from the server that lists the tool, whose client c is. A tool without one is an error
// with [ErrNoView] in its chain. What is not a view is an error too: a URI with another scheme, for which nothing is
// asked of the server, another MIME type than [app.MIMEType], contents beside it, more than [MaxBytes], text that is
// not UTF-8, and metadata that [app.ResourceMetaOf] refuses. The other errors are those of
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
		return nil, errors.New("the answer is not one content of that URI")
	}
	if err := app.CheckMIMEType(contents[0].MIMEType); err != nil {
		return nil, err
	}
	html, err := contents[0].Bytes()
	switch {
	case err != nil:
		return nil, err
	case len(html) > MaxBytes:
		return nil, fmt.Errorf("it has %d bytes, and may have %d", len(html), MaxBytes)
	case !utf8.Valid(html):
		return nil, errors.New("it is not UTF-8")
	}
	meta, err := app.ResourceMetaOf(contents[0].Meta)
	if err != nil {
		return nil, err
	}
	return &View{URI: uri, HTML: string(html), Meta: meta}, nil
}
