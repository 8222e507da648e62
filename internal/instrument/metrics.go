package instrument

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/instrument/series"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// metrics records the measurements of a side, within the budgets of the instruments.
type metrics struct {
	side   *side
	made   atomic.Pointer[metricOptions] // nil before the first measurement
	series [2]uint16                     // number of sets for durations, by direction; guarded by side.endings
	left   atomic.Bool                   // leave has released the places of the name
}

// join reserves places for the name of the side until leave.
func (m *metrics) join() { m.side.tel.ins.names.Add(m.side.name) }

// leave releases the places of the name. Only the first call has an effect.
func (m *metrics) leave() {
	if m.left.CompareAndSwap(false, true) {
		m.side.tel.ins.names.Remove(m.side.name)
	}
}

// options returns the options for all measurements of the side.
func (m *metrics) options() *metricOptions {
	if o := m.made.Load(); o != nil {
		return o
	}
	m.made.CompareAndSwap(nil, newMetricOptions(m.side))
	return m.made.Load()
}

// messageSize records the size of a message.
func (m *metrics) messageSize(ctx context.Context, d telemetry.Direction, k MessageKind, bytes int) {
	if m.side.ins.size.Enabled(ctx) {
		m.side.ins.size.Record(ctx, int64(bytes), m.options().size.At(sizeKey{d, k})...)
	}
}

// queueWait records how long a message waited before it was written.
func (m *metrics) queueWait(d time.Duration) {
	if ctx := context.Background(); m.side.ins.queueWait.Enabled(ctx) {
		m.side.ins.queueWait.Record(ctx, d.Seconds(), m.options().plain...)
	}
}

// countNotification counts a notification under the label of its method.
func (m *metrics) countNotification(ctx context.Context, d telemetry.Direction, label string) {
	if m.side.ins.notifications.Enabled(ctx) {
		m.side.ins.notifications.Add(ctx, 1, m.options().notification.At(notificationKey{d, label})...)
	}
}

// onNetwork returns attrs with the network transport.
func (m *metrics) onNetwork(attrs []attribute.KeyValue) []attribute.KeyValue {
	return append(slices.Clip(attrs), m.side.transport())
}

// recordsOutcome reports whether metrics record the outcome itself. It returns true for a known outcome, and for the
// first few unknown outcomes.
func (m *metrics) recordsOutcome(o outcome) bool {
	if o.known() {
		return true
	}
	_, ok := m.side.foreignNames().outcomes.Intern(o.text(), words.MaxStrangers)
	return ok
}

// measured holds the attributes of a measurement in each of its forms. They do not include the name of the side.
type measured struct {
	// labelled has the label from the baggage, in addition to precise. It is nil if there is no label.
	labelled []attribute.KeyValue
	// precise has the name of a tool or prompt. It is nil if there is none.
	precise []attribute.KeyValue
	// own has no tool or prompt. It is combined with the name of the client or server.
	own []attribute.KeyValue
	// group has only attributes that do not depend on a connection. It is combined with the name of the group.
	group []attribute.KeyValue
	// least has only those attributes of group that have closed sets of values. It is nil if all attributes of group do.
	least []attribute.KeyValue
}

// place returns the options for a measurement, in the longest form for which the budget has a place.
func (m *metrics) place(b *series.Budget, of measured) *series.Options {
	var buf [5]series.Form
	forms, roomForTools := buf[:0], b.RoomForTools(m.side.tel.ins.names.Len())
	if of.labelled != nil {
		forms = append(forms, series.Form{Room: roomForTools / 2, Set: setOf(of.labelled, m.named())})
	}
	if of.precise != nil {
		forms = append(forms, series.Form{Room: roomForTools, Set: setOf(of.precise, m.named())})
	}
	forms = append(forms, series.Form{Room: b.RoomForNames(), Set: setOf(of.own, m.named())},
		series.Form{Room: b.RoomForGroups(), Set: setOf(of.group, m.folded())})
	if of.least != nil {
		forms = append(forms, series.Form{Set: setOf(of.least, m.folded())})
	}
	return b.Take(forms...)
}

func setOf(attrs, owner []attribute.KeyValue) attribute.Set {
	return attribute.NewSet(append(present(attrs...), owner...)...)
}

// named returns the attributes that name the side.
func (m *metrics) named() []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String(m.side.keys.name, m.side.name)}
	if m.side.group != "" {
		attrs = append(attrs, attribute.String(m.side.keys.group, m.groupLabel()))
	}
	return attrs
}

// folded returns the attributes that replace named if the limit of names is reached. Servers have no groups.
func (m *metrics) folded() []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String(m.side.keys.name, names.Other)}
	if m.side.which == telemetry.SideClient {
		attrs = append(attrs, attribute.String(m.side.keys.group, m.groupLabel()))
	}
	return attrs
}

// groupLabel returns the metric label of the group. It is _OTHER without a group, and beyond the limit.
func (m *metrics) groupLabel() string { return m.side.tel.ins.groups.Label(m.side.group) }
