package mcpserver

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
)

// contentIn returns blocks as a revision has them: list itself if that changes nothing. Members that the revision does
// not have are left out, and what it has no kind of block for becomes text: a link to a resource the name and the URI
// of it, a sound a note that there was one.
// (schemas of the revisions, ContentBlock and its kinds)
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

// blockIn returns one block as a revision before 2025-11-25 has it: c itself if that changes nothing.
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

// linkIn returns a link to a resource as a revision before 2025-11-25 has it.
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

// linkAsText says of a link what a model needs to read the resource.
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

// soundAsText says what is missing.
func soundAsText(c *mcp.AudioContent) string {
	size := base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(c.Data, "=")))
	return fmt.Sprintf("[audio, %s, %d bytes: left out, this revision of the protocol has no audio]", c.MIMEType, size)
}

func dated(a *mcp.Annotations) bool { return a != nil && a.LastModified != "" }

// plainContents returns the contents of a resource as revisions before 2025-06-18 have them.
func plainContents(c *mcp.ResourceContents) *mcp.ResourceContents {
	if c == nil || c.Meta == nil {
		return c
	}
	c = new(*c)
	c.Meta = nil
	return c
}

// promptResult returns a copy of r as the client's revision has it.
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

// readResult returns a copy of r as the client's revision has it.
// (specification 2026-07-28, server/utilities/caching)
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

// completeResult returns a copy of r as the client's revision has it.
func (w view) completeResult(r *mcp.CompleteResult) *mcp.CompleteResult {
	shown := *r
	w.finish(&shown.Result)
	return &shown
}

// finish makes r what all results of the client's revision are.
func (w view) finish(r *mcp.Result) {
	if !w.modern() {
		r.ResultType = ""
		return
	}
	r.ResultType = finalType(r.ResultType)
	r.Meta = w.s.signature.meta(r.Meta)
}

// finalType returns the type of a result that is the final one of its method, whatever its author calls it: tasks and
// what is required of the client are other results. Types of other extensions are the author's.
// (specification 2026-07-28, basic/patterns/mrtr, "Supported Requests"; tasks extension, "Polymorphic Results")
func finalType(t mcp.ResultType) mcp.ResultType {
	switch t {
	case "", mcp.ResultTask, mcp.ResultInputRequired:
		return mcp.ResultComplete
	}
	return t
}
