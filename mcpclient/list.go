package mcpclient

import (
	"context"
	"iter"
)

// List yields the items of a list that this package does not know, for example of an extension, and requests page
// after page as needed. fetch requests one page, by [Client.Call] with the method and with the given options,
// which bound the time for the page. Its cursor is nil for the first page; it returns the items, and the cursor of
// the next page, nil for the last. name identifies items if the server refuses its own cursor and the list starts
// again. An error ends the list; see [Client.Tools] for its bounds.
// (specification 2026-07-28, server/utilities/pagination)
func List[T any](
	ctx context.Context, c *Client, method string, name func(T) string,
	fetch func(ctx context.Context, cursor *string, options []CallOption) (items []T, next *string, err error),
	options ...CallOption,
) iter.Seq2[T, error] {
	return pages(ctx, c, method, name, options, func(ctx context.Context, cursor *string, options []CallOption) (page[T],
		error) {
		items, next, err := fetch(ctx, cursor, options)
		return page[T]{items, next}, err
	})
}
