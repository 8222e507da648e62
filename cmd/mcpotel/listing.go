package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// listing is the result of one server.
type listing interface {
	// print prints the result as text. Each line that shows the name of an item begins with label.
	print(w io.Writer, label string) error
	// json returns the value for --json.
	json() any
}

// list prints the result of each server. --json prints the value of a single server, or an array for several servers.
func (c *connection) list(ctx context.Context, name string, ask func(context.Context, *server) (listing, error)) error {
	if err := c.none(); err != nil {
		return err
	}
	return c.observed(ctx, "mcpotel "+name, func(ctx context.Context, o *observation) error {
		servers, err := c.openAll(ctx, o)
		if err != nil {
			return err
		}
		defer servers.close()
		all := []any{}
		failed := c.each(ctx, servers, func(one *server) error {
			l, err := ask(ctx, one)
			if err != nil {
				return err
			}
			if c.asJSON {
				all = append(all, l.json())
				return nil
			}
			c.console.clear()
			return l.print(c.streams.out, one.label)
		})
		switch {
		case !c.asJSON:
		case servers.group != nil:
			err = printJSON(c.streams.out, all)
		case len(all) == 1:
			err = printJSON(c.streams.out, all[0])
		}
		return errors.Join(failed, err)
	})
}

// shown wraps a list of a server, for every command. If invalid cursors cut the list short, shown prints a notice
// instead of returning an error, and the command uses the received elements.
func shown[T any](c *connection, list iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for one, err := range list {
			if errors.Is(err, mcpclient.ErrListCutShort) {
				c.console.once("%v; the received elements are used", err)
				continue
			}
			if !yield(one, err) {
				return
			}
		}
	}
}

// oddTools reports tools that cannot be decoded, and tools with the same name, of which the command uses only one. The
// list of tools hides both problems.
func (c *connection) oddTools(server string) mcpclient.Middleware {
	var mu sync.Mutex
	var names map[string]bool // names of the current list; guarded by mu
	page := func(first bool, r *mcp.ListToolsResult) {
		mu.Lock()
		defer mu.Unlock()
		if first {
			names = map[string]bool{}
		} else if !slices.ContainsFunc(r.Tools, func(t *mcp.Tool) bool { return !names[t.Name] }) {
			return // an earlier page was requested again
		}
		for _, t := range r.Tools {
			if names[t.Name] {
				c.console.once("%s lists more than one tool with the name %q: the server decides which one a call reaches", server,
					t.Name)
			}
			names[t.Name] = true
		}
		for _, t := range r.Unreadable {
			c.console.once("%s lists a tool %q that cannot be used: %v", server, t.Name, t.Err)
		}
	}
	return func(next mcpclient.CallFunc) mcpclient.CallFunc {
		return func(ctx context.Context, method string, params, result any, options ...mcpclient.CallOption) error {
			err := next(ctx, method, params, result, options...)
			p, _ := params.(*mcp.PageParams)
			if r, ok := result.(*mcp.ListToolsResult); ok && p != nil && err == nil {
				page(p.Cursor == nil, r)
			}
			return err
		}
	}
}

// collect returns all elements of a list.
func collect[T any](c *connection, list iter.Seq2[T, error]) ([]T, error) {
	all := []T{}
	for one, err := range shown(c, list) {
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, nil
}

// ofSeveral returns the server's name if the command uses several servers.
func (s *server) ofSeveral() string {
	if s.label == "" {
		return ""
	}
	return s.name
}

// methodMissing reports whether a server does not know a method.
func methodMissing(err error) bool {
	refused, ok := errors.AsType[*mcp.Error](err)
	return ok && refused.Code == mcp.CodeMethodNotFound
}
