package instrument

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// ToolSize is what a part of a tool's definition takes. It has the fields of package contextcost's type, so that one
// converts to the other.
type ToolSize struct{ Bytes, EstimatedTokens int }

func (s *ToolSize) add(other ToolSize) {
	s.Bytes += other.Bytes
	s.EstimatedTokens += other.EstimatedTokens
}

// ToolList adds up what the definitions of the tools of one list take. It is not for concurrent use. A nil ToolList
// takes everything and does nothing.
type ToolList struct {
	Tools int
	Size  ToolSize // of all

	*toolSizes // nil without telemetry.WithContextCost
}

// toolSizes are the sizes of the first tools of a list, and one for all others.
type toolSizes struct {
	limit int
	each  []toolSize
}

// toolSize is what the parts of a definition take, in the order of words.DefinitionParts.
type toolSize struct {
	name  string
	parts [2]ToolSize
}

// Metered reports whether measurements of the client go anywhere: whether there is a meter that records.
func (c *Client) Metered() bool {
	if c == nil {
		return false
	}
	ctx := context.Background()
	return c.tel.ins.clientDuration.Enabled(ctx) || c.ins.size.Enabled(ctx) || c.tel.ins.gauges.read.Load()
}

// NewToolList returns what the tools of a list are added to, nil if nothing is observed.
func (c *Client) NewToolList() *ToolList {
	if c == nil {
		return nil
	}
	l := &ToolList{}
	if c.tel.ContextCost {
		l.toolSizes = &toolSizes{limit: c.tel.ToolLimit}
	}
	return l
}

// Add adds a tool, of which the description counts apart from the schema. The name may be a part of a frame.
func (l *ToolList) Add(tool string, description, inputSchema ToolSize) {
	if l == nil {
		return
	}
	l.Tools++
	l.Size.add(description)
	l.Size.add(inputSchema)
	if l.toolSizes != nil && l.limit > 0 {
		l.addTo(truncate(tool, words.MaxName), [...]ToolSize{description, inputSchema})
	}
}

// addTo adds the parts of a tool, under its name as long as there are places for names. The last place is for others.
func (s *toolSizes) addTo(tool string, parts [2]ToolSize) {
	switch {
	case len(s.each) < s.limit && tool != names.Other:
		s.each = append(s.each, toolSize{name: tool})
	case len(s.each) <= s.limit:
		s.each = append(s.each, toolSize{name: names.Other})
	}
	last := &s.each[len(s.each)-1]
	for i, part := range parts {
		last.parts[i].add(part)
	}
}

// AddList adds the tools of another list, which does not change.
func (l *ToolList) AddList(other *ToolList) {
	if l == nil || other == nil {
		return
	}
	l.Tools += other.Tools
	l.Size.add(other.Size)
	if l.toolSizes == nil || other.toolSizes == nil {
		return
	}
	for _, t := range other.each {
		l.addTo(t.name, t.parts)
	}
}

// ToolsListed says that the server lists these tools, and no others. The gauges show them until the next list, or until
// the client is closed.
func (c *Client) ToolsListed(l *ToolList) {
	if c != nil {
		c.listed.Store(l)
	}
}

// ListedTools returns what was listed last, nil for nothing yet. It does not change any more.
func (c *Client) ListedTools() *ToolList {
	if c == nil {
		return nil
	}
	return c.listed.Load()
}

// observeTools shows what tools take. Clients of one name have one server, as a rule, whose tools a model is given
// once: the largest list of theirs counts, and not all together.
func (g *gauges) observeTools(o metric.Observer, clients []*Client) {
	for _, m := range []struct {
		list, definition metric.Int64Observable
		of               func(ToolSize) int64
	}{
		{g.ins.toolsSize, g.ins.toolSize, func(s ToolSize) int64 { return int64(s.Bytes) }},
		{g.ins.toolsTokens, g.ins.toolTokens, func(s ToolSize) int64 { return int64(s.EstimatedTokens) }},
	} {
		lists, definitions := map[whose]int64{}, map[whose]int64{}
		for _, c := range clients {
			l := c.listed.Load()
			if l == nil {
				continue
			}
			w := c.metrics.whose()
			lists[w] = max(lists[w], m.of(l.Size))
			if l.toolSizes == nil {
				continue
			}
			for _, t := range l.each {
				for i, part := range words.DefinitionParts {
					w.tool, w.part = t.name, part
					definitions[w] = max(definitions[w], m.of(t.parts[i]))
				}
			}
		}
		for w, n := range theLongest(lists, words.FoldedNames, clientsBeyond) {
			o.ObserveInt64(m.list, n, w.set(&clientKeys))
		}
		for w, n := range foldTools(definitions) {
			o.ObserveInt64(m.definition, n, w.set(&clientKeys, attribute.String(names.KeyGenAIToolName, w.tool),
				attribute.String(names.KeyMCPClientToolDefinitionPart, w.part)))
		}
	}
}

// foldTools returns the sizes of definitions, those for which there are no places added up: first the smallest tools of
// a client, and where there are too many names for that as well, the clients of a group.
func foldTools(all map[whose]int64) map[whose]int64 {
	if len(all) <= words.MaxSets {
		return all
	}
	ofNames := map[whose]int64{}
	for w, n := range all {
		ofNames[toolsBeyond(w)] += n
	}
	if len(ofNames) > words.MaxSets/2 {
		return theLongest(ofNames, len(words.DefinitionParts)*words.FoldedNames, clientsBeyond)
	}
	return theLongest(all, len(ofNames), toolsBeyond)
}

// toolsBeyond stands for the tools of w's client where there are more than places.
func toolsBeyond(w whose) whose {
	w.tool = names.Other
	return w
}
