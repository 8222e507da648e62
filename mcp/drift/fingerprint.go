package drift

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
)

// Digest is the SHA-256 of one part of a definition in its canonical form. The zero Digest means that the tool does
// not have the part.
type Digest [sha256.Size]byte

// String returns the digest as 64 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns the digits of String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses the output of MarshalText.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return fmt.Errorf("a digest must have %d hexadecimal digits, not %d", hex.EncodedLen(len(d)), len(text))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// Part names a part of a tool's definition.
type Part string

// The parts, in the order in which a [Change] lists them.
const (
	PartTitle        Part = "title"
	PartDescription  Part = "description"
	PartInputSchema  Part = "input_schema"
	PartOutputSchema Part = "output_schema"
	PartAnnotations  Part = "annotations"
)

// Fingerprint holds a digest of each part of a tool's definition. Equivalent definitions compare equal with ==.
type Fingerprint struct {
	Title        Digest `json:"title,omitzero"`
	Description  Digest `json:"description,omitzero"`
	InputSchema  Digest `json:"inputSchema,omitzero"`
	OutputSchema Digest `json:"outputSchema,omitzero"`
	Annotations  Digest `json:"annotations,omitzero"` // also zero if all hints have their defaults
}

// Of returns the fingerprint of a tool. It does not change the tool. Its running time grows with the length of the
// schemas.
func Of(t *mcp.Tool) Fingerprint {
	return Fingerprint{
		Title: ofText(t.Title), Description: ofText(t.Description),
		InputSchema: ofSchema(t.InputSchema), OutputSchema: ofSchema(t.OutputSchema),
		Annotations: ofAnnotations(t.Annotations),
	}
}

func ofText(s string) Digest {
	if s == "" {
		return Digest{}
	}
	return sha256.Sum256([]byte(s))
}

func ofSchema(text []byte) Digest {
	if len(text) == 0 {
		return Digest{}
	}
	return sha256.Sum256(canonical(text))
}

// ofAnnotations replaces absent hints with the defaults of the specification (2026-07-28, schema, ToolAnnotations).
func ofAnnotations(a *mcp.ToolAnnotations) Digest {
	if a == nil {
		return Digest{}
	}
	hint := func(h *bool, byDefault bool) byte {
		if (h == nil && byDefault) || (h != nil && *h) {
			return '1'
		}
		return '0'
	}
	said := func(a *mcp.ToolAnnotations) string {
		return string([]byte{hint(a.ReadOnlyHint, false), hint(a.DestructiveHint, true), hint(a.IdempotentHint, false),
			hint(a.OpenWorldHint, true)}) + a.Title
	}
	if text := said(a); text != said(&mcp.ToolAnnotations{}) {
		return ofText(text)
	}
	return Digest{}
}

// parts returns the digests in the order of the Part constants.
func (f *Fingerprint) parts() [5]struct {
	part   Part
	digest *Digest
} {
	return [5]struct {
		part   Part
		digest *Digest
	}{
		{PartTitle, &f.Title}, {PartDescription, &f.Description}, {PartInputSchema, &f.InputSchema},
		{PartOutputSchema, &f.OutputSchema}, {PartAnnotations, &f.Annotations},
	}
}

// changed returns the parts in which two fingerprints differ.
func changed(before, after Fingerprint) (parts []Part) {
	old := before.parts()
	for i, p := range after.parts() {
		if *p.digest != *old[i].digest {
			parts = append(parts, p.part)
		}
	}
	return parts
}

// Tools maps the names of tools to their fingerprints.
type Tools map[string]Fingerprint

// ToolsOf returns the fingerprints of tools. It keeps no reference to their memory.
func ToolsOf(all []*mcp.Tool) Tools {
	tools := make(Tools, len(all))
	for _, t := range all {
		tools.Add(t)
	}
	return tools
}

// Add adds a tool and keeps no reference to its memory. A list must not contain two tools with the same name. If it
// does, Add combines the fingerprints of both, because a call may reach either tool. The order of the two tools makes
// no difference.
func (t Tools) Add(tool *mcp.Tool) {
	f := Of(tool)
	other, twice := t[tool.Name]
	if twice {
		f = both(f, other)
	}
	t[strings.Clone(tool.Name)] = f
}

func both(f, other Fingerprint) Fingerprint {
	others := other.parts()
	for i, p := range f.parts() {
		a, b := p.digest[:], others[i].digest[:]
		switch bytes.Compare(a, b) {
		case -1:
			*p.digest = sha256.Sum256(append(a[:len(a):len(a)], b...))
		case 1:
			*p.digest = sha256.Sum256(append(b[:len(b):len(b)], a...))
		}
	}
	return f
}
