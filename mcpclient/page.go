package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
)

// Limits of one list over all its pages. For more, callers can request single pages, for example with
// [Client.ListTools].
const (
	maxPages      = 1000
	maxItems      = 100_000
	maxListFrames = 4 // limit of the bytes of all answers, as a multiple of the frame limit
)

// page is one page of a list.
type page[T any] struct {
	items []T
	next  *string // cursor of the next page; nil for the last page
}

// pages yields the items of all pages of a list. Every list of the client that can have several pages uses the function
// pages. The sequence ends with an error if the list exceeds its limits, or if the server repeats a cursor, because the
// list would then never end. If the cursor of a page cannot be followed, pages first yields the new items of that page,
// and then [ErrListCutShort]: some servers answer each cursor with the first page.
//
// If the server refuses its own cursor, the list has changed. Then pages starts again, once, and skips items with names
// that it has already yielded. (specification 2026-07-28, server/utilities/pagination; server/utilities/caching,
// "Interaction with Pagination")
//
// [WithTimeout] bounds the time for the list. Without it, each page has the client's timeout, and all pages together
// have ten times that. The caller's work between items does not count.
func pages[T any](
	ctx context.Context, c *Client, method string, name func(T) string, options []CallOption, fetch fetcher[T],
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		c.operations.enter()
		defer c.operations.leave()
		w := newWalk(c, method, options)
		for {
			p, err := fetchNext(ctx, c, w, fetch)
			if w.endedBefore(err) {
				return
			}
			if w.startAnew(err) {
				continue
			}
			for _, item := range p.items {
				if !w.isNew(name(item), p.next == nil, err != nil) {
					continue
				}
				if !yield(item, nil) {
					return
				}
			}
			if err != nil {
				yield(*new(T), err)
				return
			}
			if !w.follow(p.next) {
				return
			}
		}
	}
}

// fetcher requests one page.
type fetcher[T any] func(ctx context.Context, cursor *string, options []CallOption) (page[T], error)

// fetchNext fetches the next page of w. If no time is left for the list, the operation that would fetch this page fails
// with the timeout. If the page's cursor cannot be followed, fetchNext returns both the page and an error.
func fetchNext[T any](ctx context.Context, c *Client, w *walk, fetch fetcher[T]) (p page[T], err error) {
	options, late := w.allow()
	params := &mcp.PageParams{Cursor: w.cursor}
	err = c.operate(ctx, w.method, params, append(options, ifSent), func(ctx context.Context, options []CallOption) error {
		if late != nil {
			return late
		}
		begun := time.Now()
		got, err := fetch(ctx, w.cursor, options)
		w.spent += time.Since(begun)
		if err == nil {
			err = w.count(len(got.items))
		}
		if err != nil {
			return err
		}
		p = got
		return w.check(p.next)
	})
	return p, err
}

// walk is the state of reading all pages of one list.
type walk struct {
	method  string
	options []CallOption
	each    time.Duration // timeout of one page; zero or less for no limit
	all     time.Duration // timeout of all pages together; zero or less for no limit
	room    int64         // limit of bytes

	cursor *string // cursor of the next page; nil for the first page
	spent  time.Duration
	pages  int
	items  int
	bytes  atomic.Int64 // bytes of the answers so far; atomic, because middleware may use other goroutines

	seed maphash.Seed
	seen map[uint64]bool // hashes of the cursors, because a cursor itself can be as long as a frame

	anew    bool            // the list was started again from the first page
	yielded map[uint64]bool // hashes of the names that were yielded before the restart
}

func newWalk(c *Client, method string, options []CallOption) *walk {
	a := c.cfg.asked(options)
	w := &walk{method: method, options: options, room: maxListFrames * int64(c.cfg.Limits.Frame), seed: maphash.MakeSeed()}
	w.each = cmp.Or(a.Timeout, c.cfg.RequestTimeout)
	if w.all = w.each; a.Timeout == 0 {
		w.all = conn.Longer(w.each)
	}
	return w
}

