package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/internal/weigh"
	"github.com/mcpotel/mcpotel/mcp"
)

// ListTools returns one page of the server's tools, without tools that a client over HTTP must not use. The cursor is
// the NextCursor of the previous page, or nil for the first page. Callers share the tools of a cached page and must not
// modify them; see [Options.CacheSize]. (specification 2026-07-28, server/tools, "Listing Tools")
func (c *Client) ListTools(ctx context.Context, cursor *string, options ...CallOption) (*mcp.ListToolsResult, error) {
	l := c.tools.begin()
	l.whole = cursor == nil
	return c.tools.page(ctx, l, cursor, options)
}

// Tools yields the server's tools, and requests page after page as needed. An error ends the sequence.
//
// The list is limited. It ends with an error of kind [KindProtocol] if the server repeats a cursor, or if the list has
// more than 1,000 pages, 100,000 items or four times [Limits.Frame] in bytes. For a repeated cursor and for too many
// pages, the error wraps [ErrListCutShort]. Use [Client.ListTools] for larger lists. [WithTimeout] bounds the total
// wait for all pages. Without it, [Options.RequestTimeout] applies to each page, and ten times that to all pages
// together. The loop's work on the tools does not count.
//
// If the server refuses its own cursor because the list has changed, Tools starts the list again, once, and skips tools
// that it has already yielded.
func (c *Client) Tools(ctx context.Context, options ...CallOption) iter.Seq2[*mcp.Tool, error] {
	return func(yield func(*mcp.Tool, error) bool) {
		var l *toolListing
		name := func(t *mcp.Tool) string { return t.Name }
		list := pages(ctx, c, mcp.MethodListTools, name, options, func(ctx context.Context, cursor *string,
			options []CallOption) (page[*mcp.Tool], error) {
			if cursor == nil { // true also when the list starts again
				l = c.tools.begin()
				l.whole = true
			}
			r, err := c.tools.page(ctx, l, cursor, options)
			if err != nil {
				return page[*mcp.Tool]{}, err
			}
			return page[*mcp.Tool]{r.Tools, r.NextCursor}, nil
		})
		c.drift.whole(ctx, list, func() *toolListing { return l })(yield)
	}
}

// noArguments is sent if the caller gives no arguments, because many servers validate the arguments with a schema that
// requires an object.
var noArguments any = json.RawMessage(`{}`)

// CallTool calls a tool. arguments is any value that encodes as a JSON object, such as a struct, a map or a
// [json.RawMessage]. Nil is sent as an empty object. If the tool fails, CallTool returns a result with IsError set, not
// a Go error. (specification 2026-07-28, server/tools, "Calling Tools")
func (c *Client) CallTool(ctx context.Context, name string, arguments any, options ...CallOption) (*mcp.CallToolResult,
	error) {
	r := new(mcp.CallToolResult)
	if err := c.callTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments}, r, options); err != nil {
		return nil, err
	}
	return r, nil
}

// CallToolRaw is like [Client.CallTool], for programs that forward calls. It returns the JSON text of the server's
// result, including unknown members. p may contain the input of earlier rounds. The client does not modify p: it sets
// Task in a copy. The result may share the memory of the whole answer.
func (c *Client) CallToolRaw(ctx context.Context, p *mcp.CallToolParams, options ...CallOption) (json.RawMessage,
	error) {
	own := *p
	var r json.RawMessage
	if err := c.callTool(ctx, &own, &r, options); err != nil {
		return nil, err
	}
	return r, nil
}

// callTool calls a tool and decodes the result into result, a pointer.
func (c *Client) callTool(ctx context.Context, p *mcp.CallToolParams, result any, options []CallOption) error {
	if err := c.require(ctx, mcp.MethodCallTool, p, options, hasTools, "tools"); err != nil {
		return err
	}
	if p.Arguments == nil {
		p.Arguments = noArguments
	}
	switch {
	case c.tools.mirrors():
		return c.tools.call(ctx, p, result, options)
	case c.tasks.declared():
		return c.tasks.call(ctx, p, result, options)
	}
	return c.Call(ctx, mcp.MethodCallTool, p, result, options...)
}

