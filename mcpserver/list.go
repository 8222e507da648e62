package mcpserver

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// page is one page of a list, with the entries encoded for the client.
type page struct {
	member  string // name of the member of the result that holds the entries
	entries []json.RawMessage
	next    *string // cursor of the next page; nil on the last page
}

// appendResult appends the result of a list request.
// (specification 2026-07-28, server/utilities/pagination and caching)
func (p *page) appendResult(dst []byte, w view) ([]byte, error) {
	dst = append(dst, '{')
	if w.modern() {
		dst = append(dst, `"_meta":`...)
		dst = append(dst, w.s.signature.alone...)
		dst = append(dst, `,"resultType":"complete","ttlMs":`...)
		hint := w.s.cfg.cacheHint(w.principal)
		dst = strconv.AppendInt(dst, *hint.TTLMs, 10)
		dst = append(dst, `,"cacheScope":`...)
		dst = jsonscan.AppendString(dst, string(hint.CacheScope))
		dst = append(dst, ',')
	}
	dst = append(jsonscan.AppendString(dst, p.member), ':', '[')
	for i, e := range p.entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, e...)
	}
	dst = append(dst, ']')
	if p.next != nil {
		dst = append(dst, `,"nextCursor":`...)
		dst = jsonscan.AppendString(dst, *p.next)
	}
	return append(dst, '}'), nil
}

// pageOf returns the page of r that c, a list request, asks for. show encodes an entry.
func pageOf[T entry](c *call, r *registry[T], member string, show func(T, mcp.Version) (json.RawMessage, error)) (*page,
	error) {
	var p mcp.PageParams
	if err := given.Decode(c.params, &p); err != nil {
		return nil, rpc.InvalidParams("params: %w", err)
	}
	after, ok := readCursor(p.Cursor)
	if !ok {
		return nil, errUnknownCursor
	}
	some, more := r.after(after, c.x.s.cfg.PageSize)
	result := &page{member: member, entries: make([]json.RawMessage, len(some))}
	for i, t := range some {
		var err error
		if result.entries[i], err = show(t, c.info.Version); err != nil {
			return nil, err
		}
	}
	if more {
		result.next = new(cursorAfter(some[len(some)-1].number()))
	}
	return result, nil
}

// cursorAfter returns a cursor that contains the number of a page's last entry. The cursor stays valid when entries
// are added or removed.
func cursorAfter(number int64) string { return dressed(strconv.FormatInt(number, 10)) }

// readCursor returns the number in a cursor; a nil cursor means 0. It returns false for a cursor that cursorAfter has
// not made, such as an empty one.
func readCursor(cursor *string) (number int64, ok bool) {
	if cursor == nil {
		return 0, true
	}
	number, err := strconv.ParseInt(undressed(*cursor), 10, 64)
	return number, err == nil && number > 0 && cursorAfter(number) == *cursor
}

const cursorMark = "after:"

// dressed encodes the end of a page as an opaque cursor, which clients cannot mistake for an offset.
func dressed(place string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorMark + place))
}

// undressed decodes a cursor that dressed has made. For any other cursor it returns the empty string.
func undressed(cursor string) string {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	place, ours := strings.CutPrefix(string(text), cursorMark)
	if err != nil || !ours {
		return ""
	}
	return place
}

var errUnknownCursor = rpc.InvalidParams("params.cursor was not issued by this server")

// registry holds the entries of one kind that a server offers, by name and in the order of their addition. It is safe
// for concurrent use.
type registry[T entry] struct {
	mu     sync.RWMutex
	byName map[string]T // guarded by mu
	order  []T          // guarded by mu; sorted by number; appended to or replaced, never changed in place
	last   int64        // guarded by mu; the latest number
}

// entry is a tool, prompt, resource or template in a registry.
type entry interface {
	comparable
	key() string
	number() int64 // position among the entries
	enroll(number int64)
}

// add adds t with the next number. It returns false if an entry with this name exists.
func (r *registry[T]) add(t T) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.byName[t.key()]; taken {
		return false
	}
	if r.byName == nil {
		r.byName = map[string]T{}
	}
	r.last++
	t.enroll(r.last)
	r.byName[t.key()] = t
	r.order = append(r.order, t)
	return true
}

// remove removes entries by name. It returns false if none of them existed.
func (r *registry[T]) remove(names ...string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.byName)
	for _, name := range names {
		delete(r.byName, name)
	}
	if len(r.byName) == before {
		return false
	}
	r.order = slices.DeleteFunc(slices.Clone(r.order), func(t T) bool { return r.byName[t.key()] != t })
	return true
}

func (r *registry[T]) lookup(name string) (T, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.byName[name]
	return t, ok
}

// find returns the registered name that equals name. The result shares no memory with name, which may be part of a
// frame.
func (r *registry[T]) find(name []byte) (string, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.byName[string(name)]
	if !ok {
		return "", false
	}
	return t.key(), true
}

// after returns the first n entries with numbers above number, and reports whether there are more.
func (r *registry[T]) after(number int64, n int) (some []T, more bool) {
	r.mu.RLock()
	order := r.order
	r.mu.RUnlock()
	from, _ := slices.BinarySearchFunc(order, number+1, func(t T, n int64) int { return cmp.Compare(t.number(), n) })
	order = order[from:]
	if len(order) > n {
		return order[:n], true
	}
	return order, false
}

// all returns all entries in order. The caller must not change the slice.
func (r *registry[T]) all() []T {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.order
}
