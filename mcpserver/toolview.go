package mcpserver

import (
	"encoding/json"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/mcp"
)

// toolViews are the forms of a tool in the revisions of the protocol, each encoded when it is first asked for.
type toolViews [len(toolMembers)]atomic.Pointer[json.RawMessage]

// toolMembers says, from the newest revision to the oldest, what a tool loses on the way to it.
// (schemas of the revisions, Tool)
var toolMembers = [...]struct {
	version mcp.Version
	drop    func(*mcp.Tool)
}{
	{mcp.Version20260728, func(t *mcp.Tool) { t.Execution = nil }},
	{mcp.Version20251125, func(t *mcp.Tool) {
		if !objectSchema(t.OutputSchema) {
			t.OutputSchema = nil
		}
	}},
	{mcp.Version20250618, func(t *mcp.Tool) { t.Icons, t.Execution = nil, nil }},
	{mcp.Version20250326, func(t *mcp.Tool) { t.Title, t.OutputSchema, t.Meta = "", nil, nil }},
	{mcp.Version20241105, func(t *mcp.Tool) { t.Annotations = nil }},
}

// toolForm returns which of the forms is that of a revision.
func toolForm(v mcp.Version) int {
	i := 0
	for i < len(toolMembers)-1 && v < toolMembers[i].version {
		i++
	}
	return i
}

// toolIn returns a copy of t without the members that the revision v does not have.
func toolIn(t *mcp.Tool, v mcp.Version) *mcp.Tool {
	shown := *t
	i := toolForm(v)
	for _, m := range toolMembers[min(i, 1) : i+1] {
		m.drop(&shown)
	}
	return &shown
}

// view returns the tool as clients of a revision see it.
func (t *tool) view(v mcp.Version) (json.RawMessage, error) {
	i := toolForm(v)
	if shown := t.views[i].Load(); shown != nil {
		return *shown, nil
	}
	raw, err := mcp.AppendResult(nil, toolIn(t.Tool, v))
	if err != nil {
		return nil, err
	}
	t.views[i].Store(new(json.RawMessage(raw)))
	return raw, nil
}

// objectSchema reports whether a schema is that of an object, as revisions before 2026-07-28 want it of every output.
func objectSchema(raw json.RawMessage) bool {
	kind, _ := mcp.Object(raw).Lookup("type")
	return string(kind) == `"object"`
}