// CallToolAs calls a tool and decodes its structured content into an Out. Before decoding the content, CallToolAs
// validates it with the output schema that the server lists for the tool; to get the schema, the client lists the tools
// once, before the call. Out is decoded by json v2, so names must match exactly.
//
// The schema is JSON Schema 2020-12, the default without $schema, or draft-07. For another dialect, CallToolAs returns
// an error of kind [KindProtocol] before the call. If a schema has a regular expression that Go cannot compile, the
// client logs that and does not validate the content.
//
// If the tool reports an error, CallToolAs returns a [*mcp.ToolError]. Without an output schema, the content is not
// validated. If the content is missing, or does not match the schema or Out, CallToolAs returns an error of kind
// [KindProtocol] although the tool has run. The same applies to content that would take too much memory when decoded,
// into a value of type any for the validation or into an Out: more than 128 MiB, or eight times its text if that is
// more. Lists of two million numbers and lists of 300,000 objects are within this limit. [Client.CallTool] returns any
// structured content undecoded.
func CallToolAs[Out any](ctx context.Context, c *Client, name string, arguments any, options ...CallOption) (Out,
	error) {
	var out Out
	p := &mcp.CallToolParams{Name: name, Arguments: arguments}
	err := c.operate(ctx, mcp.MethodCallTool, p, options, func(ctx context.Context, options []CallOption) error {
		return c.callToolInto(ctx, p, &out, options)
	})
	return out, err
}

// callToolInto calls a tool and decodes its structured content into out, a pointer.
func (c *Client) callToolInto(ctx context.Context, p *mcp.CallToolParams, out any, options []CallOption) error {
	_, options, err := c.agreed(ctx, mcp.MethodCallTool, options)
	if err != nil {
		return err
	}
	version := c.tools.version()
	s, err := c.tools.output(ctx, p.Name, options)
	if err != nil {
		return err
	}
	r := new(mcp.CallToolResult)
	err = c.callTool(ctx, p, r, options)
	switch {
	case err != nil:
		return err
	case r.IsError:
		return &mcp.ToolError{Tool: p.Name, Result: r}
	case r.StructuredContent == nil:
		return unusableOutput(p.Name, errors.New("the result has no structured content"))
	}
	matches := false
	c.core.Telemetry.Labelled(ctx, mcp.MethodCallTool, p.Name, func(ctx context.Context) {
		matches, err = readOutput(ctx, s, r.StructuredContent, out)
	})
	switch {
	case err == nil:
		return nil
	case !matches && ctx.Err() != nil:
		return errorOf(conn.Outlived(ctx, mcp.MethodCallTool, false))
	case !matches:
		c.tools.outdated(version) // the tool may have changed without a notification
	}
	return unusableOutput(p.Name, err)
}

// readOutput decodes structured content into out, a pointer. It reports whether the content matches s. A nil s accepts
// any content.
func readOutput(ctx context.Context, s *schema.Schema, content json.RawMessage, out any) (matches bool, err error) {
	if err := weigh.Decoding(content, out); err != nil {
		return true, err
	}
	if s != nil {
		if err := s.Validate(ctx, content); err != nil {
			return false, err
		}
	}
	return true, jsonv2.Unmarshal(content, out, jsonv1.FormatDurationAsNano(true))
}

func unusableOutput(tool string, err error) error {
	if errors.Is(err, weigh.ErrTooMuch) {
		err = fmt.Errorf("%w: use CallTool, which does not decode structured content", err)
	}
	return &Error{Kind: KindProtocol, Op: mcp.MethodCallTool, cause: fmt.Errorf("output of tool %s: %w", tool, err)}
}
