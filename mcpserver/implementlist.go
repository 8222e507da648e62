package mcpserver

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// listed answers a list request with the result of list, in the form of the client's revision. If list is nil, the
// answer is an empty list. open returns the entries and the cache hint of a result.
func listed[R, T any](
	ctx context.Context, c *call, list func(context.Context, *ListRequest) (*R, error), members []member[T],
	open func(*R) (*[]*T, *mcp.CacheHint),
) (any, error) {
	var p mcp.PageParams
	if err := given.Decode(c.params, &p); err != nil {
		return nil, rpc.InvalidParams("params: %w", err)
	}
	shown := new(R)
	if list != nil {
		r, err := list(ctx, &ListRequest{RequestInfo: &c.info, Cursor: p.Cursor})
		switch {
		case err != nil:
			return nil, err
		case r != nil:
			*shown = *r
		}
	}
	entries, hint := open(shown)
	*hint = c.hintOf(*hint)
	if c.info.Version.Era() == mcp.Legacy {
		any(shown).(interface{ Base() *mcp.Result }).Base().ResultType = ""
	}
	all := make([]*T, len(*entries))
	for i, e := range *entries {
		if e == nil {
			return nil, rpc.Fail(rpc.ErrInternal, fmt.Errorf("entry %d of the list is nil", i))
		}
		all[i] = inRevision(e, members, c.info.Version)
	}
	*entries = all
	return shown, nil
}

// hintOf fills the unset fields of a list's cache hint from the server's defaults; a legacy client gets no hint.
func (c *call) hintOf(h mcp.CacheHint) mcp.CacheHint {
	if c.info.Version.Era() == mcp.Legacy {
		return mcp.CacheHint{}
	}
	usual := c.x.s.cfg.cacheHint(c.x.Client.Principal)
	return mcp.CacheHint{TTLMs: cmp.Or(h.TTLMs, usual.TTLMs), CacheScope: cmp.Or(h.CacheScope, usual.CacheScope)}
}
