package mcpclient

import (
	"context"
	"iter"

	"github.com/mcpotel/mcpotel/mcp"
)

// ListPrompts returns one page of the server's prompts. The cursor is the NextCursor of the previous page, or nil for
// the first page. (specification 2026-07-28, server/prompts, "Listing Prompts")
func (c *Client) ListPrompts(ctx context.Context, cursor *string, options ...CallOption) (*mcp.ListPromptsResult,
	error) {
	params := &mcp.PageParams{Cursor: cursor}
	if err := c.require(ctx, mcp.MethodListPrompts, params, options, hasPrompts, "prompts"); err != nil {
		return nil, err
	}
	r := new(mcp.ListPromptsResult)
	if err := c.cachedCall(ctx, mcp.MethodListPrompts, params, r, options...); err != nil {
		return nil, err
	}
	return r, nil
}

// Prompts yields the server's prompts, and requests page after page as needed. An error ends the sequence. For its
// limits, see [Client.Tools].
func (c *Client) Prompts(ctx context.Context, options ...CallOption) iter.Seq2[*mcp.Prompt, error] {
	name := func(p *mcp.Prompt) string { return p.Name }
	return pages(ctx, c, mcp.MethodListPrompts, name, options,
		func(ctx context.Context, cursor *string, options []CallOption) (page[*mcp.Prompt], error) {
			r, err := c.ListPrompts(ctx, cursor, options...)
			if err != nil {
				return page[*mcp.Prompt]{}, err
			}
			return page[*mcp.Prompt]{r.Prompts, r.NextCursor}, nil
		})
}

// GetPrompt returns the messages of a prompt with these arguments. Nil arguments are sent as an empty object. The list
// of prompts describes the arguments of each prompt and which of them are required. (specification 2026-07-28,
// server/prompts, "Getting a Prompt")
func (c *Client) GetPrompt(ctx context.Context, name string, arguments map[string]string,
	options ...CallOption) (*mcp.GetPromptResult, error) {
	if arguments == nil {
		arguments = map[string]string{}
	}
	r, params := new(mcp.GetPromptResult), &mcp.GetPromptParams{Name: name, Arguments: arguments}
	if err := c.require(ctx, mcp.MethodGetPrompt, params, options, hasPrompts, "prompts"); err != nil {
		return nil, err
	}
	if err := c.Call(ctx, mcp.MethodGetPrompt, params, r, options...); err != nil {
		return nil, err
	}
	return r, nil
}
