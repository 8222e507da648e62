package main

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/mcpotel/mcpotel/mcp"
)

// listing is what one server lists.
type listing interface {
	// print prints it for people; the lines that name something begin with label.
	print(w io.Writer, label string) error
	// json returns what is printed for programs.
	json() any
}

// list prints what each server lists. For programs, that of one server stands as it is, and that of several in a list.
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

// collect returns all of a list.
func collect[T any](list iter.Seq2[T, error]) ([]T, error) {
	all := []T{}
	for one, err := range list {
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, nil
}

// ofSeveral returns the server's name if it is one of several.
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
