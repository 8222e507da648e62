package mcpserver

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/mcp"
)

// views holds the encodings of an entry for the protocol revisions. The first use of an encoding creates it.
type views [len(revisions)]atomic.Pointer[json.RawMessage]

// revisions are the revisions for which views have an encoding.
var revisions = [...]mcp.Version{
	mcp.Version20241105, mcp.Version20250326, mcp.Version20250618, mcp.Version20251125, mcp.Version20260728,
}

// member is a part of a T that some revisions lack.
type member[T any] struct {
	first, last mcp.Version // revisions that have the member; an empty last means no end
	drop        func(*T)    // removes the member from a T, without changing memory that the T refers to
}

func (m *member[T]) in(v mcp.Version) bool { return v >= m.first && (m.last == "" || v <= m.last) }

// viewOf returns the encoding of whole, a complete value, for revision v: without the members that v lacks.
func viewOf[T any](forms *views, whole *T, members []member[T], v mcp.Version) (json.RawMessage, error) {
	form := &forms[max(0, slices.Index(revisions[:], v))]
	if shown := form.Load(); shown != nil {
		return *shown, nil
	}
	if err := given.Check(whole); err != nil {
		return nil, err
	}
	raw, err := mcp.AppendResult(nil, inRevision(whole, members, v))
	if err != nil {
		return nil, err
	}
	form.Store(new(json.RawMessage(raw)))
	return raw, nil
}

// inRevision returns a copy of whole without the members that the revision v lacks.
func inRevision[T any](whole *T, members []member[T], v mcp.Version) *T {
	shown := new(*whole)
	for i := range members {
		if !members[i].in(v) {
			members[i].drop(shown)
		}
	}
	return shown
}

// undated returns the annotations without LastModified, for protocol revisions before 2025-06-18. If LastModified is
// not set, undated returns the argument itself.
func undated(a *mcp.Annotations) *mcp.Annotations {
	if a == nil || a.LastModified == "" {
		return a
	}
	a = new(*a)
	a.LastModified = ""
	return a
}

// contentIn adapts content blocks to the protocol revision v, according to the type ContentBlock in the schema of each
// revision. It omits members that v lacks. It replaces blocks of a kind that v lacks with text: the name and URI of a
// resource link, a note for audio. It returns list itself if no block changes.
func contentIn(list mcp.ContentList, v mcp.Version) mcp.ContentList {
	if v >= mcp.Version20251125 {
		return list
	}
	var shown mcp.ContentList
	for i, c := range list {
		block := blockIn(c, v)
		if block == c {
			continue
		}
		if shown == nil {
			shown = slices.Clone(list)
		}
		shown[i] = block
	}
	if shown == nil {
		return list
	}
	return shown
}

// blockIn adapts one block to the protocol revision v, which must be older than 2025-11-25. It returns c itself if
// nothing changes.
func blockIn(c mcp.Content, v mcp.Version) mcp.Content {
	if link, ok := c.(*mcp.ResourceLink); ok && link != nil {
		return linkIn(link, v)
	}
	if v >= mcp.Version20250618 {
		return c
	}
	switch c := c.(type) {
	case *mcp.TextContent:
		if c != nil && (c.Meta != nil || dated(c.Annotations)) {
			return &mcp.TextContent{Text: c.Text, Annotations: undated(c.Annotations)}
		}
	case *mcp.ImageContent:
		if c != nil && (c.Meta != nil || dated(c.Annotations)) {
			return &mcp.ImageContent{Data: c.Data, MIMEType: c.MIMEType, Annotations: undated(c.Annotations)}
		}
	case *mcp.AudioContent:
		switch {
		case c == nil:
		case v < mcp.Version20250326:
			return &mcp.TextContent{Text: soundAsText(c), Annotations: undated(c.Annotations)}
		case c.Meta != nil || dated(c.Annotations):
			return &mcp.AudioContent{Data: c.Data, MIMEType: c.MIMEType, Annotations: undated(c.Annotations)}
		}
	case *mcp.EmbeddedResource:
		if c != nil && (c.Meta != nil || dated(c.Annotations) || c.Resource != nil && c.Resource.Meta != nil) {
			return &mcp.EmbeddedResource{Resource: plainContents(c.Resource), Annotations: undated(c.Annotations)}
		}
	}
	return c
}

