package mcpclient

import (
	"context"
	"iter"

	"github.com/mcpotel/mcpotel/mcp"
)

// ListResources returns one page of the server's resources. The cursor is the NextCursor of the previous page, or nil
// for the first page. (specification 2026-07-28, server/resources, "Listing Resources")
func (c *Client) ListResources(ctx context.Context, cursor *string, options ...CallOption) (*mcp.ListResourcesResult,
	error) {
	params := &mcp.PageParams{Cursor: cursor}
	if err := c.require(ctx, mcp.MethodListResources, params, options, hasResources, "resources"); err != nil {
		return nil, err
	}
	r := new(mcp.ListResourcesResult)
	if err := c.cachedCall(ctx, mcp.MethodListResources, params, r, options...); err != nil {
		return nil, err
	}
	return r, nil
}

// Resources yields the server's resources, and requests page after page as needed. An error ends the sequence. For its
// limits, see [Client.Tools].
func (c *Client) Resources(ctx context.Context, options ...CallOption) iter.Seq2[*mcp.Resource, error] {
	name := func(r *mcp.Resource) string { return r.URI }
	return pages(ctx, c, mcp.MethodListResources, name, options,
		func(ctx context.Context, cursor *string, options []CallOption) (page[*mcp.Resource], error) {
			r, err := c.ListResources(ctx, cursor, options...)
			if err != nil {
				return page[*mcp.Resource]{}, err
			}
			return page[*mcp.Resource]{r.Resources, r.NextCursor}, nil
		})
}

// ListResourceTemplates returns one page of the server's resource templates. The cursor is the NextCursor of the
// previous page, or nil for the first page. (specification 2026-07-28, server/resources, "Resource Templates")
func (c *Client) ListResourceTemplates(ctx context.Context, cursor *string,
	options ...CallOption) (*mcp.ListResourceTemplatesResult, error) {
	r, params := new(mcp.ListResourceTemplatesResult), &mcp.PageParams{Cursor: cursor}
	if err := c.require(ctx, mcp.MethodListResourceTemplates, params, options, hasResources, "resources"); err != nil {
		return nil, err
	}
	if err := c.cachedCall(ctx, mcp.MethodListResourceTemplates, params, r, options...); err != nil {
		return nil, err
	}
	return r, nil
}

// ResourceTemplates yields the server's resource templates, and requests page after page as needed. An error ends the
// sequence. For its limits, see [Client.Tools].
func (c *Client) ResourceTemplates(ctx context.Context, options ...CallOption) iter.Seq2[*mcp.ResourceTemplate, error] {
	fetch := func(ctx context.Context, cursor *string, options []CallOption) (page[*mcp.ResourceTemplate], error) {
		r, err := c.ListResourceTemplates(ctx, cursor, options...)
		if err != nil {
			return page[*mcp.ResourceTemplate]{}, err
		}
		return page[*mcp.ResourceTemplate]{r.ResourceTemplates, r.NextCursor}, nil
	}
	name := func(t *mcp.ResourceTemplate) string { return t.URITemplate }
	return pages(ctx, c, mcp.MethodListResourceTemplates, name, options, fetch)
}

// ReadResource returns the contents of a resource. There may be several, for example the files of a directory. If the
// resource does not exist, the error wraps [mcp.ErrResourceNotFound]. Callers share cached contents and must not modify
// them; see [Options.CacheSize]. (specification 2026-07-28, server/resources, "Reading Resources")
func (c *Client) ReadResource(ctx context.Context, uri string, options ...CallOption) (*mcp.ReadResourceResult, error) {
	params := &mcp.ReadResourceParams{URI: uri}
	if err := c.require(ctx, mcp.MethodReadResource, params, options, hasResources, "resources"); err != nil {
		return nil, err
	}
	r := new(mcp.ReadResourceResult)
	if err := c.cachedCall(ctx, mcp.MethodReadResource, params, r, options...); err != nil {
		return nil, err
	}
	return r, nil
}
