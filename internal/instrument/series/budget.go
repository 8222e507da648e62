// Package series bounds the series of metrics: the attribute sets of an instrument, the names of a label, and the
// lifetime of cached values. It knows neither the metrics nor their emitters.
package series

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
)

// Budget counts the places of an instrument for attribute sets: words.MaxSets for all clients and servers of the
// meter. The SDK records all sets beyond its limit as one set without names, until the process ends. A place is never
// freed, since the SDK keeps every set of a counter or histogram.
//
// A measurement without a place is recorded in a shorter form. Decision 0021 lists the forms, and the places that are
// reserved for the short ones.
//
// The mutex is locked only at the first use of a set by each client or server: afterwards their caches have the
// options.
type Budget struct {
	forGroups int // places reserved for sets of groups
	least     int // places reserved for the shortest forms, as many as can exist

	mu    sync.Mutex
	taken map[attribute.Distinct]*Options // guarded by mu
}

// Options holds the options of a measurement with one attribute set. All clients and servers that use the set share
// them.
type Options struct {
	Adding    []metric.AddOption
	Recording []metric.RecordOption
}

// Form is an attribute set that a measurement may have. A new set gets a place only if the instrument has fewer than
// Room sets.
type Form struct {
	Room int
	Set  attribute.Set
}

// Take returns the options for the first form that has a place or gets one. The last form always gets one.
func (b *Budget) Take(forms ...Form) *Options {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(forms) - 1
	for _, f := range forms[:last] {
		if o := b.taken[f.Set.Equivalent()]; o != nil {
			return o
		}
		if len(b.taken) < f.Room {
			return b.add(f.Set)
		}
	}
	if o := b.taken[forms[last].Set.Equivalent()]; o != nil {
		return o
	}
	return b.add(forms[last].Set)
}

// add gives the set a place. mu is held.
func (b *Budget) add(set attribute.Set) *Options {
	o := metric.WithAttributeSet(set)
	all := &Options{[]metric.AddOption{o}, []metric.RecordOption{o}}
	if b.taken == nil {
		b.taken = map[attribute.Distinct]*Options{}
	}
	b.taken[set.Equivalent()] = all
	return all
}

// RoomForGroups returns the [Form.Room] of a group's set.
func (b *Budget) RoomForGroups() int { return words.MaxSets - b.least }

// RoomForNames returns the [Form.Room] of a set with the name of a client or server.
func (b *Budget) RoomForNames() int { return b.RoomForGroups() - b.forGroups }

// RoomForTools returns the [Form.Room] of a tool's set, if there are so many names of clients and servers.
func (b *Budget) RoomForTools(names int) int {
	return min(words.MaxPrecisely, b.RoomForNames()-words.SetsForName*names)
}

// Keep reserves forGroups places for sets of groups, and for each of them least places for its shortest forms.
func (b *Budget) Keep(forGroups, least int) {
	b.forGroups, b.least = forGroups, least*words.FoldedNames
}
