package instrument

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// ToolSize is the size of a part of a tool's definition. It has the same fields as Size of package contextcost, so that
// one type converts to the other.
type ToolSize struct{ Bytes, EstimatedTokens int }

func (s *ToolSize) add(other ToolSize) {
	s.Bytes += other.Bytes
	s.EstimatedTokens += other.EstimatedTokens
}

// ToolList adds up the sizes of the definitions in one list of tools. It is not safe for concurrent use. Methods of a
// nil ToolList do nothing.
type ToolList struct {
	Tools int
	Size  ToolSize // size of all tools together

	*toolSizes // nil without telemetry.WithContextCost
}

// toolSizes holds the sizes of the first tools of a list. All other tools share one size.
type toolSizes struct {
	limit int
	each  []toolSize
}

// toolSize holds the sizes of the parts of a definition, in the order of words.DefinitionParts.
type toolSize struct {
	name  string
	parts [2]ToolSize
}

// Metered reports whether a meter records measurements of the client.
func (c *Client) Metered() bool {
	if c == nil {
		return false
	}
	ctx := context.Background()
	return c.tel.ins.clientDuration.Enabled(ctx) || c.ins.size.Enabled(ctx) || c.tel.ins.gauges.read.Load()
}

// NewToolList returns an empty ToolList, or nil if the client's telemetry is off.
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

// Add adds a tool. The sizes of its description and its schema are recorded separately. The name may be a part of a
// frame.
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

// addTo adds the parts of a tool under its name. After the limit of names, all other tools share one size.
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

// AddList adds the tools of another list. The other list stays unchanged.
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

// ToolsListed sets the list of the server's tools. The gauges show it until the next list, or until the client is
// closed.
func (c *Client) ToolsListed(l *ToolList) {
	if c != nil {
		c.listed.Store(l)
	}
}

// ListedTools returns the latest list. It returns nil before the first list. The list is immutable.
func (c *Client) ListedTools() *ToolList {
	if c == nil {
		return nil
	}
	return c.listed.Load()
}

// observeTools observes the sizes of tools. Clients with the same name usually have the same server, whose tools a
// model gets only once. So the gauges show the largest list of these clients, and not the sum.
func (g *gauges) observeTools(o metric.Observer, clients []*Client) {
	for _, m := range []struct {
		list, definition metric.Int64Observable
		of               func(ToolSize) int64
	}{
		{g.ins.toolsSize, g.ins.toolSize, func(s ToolSize) int64 { return int64(s.Bytes) }},
		{g.ins.toolsTokens, g.ins.toolTokens, func(s ToolSize) int64 { return int64(s.EstimatedTokens) }},
	} {
		lists, definitions := map[gaugeKey]int64{}, map[gaugeKey]int64{}
		for _, c := range clients {
			l := c.listed.Load()
			if l == nil {
				continue
			}
			w := c.metrics.gaugeKey()
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
		for w, n := range foldShortest(lists, words.FoldedNames, clientsBeyond) {
			o.ObserveInt64(m.list, n, w.set(&clientKeys))
		}
		for w, n := range foldTools(definitions) {
			o.ObserveInt64(m.definition, n, w.set(&clientKeys, attribute.String(names.KeyGenAIToolName, w.tool),
				attribute.String(names.KeyMCPClientToolDefinitionPart, w.part)))
		}
	}
}

// foldTools returns the sizes of definitions by name. If the limit of series is exceeded, it adds up the smallest tools
// of each client. If there are too many client names, it adds up the clients of each group.
func foldTools(all map[gaugeKey]int64) map[gaugeKey]int64 {
	if len(all) <= words.MaxSets {
		return all
	}
	ofNames := map[gaugeKey]int64{}
	for w, n := range all {
		ofNames[toolsBeyond(w)] += n
	}
	if len(ofNames) > words.MaxSets/2 {
		return foldShortest(ofNames, len(words.DefinitionParts)*words.FoldedNames, clientsBeyond)
	}
	return foldShortest(all, len(ofNames), toolsBeyond)
}

// toolsBeyond returns the series _OTHER of w's client. It holds the sum over the tools of the client that exceed the
// limit of series.
func toolsBeyond(w gaugeKey) gaugeKey {
	w.tool = names.Other
	return w
}
