package instrument

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
)

type lookupKey struct{ method, outcome string }

// CacheLookup counts a result of a method that was looked for among those the client keeps.
func (c *Client) CacheLookup(method string, hit bool) {
	if c == nil {
		return
	}
	ctx := context.Background()
	if !c.tel.ins.lookups.Enabled(ctx) {
		return
	}
	outcome := words.CacheMiss
	if hit {
		outcome = words.CacheHit
	}
	c.tel.ins.lookups.Add(ctx, 1, c.metrics.options().lookup.At(lookupKey{c.methodLabel(method, true), outcome})...)
}
