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

// The bounds of one list, all its pages together. Who needs more asks for the pages one by one, as by
// [Client.ListTools].
const (
	maxPages      = 1000
	maxItems      = 100_000
	maxListFrames = 4 // bytes of the answers, in frame limits
)

// page is one page of a list.
type page[T any] struct {
	items []T
	next  *string // the cursor of the next page, nil for the last
}

// pages yields the items of all pages of a list: every list of the client that has more than one page is walked here.
// It ends with an error if the server gives a cursor twice, which would go on for ever, or if the list exceeds its
// bounds. A page whose cursor cannot be followed is yielded before [ErrListCutShort], without the items that have been
// yielded: some servers answer each cursor with the first page.
//
// If the server refuses a cursor that it has given, the list has changed: it begins anew, once, without the items that
// have been yielded, by name. (specification 2026-07-28, server/utilities/pagination; server/utilities/caching,
// "Interaction with Pagination")
//
// The time for the list is that of [WithTimeout]. Without it each page has the client's timeout, and all of them ten
// times that. What the caller does with the items does not count.
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

// fetcher asks for one page.
type fetcher[T any] func(ctx context.Context, cursor *string, options []CallOption) (page[T], error)

// fetchNext fetches the page that w has come to. What is wrong with the list as a whole is an error of the operation
// that has fetched the page; if its cursor cannot be followed, there is an error beside the page.
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

// walk is a walk through the pages of one list.
type walk struct {
	method  string
	options []CallOption
	each    time.Duration // for a page, zero or less for no limit
	all     time.Duration // for all of them, likewise
	room    int64         // for the bytes of all

	cursor *string // of the next page, nil for the first
	spent  time.Duration
	pages  int
	items  int
	bytes  atomic.Int64 // of the answers; a middleware may have the calls made in other goroutines

	seed maphash.Seed
	seen map[uint64]bool // hashes of the cursors, which can be as long as a frame

	anew    bool            // the list has begun anew
	yielded map[uint64]bool // hashes of the names of the items before that
}

func newWalk(c *Client, method string, options []CallOption) *walk {
	a := askedBy(options)
	w := &walk{method: method, options: options, room: maxListFrames * int64(c.cfg.FrameLimit), seed: maphash.MakeSeed()}
	w.each = cmp.Or(a.Timeout, c.cfg.RequestTimeout)
	if w.all = w.each; a.Timeout == 0 {
		w.all = conn.Longer(w.each)
	}
	return w
}

// allow returns the options for the next page, with the time there is for it.
func (w *walk) allow() ([]CallOption, error) {
	timeout := w.each
	if w.all > 0 {
		left := w.all - w.spent
		if left <= 0 {
			return nil, &Error{Kind: KindTimeout, Op: w.method,
				cause: fmt.Errorf("%w: %d pages took %v", ErrTimeout, w.pages, w.spent)}
		}
		timeout = min(timeout, left)
	}
	return append(w.options[:len(w.options):len(w.options)], WithTimeout(timeout),
		func(a *asked) { a.received, a.GoesOn = &w.bytes, a.GoesOn || w.pages > 0 }), nil
}

// count adds a page, and says which bound it exceeds.
func (w *walk) count(items int) error {
	w.pages++
	w.items += items
	switch {
	case w.items > maxItems:
		return w.exceeds("%d items", maxItems)
	case w.bytes.Load() > w.room:
		return w.exceeds("%d bytes, %d frame limits", w.room, maxListFrames)
	}
	return nil
}

func (w *walk) exceeds(format string, limit ...any) *Error {
	return &Error{Kind: KindProtocol, Op: w.method, cause: fmt.Errorf("the list has more than "+format, limit...)}
}

// endedBefore reports whether the page before was the last one after all: there are servers that end a list with an
// empty cursor, and know none.
func (w *walk) endedBefore(err error) bool { return w.followsEmpty() && isInvalidParams(err) }

// followsEmpty reports whether the page asked for is the one behind an empty cursor.
func (w *walk) followsEmpty() bool { return w.cursor != nil && *w.cursor == "" }

func isInvalidParams(err error) bool {
	e, ok := errors.AsType[*mcp.Error](err)
	return ok && e.Code == mcp.CodeInvalidParams
}

// check says why the list cannot go on with this cursor, nil if it can or has ended.
func (w *walk) check(cursor *string) error {
	switch {
	case cursor == nil:
		return nil
	case w.pages == maxPages:
		return w.cutShort(fmt.Sprintf("the list has more than %d pages", maxPages))
	case w.seen[maphash.String(w.seed, *cursor)] && !(w.followsEmpty() && *cursor == ""):
		return w.cutShort(fmt.Sprintf("the server gave the cursor %q twice", conn.Excerpt(*cursor, conn.MaxShown)))
	}
	return nil
}

func (w *walk) cutShort(why string) *Error {
	return &Error{Kind: KindProtocol, Op: w.method, cause: fmt.Errorf("%w: %s", ErrListCutShort, why)}
}

// follow takes the cursor of the next page, and reports whether there is one. An empty cursor is one, but for a server
// that gives it again for it: to such a server it is none, so that the page was the first one again.
func (w *walk) follow(cursor *string) (more bool) {
	if cursor == nil || w.followsEmpty() && *cursor == "" {
		return false
	}
	if w.seen == nil {
		w.seen = map[uint64]bool{}
	}
	w.seen[maphash.String(w.seed, *cursor)] = true
	w.cursor = new(strings.Clone(*cursor)) // without its page
	return true
}

// startAnew goes back to the first page, once, if err says that the server does not know the cursor that it has given.
// The bounds are those of both walks together.
func (w *walk) startAnew(err error) bool {
	if !isInvalidParams(err) || w.cursor == nil || w.anew {
		return false
	}
	w.anew, w.cursor, w.seen = true, nil, nil
	return true
}

// isNew reports whether an item of this name is to be yielded: in a list that has begun anew, or may have, and on a
// page that cuts the list short, only if it was not before. Those of the last page need not be remembered.
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
