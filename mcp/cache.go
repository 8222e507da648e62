package mcp

import (
	"math"
	"time"
)

// CacheHint limits how long a client may keep a result, and who may share the result. Results have a CacheHint from
// 2026-07-28 on. See https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching.
type CacheHint struct {
	TTLMs      *int64     `json:"ttlMs,omitzero"` // milliseconds; nil or a negative number means 0
	CacheScope CacheScope `json:"cacheScope,omitzero"`
}

// Hint returns h. If a result is stored as any, an interface with this method gives access to its cache hint.
func (h *CacheHint) Hint() *CacheHint { return h }

// TTL returns the time for which the result stays fresh after its arrival. Zero means that the result is stale at
// once.
func (h CacheHint) TTL() time.Duration {
	if h.TTLMs == nil || *h.TTLMs <= 0 {
		return 0
	}
	return time.Duration(min(*h.TTLMs, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

// CacheScope names the users who may share a cached result.
type CacheScope string

const (
	// CachePublic allows all users to share the result.
	CachePublic CacheScope = "public"
	// CachePrivate restricts the result to the authorization context of its request.
	CachePrivate CacheScope = "private"
)
