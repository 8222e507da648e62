// Package series bounds the series of metrics: how many sets of attributes an instrument has, how many names a label
// has, and how long what is built for them is kept. It knows neither the metrics nor who emits them.
package series

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
)

// Budget counts the places that an instrument has for sets of attributes: words.MaxSets in all, for all clients and
// servers of the meter. The SDK records every set beyond its limit in one set that names nothing, and keeps doing so
// until the process ends. A place stays taken, since the SDK forgets no set of a counter or histogram.
//
// A set without a place is recorded in a shorter form. Decision 0021 lists the forms, and the places that are kept for
// the short ones.
//
// The mutex is locked when a client or server uses a set for the first time, and never after that: its caches have the
// options then.
type Budget struct {
	forGroups int // places kept for sets of groups
	least     int // places kept for the shortest forms, as many as there are

	mu    sync.Mutex
	taken map[attribute.Distinct]*Options // guarded by mu
}

// Options record a measurement with one set of attributes. All clients and servers that use the set share them.
type Options struct {
	Adding    []metric.AddOption
	Recording []metric.RecordOption
}

// Form is a set of attributes. Room is how many sets the instrument may have for this one to become a new one.
type Form struct {
	Room int
	Set  attribute.Set
}

// Take returns the options for the first of the forms that has a place or gets one. The last form always has one.
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

// RoomForGroups returns how many sets there may be for a new one of a group.
func (b *Budget) RoomForGroups() int { return words.MaxSets - b.least }

// RoomForNames returns how many sets there may be for a new one of a name.
func (b *Budget) RoomForNames() int { return b.RoomForGroups() - b.forGroups }

// RoomForTools returns how many sets there may be for a new one of a tool, for so many names of clients and servers.
func (b *Budget) RoomForTools(names int) int {
	return min(words.MaxPrecisely, b.RoomForNames()-words.SetsForName*names)
}

// Keep keeps places for sets of groups, and for as many shortest forms of each.
func (b *Budget) Keep(forGroups, least int) {
	b.forGroups, b.least = forGroups, least*words.FoldedNames
}
