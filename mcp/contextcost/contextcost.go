package contextcost

import (
	"slices"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// Size is what a text takes.
type Size struct {
	Bytes           int `json:"bytes"`
	EstimatedTokens int `json:"estimatedTokens"`
}

// Plus returns the two sizes together.
func (s Size) Plus(other Size) Size {
	return Size{s.Bytes + other.Bytes, s.EstimatedTokens + other.EstimatedTokens}
}

// Definition is what the definition of one tool takes, in two parts.
type Definition struct {
	Description Size `json:"description"` // the name and the description, and the punctuation of the whole
	InputSchema Size `json:"inputSchema"`
}

// Total returns what both parts take together: the bytes are those of the definition as compact JSON.
func (d Definition) Total() Size { return d.Description.Plus(d.InputSchema) }

// Of returns what the definition of a tool takes. It leaves the tool alone.
func Of(t *mcp.Tool) Definition {
	var room [1 << 10]byte // enough for most
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

// compact returns a JSON text without the space between its tokens, which is the text itself if it has none, as from
// most servers. What is no JSON stays as it is.
func compact(text []byte) []byte {
	var b []byte
	from := 0 // what is before is in b, or space
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