// linkIn adapts a resource link to the protocol revision v, which must be older than 2025-11-25.
func linkIn(link *mcp.ResourceLink, v mcp.Version) mcp.Content {
	switch {
	case v < mcp.Version20250618:
		return &mcp.TextContent{Text: linkAsText(link), Annotations: undated(link.Annotations)}
	case link.Icons != nil:
		link = new(*link)
		link.Icons = nil
	}
	return link
}

// linkAsText returns a text with all data that a model needs to read the resource of a link.
func linkAsText(link *mcp.ResourceLink) string {
	text := cmp.Or(link.Title, link.Name, "resource")
	if link.MIMEType != "" {
		text += " (" + link.MIMEType + ")"
	}
	text += ": " + link.URI
	if link.Description != "" {
		text += "\n" + link.Description
	}
	return text
}

// soundAsText returns a note that replaces audio.
func soundAsText(c *mcp.AudioContent) string {
	size := base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(c.Data, "=")))
	return fmt.Sprintf("[audio, %s, %d bytes: omitted, because this protocol revision has no audio]", c.MIMEType, size)
}

func dated(a *mcp.Annotations) bool { return a != nil && a.LastModified != "" }

// plainContents adapts the contents of a resource to protocol revisions before 2025-06-18: it removes _meta.
func plainContents(c *mcp.ResourceContents) *mcp.ResourceContents {
	if c == nil || c.Meta == nil {
		return c
	}
	c = new(*c)
	c.Meta = nil
	return c
}

// promptResult returns a copy of r in the form that the client's protocol revision (w.version) requires.
func (w view) promptResult(r *mcp.GetPromptResult) *mcp.GetPromptResult {
	shown := *r
	w.finish(&shown.Result)
	if w.version >= mcp.Version20251125 {
		return &shown
	}
	shown.Messages = slices.Clone(r.Messages)
	for i, m := range shown.Messages {
		shown.Messages[i] = &mcp.PromptMessage{Role: m.Role, Content: blockIn(m.Content, w.version)}
	}
	return &shown
}

// readResult returns a copy of r in the form that the client's protocol revision (w.version) requires. A modern client
// always gets a TTL and a cache scope, as specification 2026-07-28 requires (server/utilities/caching). A legacy client
// gets neither.
func (w view) readResult(r *mcp.ReadResourceResult) *mcp.ReadResourceResult {
	shown := *r
	w.finish(&shown.Result)
	if w.modern() {
		shown.TTLMs = new(r.TTL().Milliseconds())
		shown.CacheScope = cmp.Or(r.CacheScope, mcp.CachePrivate)
		return &shown
	}
	shown.CacheHint = mcp.CacheHint{}
	if w.version < mcp.Version20250618 {
		shown.Contents = slices.Clone(r.Contents)
		for i, c := range shown.Contents {
			shown.Contents[i] = plainContents(c)
		}
	}
	return &shown
}

// completeResult returns a copy of r in the form that the client's protocol revision (w.version) requires.
func (w view) completeResult(r *mcp.CompleteResult) *mcp.CompleteResult {
	shown := *r
	w.finish(&shown.Result)
	return &shown
}

// finish sets the members that every result has in a modern revision, and removes resultType for legacy clients.
func (w view) finish(r *mcp.Result) {
	if !w.modern() {
		r.ResultType = ""
		return
	}
	r.ResultType = finalType(r.ResultType)
	r.Meta = w.s.signature.meta(r.Meta)
}

// finalType returns the type of a final result. It replaces the types task and input_required, which are not final,
// and keeps the types of other extensions.
// (specification 2026-07-28, basic/patterns/mrtr, "Supported Requests"; tasks extension, "Polymorphic Results")
func finalType(t mcp.ResultType) mcp.ResultType {
	switch t {
	case "", mcp.ResultTask, mcp.ResultInputRequired:
		return mcp.ResultComplete
	}
	return t
}

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

// view returns the JSON of the tool for clients of the protocol revision v.
func (t *tool) view(v mcp.Version) (json.RawMessage, error) {
	return viewOf(&t.views, t.Tool, toolMembers, v)
}

// objectSchema reports whether a schema has the type object. In protocol revisions before 2026-07-28, every output
// schema must have this type.
func objectSchema(raw json.RawMessage) bool {
	kind, _ := mcp.Object(raw).Lookup("type")
	return string(kind) == `"object"`
}
