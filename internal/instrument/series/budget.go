// Package series limits the series of metrics: the attribute sets of an instrument, the names of a label, and the
// lifetime of cached values. It does not know the metrics or their emitters.
package series

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
)

// Budget limits the attribute sets of an instrument to words.MaxSets, for all clients and servers of the meter
// together. The SDK's own limit is one set higher. Without the Budget, the SDK would record all further measurements in
// this last set, without their attributes, until the process ends.
//
// Each set takes one place. A place is never freed, because the SDK keeps every set of a counter or histogram. If the
// set of a measurement gets no place, the measurement is recorded with a smaller set, for example without the name of
// the tool or of the client. Decision 0021 lists these shorter forms, and the places that are reserved for them.
//
// Take locks a mutex, but a client or server calls Take only at its first use of a set. After that, the client or
// server finds the Options of the set in its own cache.
type Budget struct {
	forGroups int // places reserved for sets of groups
	least     int // places reserved for the shortest forms, one for each form that can exist

	mu    sync.Mutex
	taken map[attribute.Distinct]*Options // guarded by mu
}

// Options holds the options of a measurement with one attribute set. All clients and servers with this set share them.
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

// Take returns the options for the first form that has a place or can get one. The last form always gets one.
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

// RoomForGroups returns the [Form.Room] for the set of a group.
func (b *Budget) RoomForGroups() int { return words.MaxSets - b.least }

// RoomForNames returns the [Form.Room] for a set with the name of a client or server.
func (b *Budget) RoomForNames() int { return b.RoomForGroups() - b.forGroups }

// RoomForTools returns the [Form.Room] for the set of a tool. names is the number of names of clients and servers.
func (b *Budget) RoomForTools(names int) int {
	return min(words.MaxPrecisely, b.RoomForNames()-words.SetsForName*names)
}

// Keep reserves forGroups places for sets of groups, and least places for the shortest forms of each of the
// [words.FoldedNames] names that replace other names.
func (b *Budget) Keep(forGroups, least int) {
	b.forGroups, b.least = forGroups, least*words.FoldedNames
}
