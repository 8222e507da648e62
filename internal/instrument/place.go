package instrument

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/instrument/series"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// measured are the attributes of a measurement beside whose it is, in the forms that it is recorded in.
type measured struct {
	labelled []attribute.KeyValue // with the label from the baggage, and all of precise; nil if there is no label
	precise  []attribute.KeyValue // with the name of a tool or prompt; nil if there is none
	own      []attribute.KeyValue // without it, under the name of the client or server
	group    []attribute.KeyValue // under that of the group: nothing of the one connection
	least    []attribute.KeyValue // likewise, and of closed sets only; nil if those of group are
}

// place returns the options to record m with: in its longest form for which the budget has a place.
func (s *side) place(b *series.Budget, m measured) *series.Options {
	var buf [5]series.Form
	forms, roomForTools := buf[:0], b.RoomForTools(s.tel.ins.names.Len())
	if m.labelled != nil {
		forms = append(forms, series.Form{Room: roomForTools / 2, Set: setOf(m.labelled, s.named())})
	}
	if m.precise != nil {
		forms = append(forms, series.Form{Room: roomForTools, Set: setOf(m.precise, s.named())})
	}
	forms = append(forms, series.Form{Room: b.RoomForNames(), Set: setOf(m.own, s.named())},
		series.Form{Room: b.RoomForGroups(), Set: setOf(m.group, s.folded())})
	if m.least != nil {
		forms = append(forms, series.Form{Set: setOf(m.least, s.folded())})
	}
	return b.Take(forms...)
}

func setOf(attrs, whose []attribute.KeyValue) attribute.Set {
	return attribute.NewSet(append(present(attrs...), whose...)...)
}

// named says whose a measurement is.
func (s *side) named() []attribute.KeyValue {
	whose := []attribute.KeyValue{attribute.String(s.keys.name, s.name)}
	if s.group != "" {
		whose = append(whose, attribute.String(s.keys.group, s.groupLabel()))
	}
	return whose
}

// folded says it where there are more names than places. Servers have no groups.
func (s *side) folded() []attribute.KeyValue {
	whose := []attribute.KeyValue{attribute.String(s.keys.name, names.Other)}
	if s.which == telemetry.ClientSide {
		whose = append(whose, attribute.String(s.keys.group, s.groupLabel()))
	}
	return whose
}

// groupLabel returns the group as metrics have it: _OTHER for none, and beyond the limit.
func (s *side) groupLabel() string { return s.tel.ins.groups.Label(s.group) }
