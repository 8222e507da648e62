package mcpserver

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/mcp"
)

// views are the forms of an entry in the revisions of the protocol, each encoded on first use.
type views [len(revisions)]atomic.Pointer[json.RawMessage]

// revisions are the revisions for which views have a form.
var revisions = [...]mcp.Version{
	mcp.Version20241105, mcp.Version20250326, mcp.Version20250618, mcp.Version20251125, mcp.Version20260728,
}

// member is a part of a T that some revisions lack.
type member[T any] struct {
	first, last mcp.Version // revisions that have it; an empty last means no end
	drop        func(*T)    // removes it from a T, without changing memory that the T refers to
}

func (m *member[T]) in(v mcp.Version) bool { return v >= m.first && (m.last == "" || v <= m.last) }

// viewOf returns whole, encoded for the revision v without the members that v lacks.
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

// undated returns a without LastModified, which revisions before 2025-06-18 lack. It returns a itself if it has none.
func undated(a *mcp.Annotations) *mcp.Annotations {
	if a == nil || a.LastModified == "" {
		return a
	}
	a = new(*a)
	a.LastModified = ""
	return a
}
