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

// limited is a kind of thing that the servers of a name have only so much of.
type limited struct {
	whose
	memory bool // the kind is one of the Memory words, otherwise one of the Capacity words
	kind   string
}

// usage is how much is used of such a thing.
type usage struct{ used, limit int }

// fuller reports whether u is nearer to its limit than other, or as near to a lower one.
func (u usage) fuller(other usage) bool {
	this, that := u.used*other.limit, other.used*u.limit
	return this > that || this == that && u.limit < other.limit
}

// observeLimits adds the connection's limits to the fullest ones: the usage of many connections together would hide one
// that is full.
func (c *connection) observeLimits(w whose, fullest map[limited]usage) {
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

// observeFullest observes the fullest limits of each server name. Beyond the sets that there are places for, they are
// left out, those that are least full first.
func (g *gauges) observeFullest(o metric.Observer, fullest map[limited]usage) {
	order := slices.SortedFunc(maps.Keys(fullest), func(a, b limited) int {
		return cmp.Or(first(fullest[a].fuller(fullest[b]), fullest[b].fuller(fullest[a])), a.compare(b.whose),
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
