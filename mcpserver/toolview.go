package mcpserver

import (
	"encoding/json"

	"github.com/mcpotel/mcpotel/mcp"
)

// toolMembers lists the members of a tool that some revisions lack. (schemas of the revisions, Tool)
var toolMembers = []member[mcp.Tool]{
	{first: mcp.Version20250326, drop: func(t *mcp.Tool) { t.Annotations = nil }},
	{first: mcp.Version20250618, drop: func(t *mcp.Tool) { t.Title, t.OutputSchema, t.Meta = "", nil, nil }},
	{first: mcp.Version20251125, drop: func(t *mcp.Tool) { t.Icons = nil }},
	{first: mcp.Version20251125, last: mcp.Version20251125, drop: func(t *mcp.Tool) { t.Execution = nil }},
	{first: mcp.Version20260728, drop: func(t *mcp.Tool) {
		if !objectSchema(t.OutputSchema) {
			t.OutputSchema = nil
		}
	}},
}

// toolIn returns a copy of t without the members that the revision v does not have.
func toolIn(t *mcp.Tool, v mcp.Version) *mcp.Tool { return inRevision(t, toolMembers, v) }

// view returns the tool, encoded for clients of a revision.
func (t *tool) view(v mcp.Version) (json.RawMessage, error) {
	return viewOf(&t.views, t.Tool, toolMembers, v)
}

// objectSchema reports whether a schema has the type object, which revisions before 2026-07-28 require of output
// schemas.
func objectSchema(raw json.RawMessage) bool {
	kind, _ := mcp.Object(raw).Lookup("type")
	return string(kind) == `"object"`
}
