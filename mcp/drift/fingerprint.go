package drift

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
)

// Digest is the SHA-256 of one part of a definition in its canonical form. The zero Digest stands for a part that a
// tool does not have.
type Digest [sha256.Size]byte

// String returns the digest as 64 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns what String does.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return fmt.Errorf("a digest has %d hexadecimal digits, this one %d bytes", hex.EncodedLen(len(d)), len(text))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// Part is a part of the definition of a tool.
type Part string

// The parts, in the order in which a [Change] has them.
const (
	PartTitle        Part = "title"
	PartDescription  Part = "description"
	PartInputSchema  Part = "input_schema"
	PartOutputSchema Part = "output_schema"
	PartAnnotations  Part = "annotations"
)

// Fingerprint is what the definition of one tool is compared by. Two that are equal by == are of definitions that say
// the same.
type Fingerprint struct {
	Title        Digest `json:"title,omitzero"`
	Description  Digest `json:"description,omitzero"`
	InputSchema  Digest `json:"inputSchema,omitzero"`
	OutputSchema Digest `json:"outputSchema,omitzero"`
	Annotations  Digest `json:"annotations,omitzero"` // zero also if all hints have their defaults
}

// Of returns the fingerprint of a tool. It leaves the tool alone. The time it takes grows with the text of the schemas.
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

// ofAnnotations takes hints with the defaults that the specification gives them (2026-07-28, schema, ToolAnnotations).
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

// parts returns the digests in the order of the constants.
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

// Tools are the fingerprints of the tools of one list, by their names.
type Tools map[string]Fingerprint

// ToolsOf returns the fingerprints of tools. It keeps none of their memory.
func ToolsOf(all []*mcp.Tool) Tools {
	tools := make(Tools, len(all))
	for _, t := range all {
		tools.Add(t)
	}
	return tools
}

// Add adds a tool, whose memory is not kept. A list that has two of one name, which it must not have, is compared by
// both, whichever is the first: it is not said which one a call reaches.
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
