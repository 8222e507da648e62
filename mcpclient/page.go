package mcpclient

import (
	"context"
	"fmt"
	"iter"
)

// page is one page of a list.
type page[T any] struct {
	items []T
	next  string // the cursor of the next page, empty for the last
}

// pages yields the items of all pages. It ends with an error if the server gives a cursor twice, which would go on for
// ever. (specification 2026-07-28, server/utilities/pagination)
func pages[T any](ctx context.Context, method string, fetch func(ctx context.Context, cursor string) (page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		seen := map[string]bool{}
		for cursor := ""; ; {
			p, err := fetch(ctx, cursor)
			if err != nil {
				yield(zero, err)
				return
			}
			for _, item := range p.items {
				if !yield(item, nil) {
					return
				}
			}
			if cursor = p.next; cursor == "" {
				return
			}
			if seen[cursor] {
				yield(zero, &Error{Kind: KindProtocol, Op: method, cause: fmt.Errorf("the server gave the cursor %q twice", cursor)})
				return
			}
			seen[cursor] = true
		}
	}
}
