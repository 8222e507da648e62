package telemetry

import "context"

// Values of mcp_client.cache.outcome.
const (
	cacheHit  = "hit"  // the result was there and fresh
	cacheMiss = "miss" // the server is asked
)

var cacheOutcomes = []string{cacheHit, cacheMiss}

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
	outcome := cacheMiss
	if hit {
		outcome = cacheHit
	}
	c.tel.ins.lookups.Add(ctx, 1, c.options().lookup.at(lookupKey{c.methodLabel(method, true), outcome})...)
}
