package contextcost

import (
	"slices"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// Size is the size of a text.
type Size struct {
	Bytes           int `json:"bytes"`
	EstimatedTokens int `json:"estimatedTokens"`
}

// Plus returns the sum of both sizes.
func (s Size) Plus(other Size) Size {
	return Size{s.Bytes + other.Bytes, s.EstimatedTokens + other.EstimatedTokens}
}

// Definition is the size of one tool's definition, which has two parts.
type Definition struct {
	Description Size `json:"description"` // name, description and the punctuation of the whole definition
	InputSchema Size `json:"inputSchema"`
}

// Total returns the sum of both parts. The Bytes of the sum is the length of the definition as compact JSON.
func (d Definition) Total() Size { return d.Description.Plus(d.InputSchema) }

// Of returns the size of a tool's definition. It does not change the tool.
func Of(t *mcp.Tool) Definition {
	var room [1 << 10]byte // large enough for most tools
	head := jsonscan.AppendString(append(room[:0], `{"name":`...), t.Name)
	if t.Description != "" {
		head = jsonscan.AppendString(append(head, `,"description":`...), t.Description)
	}
	if len(t.InputSchema) > 0 {
		head = append(head, `,"inputSchema":`...)
	}
	return Definition{sizeOf(append(head, '}')), sizeOf(compact(t.InputSchema))}
}

func sizeOf(text []byte) Size { return Size{len(text), EstimateTokens(text)} }

// compact returns a JSON text without space between its tokens. It returns text itself if text has no such space, as
// from most servers, or is not JSON.
func compact(text []byte) []byte {
	var b []byte
	from := 0 // start of the part of text that is not yet in b
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end, _, err := jsonscan.String(text, i)
			if err != nil {
				return text
			}
			i = end
		case c <= ' ' && jsonscan.Space(text, i) > i:
			b = append(slices.Grow(b, len(text)-from), text[from:i]...)
			i = jsonscan.Space(text, i)
			from = i
		default:
			i++
		}
	}
	if from == 0 {
		return text
	}
	return append(b, text[from:]...)
}
