package instrument

import (
	"go.opentelemetry.io/otel/attribute"

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
func (s *side) place(b *budget, m measured) *options {
	var buf [5]form
	forms, roomForTools := buf[:0], b.roomForTools(s.tel.ins.names.len())
	if m.labelled != nil {
		forms = append(forms, form{roomForTools / 2, setOf(m.labelled, s.named())})
	}
	if m.precise != nil {
		forms = append(forms, form{roomForTools, setOf(m.precise, s.named())})
	}
	forms = append(forms, form{b.roomForNames(), setOf(m.own, s.named())},
		form{b.roomForGroups(), setOf(m.group, s.folded())})
	if m.least != nil {
		forms = append(forms, form{set: setOf(m.least, s.folded())})
	}
	return b.take(forms...)
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
func (s *side) groupLabel() string { return s.tel.ins.groups.label(s.group) }
