package instrument

import (
	"cmp"
	"maps"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// limited identifies a limited resource of the servers with one name.
type limited struct {
	gaugeKey
	memory bool // the kind is a Memory constant, otherwise a Capacity constant
	kind   string
}

// usage is the used amount of a limited resource, and its limit.
type usage struct{ used, limit int }

// fuller reports whether u is closer to its limit than other, or equally close with a lower limit.
func (u usage) fuller(other usage) bool {
	this, that := u.used*other.limit, other.used*u.limit
	return this > that || this == that && u.limit < other.limit
}

// observeLimits updates fullest with the connection's limits. Only the fullest connection counts, because a sum over
// many connections would hide a full one.
func (c *connection) observeLimits(w gaugeKey, fullest map[limited]usage) {
	if c.Limits == nil {
		return
	}
	c.Limits(func(kind string, used, limit int) {
		if limit <= 0 {
			return
		}
		k := limited{w, slices.Contains(words.Memories, kind), kind}
		u := usage{used, limit}
		if known, ok := fullest[k]; !ok || u.fuller(known) {
			fullest[k] = u
		}
	})
}

// observeFullest observes the fullest limits of each server name. If there are more sets than the budget allows, it
// omits the least full ones.
func (g *gauges) observeFullest(o metric.Observer, fullest map[limited]usage) {
	order := slices.SortedFunc(maps.Keys(fullest), func(a, b limited) int {
		return cmp.Or(first(fullest[a].fuller(fullest[b]), fullest[b].fuller(fullest[a])), a.compare(b.gaugeKey),
			cmp.Compare(a.kind, b.kind))
	})
	left := map[bool]int{true: words.MaxSets, false: words.MaxSets}
	for _, k := range order {
		if left[k.memory]--; left[k.memory] < 0 {
			continue
		}
		used, limit, key := g.ins.capacityUsage, g.ins.capacityLimit, names.KeyMCPServerCapacityKind
		if k.memory {
			used, limit, key = g.ins.memoryUsage, g.ins.memoryLimit, names.KeyMCPServerMemoryKind
		}
		set := k.set(&serverKeys, attribute.String(key, k.kind))
		o.ObserveInt64(used, int64(fullest[k].used), set)
		o.ObserveInt64(limit, int64(fullest[k].limit), set)
	}
}
