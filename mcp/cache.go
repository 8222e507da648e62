package mcp

import (
	"math"
	"time"
)

// CacheHint says for how long and for whom a result may be kept, from 2026-07-28.
// See https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching.
type CacheHint struct {
	TTLMs      *int64     `json:"ttlMs,omitzero"` // milliseconds; absent or below zero means 0
	CacheScope CacheScope `json:"cacheScope,omitzero"`
}

// Hint returns h. Through it, code that is given a result as any reaches the hint, if results of that type have one.
func (h *CacheHint) Hint() *CacheHint { return h }

// TTL returns for how long the result is fresh after it was received, 0 if it is stale at once.
func (h CacheHint) TTL() time.Duration {
	if h.TTLMs == nil || *h.TTLMs <= 0 {
		return 0
	}
	return time.Duration(min(*h.TTLMs, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

// CacheScope says who may share a kept result.
type CacheScope string

const (
	// CachePublic lets all users share it.
	CachePublic CacheScope = "public"
	// CachePrivate lets only the same authorization context use it.
	CachePrivate CacheScope = "private"
)
