package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
)

// UseRoots declares that the client has roots, which are the directories and files that the server should work in, and
// answers requests for them: roots/list of a legacy server, and requests for input of a modern one. [Client.SetRoots]
// changes the roots. The URI of a root must be a file URI with an absolute path without ".."; otherwise [New] and
// [Connect] return an error. (specification 2026-07-28, client/roots)
func UseRoots(roots ...*mcp.Root) Feature {
	return feature{
		declare: func(c *mcp.ClientCapabilities) {
			var r mcp.RootsCapability
			if c.Roots != nil {
				r = *c.Roots // a copy, so that the user's value stays unchanged
			}
			r.ListChanged = true
			c.Roots = &r
		},
		join: func(c *Client) error {
			if err := c.roots.set(roots); err != nil {
				return err
			}
			return c.answering.add(mcp.MethodListRoots, func(context.Context, *Request) (any, error) {
				return &mcp.ListRootsResult{Roots: c.roots.in(c.ProtocolVersion())}, nil
			})
		},
	}
}

// SetRoots replaces the roots of a client that was created with [UseRoots]. The client notifies a legacy server, which
// may then ask for the roots. A modern server gets the roots with its next request for input. If a root is invalid or
// the client has no roots, the error has kind [KindInvalid] and nothing changes. After any other error, the roots are
// replaced, but the server may not know it.
func (c *Client) SetRoots(ctx context.Context, roots ...*mcp.Root) error {
	err := errors.New("the client has no roots; create it with UseRoots")
	if c.roots.present() {
		err = c.roots.set(roots)
	}
	if err != nil {
		return &Error{Kind: KindInvalid, Op: mcp.NotificationRootsListChanged, Unsent: true, cause: err}
	}
	s := c.core.Present()
	if s == conn.NoSession || !s.Era.Serves() {
		return nil // the server will ask for the roots itself
	}
	err = c.Notify(ctx, mcp.NotificationRootsListChanged, nil)
	if errors.Is(err, ErrNotReady) {
		return nil
	}
	return err
}

// rootList holds the roots of a client; now is nil without UseRoots.
type rootList struct{ now atomic.Pointer[[]*mcp.Root] }

func (l *rootList) present() bool { return l.now.Load() != nil }

// set copies and stores the roots if all of them are valid.
func (l *rootList) set(roots []*mcp.Root) error {
	kept := make([]*mcp.Root, len(roots)) // not nil, so that an empty list is encoded as [] and not as null
	for i, r := range roots {
		if r == nil {
			return fmt.Errorf("root %d is nil", i)
		}
		if err := checkRoot(r.URI); err != nil {
			return fmt.Errorf("root %d: %w", i, err)
		}
		kept[i] = new(*r)
	}
	l.now.Store(&kept)
	return nil
}

// checkRoot validates the URI of a root.
func checkRoot(uri string) error {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return err
	case u.Scheme != "file":
		return fmt.Errorf("%q is not a file URI", uri)
	case !strings.HasPrefix(u.Path, "/") || strings.ContainsRune(u.Path, 0):
		return fmt.Errorf("%q has no absolute path", uri)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(uri, "#"):
		return fmt.Errorf("%q must have only a host and a path", uri)
	case slices.ContainsFunc(strings.FieldsFunc(u.Path, isSeparator), func(s string) bool { return s == ".." }):
		return fmt.Errorf("%q contains \"..\"", uri)
	}
	return nil
}

func isSeparator(r rune) bool { return r == '/' || r == '\\' }

// in returns the roots as revision v defines them.
func (l *rootList) in(v mcp.Version) []*mcp.Root {
	roots := *l.now.Load()
	if v != "" && v < mcp.Version20250618 {
		roots = slices.Clone(roots)
		for i, r := range roots {
			roots[i] = &mcp.Root{URI: r.URI, Name: r.Name} // these revisions have no _meta
		}
	}
	return roots
}