// allow returns the options for the next page, with a timeout that fits into the remaining time. It returns an error if
// no time is left.
func (w *walk) allow() ([]CallOption, error) {
	timeout := w.each
	if w.all > 0 {
		left := w.all - w.spent
		if left <= 0 {
			return nil, &Error{Kind: KindTimeout, Op: w.method,
				cause: fmt.Errorf("%w: %d pages of the list took %v", ErrTimeout, w.pages, w.spent)}
		}
		timeout = min(timeout, left)
	}
	return append(w.options[:len(w.options):len(w.options)], WithTimeout(timeout),
		func(a *asked) { a.received, a.GoesOn = &w.bytes, a.GoesOn || w.pages > 0 }), nil
}

// count counts a page and its items. It returns an error if the list exceeds a limit.
func (w *walk) count(items int) error {
	w.pages++
	w.items += items
	switch {
	case w.items > maxItems:
		return w.exceeds("%d items", maxItems)
	case w.bytes.Load() > w.room:
		return w.exceeds("%d bytes (%d times the frame limit)", w.room, maxListFrames)
	}
	return nil
}

func (w *walk) exceeds(format string, limit ...any) *Error {
	return &Error{Kind: KindProtocol, Op: w.method, cause: fmt.Errorf("the list has more than "+format, limit...)}
}

// endedBefore reports whether the previous page was the last one: some servers end a list with an empty cursor and then
// refuse that cursor.
func (w *walk) endedBefore(err error) bool { return w.followsEmpty() && isInvalidParams(err) }

// followsEmpty reports whether the cursor of the requested page is empty.
func (w *walk) followsEmpty() bool { return w.cursor != nil && *w.cursor == "" }

func isInvalidParams(err error) bool {
	e, ok := errors.AsType[*mcp.Error](err)
	return ok && e.Code == mcp.CodeInvalidParams
}

// check returns an error if the cursor cannot be followed.
func (w *walk) check(cursor *string) error {
	switch {
	case cursor == nil:
		return nil
	case w.pages == maxPages:
		return w.cutShort(fmt.Sprintf("the list has more than %d pages", maxPages))
	case w.seen[maphash.String(w.seed, *cursor)] && !(w.followsEmpty() && *cursor == ""):
		return w.cutShort(fmt.Sprintf("the server returned the cursor %q twice", conn.Excerpt(*cursor, conn.MaxShown)))
	}
	return nil
}

func (w *walk) cutShort(why string) *Error {
	return &Error{Kind: KindProtocol, Op: w.method, cause: fmt.Errorf("%w: %s", ErrListCutShort, why)}
}

// follow sets the cursor of the next page, and reports whether there is one. An empty cursor is valid. But if the
// server answers an empty cursor with an empty cursor, it ignores the cursor and has sent the first page again.
func (w *walk) follow(cursor *string) (more bool) {
	if cursor == nil || w.followsEmpty() && *cursor == "" {
		return false
	}
	if w.seen == nil {
		w.seen = map[uint64]bool{}
	}
	w.seen[maphash.String(w.seed, *cursor)] = true
	w.cursor = new(strings.Clone(*cursor)) // a copy, so that the cursor does not keep the page in memory
	return true
}

// startAnew returns to the first page, once, if err means that the server does not know its own cursor. The limits
// apply to both attempts together.
func (w *walk) startAnew(err error) bool {
	if !isInvalidParams(err) || w.cursor == nil || w.anew {
		return false
	}
	w.anew, w.cursor, w.seen = true, nil, nil
	return true
}

// isNew reports whether to yield an item with this name. It returns false only for names that were already yielded, and
// only in three cases: the list was started again, the cursor of the page was empty (so the server may have started the
// list again), or the page cuts the list short. isNew does not record the names of the last page, because no page
// follows.
func (w *walk) isNew(name string, last, cut bool) bool {
	if w.anew || w.followsEmpty() || cut {
		return !w.yielded[maphash.String(w.seed, name)]
	}
	if !last {
		if w.yielded == nil {
			w.yielded = map[uint64]bool{}
		}
		w.yielded[maphash.String(w.seed, name)] = true
	}
	return true
}

// List yields the items of a list that this package does not know, for example a list of an extension, and requests
// page after page as needed. fetch requests one page with [Client.Call], with the method and the given options, which
// bound the time for the page. The cursor is nil for the first page. fetch returns the items and the cursor of the next
// page, which is nil for the last page. name returns a unique name for an item, so that List can skip items if the
// server refuses its own cursor and the list starts again. An error ends the list. For the limits of a list, see
// [Client.Tools]. (specification 2026-07-28, server/utilities/pagination)
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
