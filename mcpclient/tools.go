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

// ListTools returns one page of the server's tools, without those that a client over HTTP must not use. The cursor is
// the NextCursor of the page before, nil for the first. (specification 2026-07-28, server/tools, "Listing Tools")
func (c *Client) ListTools(ctx context.Context, cursor *string, options ...CallOption) (*mcp.ListToolsResult, error) {
	l := c.tools.begin()
	l.whole = cursor == nil
	return c.tools.page(ctx, l, cursor, options)
}

// Tools yields the server's tools, page after page as they are asked for. An error ends it.
//
// The list is bounded: a server that repeats a cursor, or has more than 1,000 pages, 100,000 items or four times
// [Options.FrameLimit] in all, ends it with an error of kind [KindProtocol], which is [ErrListCutShort] if the cursors
// are why; by [Client.ListTools] larger lists can be
// had. The client waits for all pages together as long as [WithTimeout] says; without that, [Options.RequestTimeout]
// for each and ten times that for all. What the loop does with the tools does not count.
//
// If the server refuses a cursor that it has given, because the list has changed, the list begins anew, once; a tool
// that the loop has had does not come again.
func (c *Client) Tools(ctx context.Context, options ...CallOption) iter.Seq2[*mcp.Tool, error] {
	return func(yield func(*mcp.Tool, error) bool) {
		var l *toolListing
		name := func(t *mcp.Tool) string { return t.Name }
		list := pages(ctx, c, mcp.MethodListTools, name, options, func(ctx context.Context, cursor *string,
			options []CallOption) (page[*mcp.Tool], error) {
			if cursor == nil { // also when the list begins anew
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

// noArguments are sent instead of none: many servers check the arguments against a schema that wants an object.
var noArguments any = json.RawMessage(`{}`)

// CallTool calls a tool. arguments is anything that encodes as a JSON object, such as a struct, a map or a
// [json.RawMessage], or nil for none, which is sent as an empty object. A tool that fails says so in the result, by
// IsError; that is no Go error. (specification 2026-07-28, server/tools, "Calling Tools")
func (c *Client) CallTool(ctx context.Context, name string, arguments any, options ...CallOption) (*mcp.CallToolResult,
	error) {
	r := new(mcp.CallToolResult)
	if err := c.callTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments}, r, options); err != nil {
		return nil, err
	}
	return r, nil
}

// CallToolRaw is [Client.CallTool] for those who pass a call on: it returns the result as the server wrote it, with
// members that this package does not know. p has the rounds of input so far; its Task is for the client to set. It is
// not changed. The result may share the memory of the whole answer.
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

// CallToolAs calls a tool and decodes its structured content into an Out, after checking it against the output schema
// that the server lists for the tool; to learn that, it lists the tools once, before the call. Out is decoded by json
// v2, in which names match exactly.
//
// The schema is one of JSON Schema 2020-12, which holds without $schema, or of draft-07. One of another dialect is an
// error of kind [KindProtocol] before the call; one with a regular expression that Go cannot compile is not applied,
// which is logged.
//
// A tool that reports an error is a [*mcp.ToolError]. A tool without an output schema is not checked. Content that does
// not match the schema or Out, or is missing, is an error of kind [KindProtocol]; then the tool has run. So is content
// that is small as JSON and would take more than 128 MiB, or eight times its text if that is more, as a value of type
// any, which it is for the schema, or as an Out: lists of two million numbers pass, and 300,000 objects do;
// [Client.CallTool] returns structured content of any kind, for you to decode.
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
		return unusableOutput(p.Name, errors.New("no structured content"))
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
		c.tools.outdated(version) // the tool may have changed unheard
	}
	return unusableOutput(p.Name, err)
}

// readOutput decodes structured content into out, a pointer, and reports whether it matches s: anything does if that is
// nil.
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
		err = fmt.Errorf("%w: take CallTool, which leaves structured content as it is", err)
	}
	return &Error{Kind: KindProtocol, Op: mcp.MethodCallTool, cause: fmt.Errorf("output of tool %s: %w", tool, err)}
}
