package contextcost

import (
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
	head := jsonscan.AppendString([]byte(`{"name":`), t.Name)
	if t.Description != "" {
		head = jsonscan.AppendString(append(head, `,"description":`...), t.Description)
	}
	if len(t.InputSchema) > 0 {
		head = append(head, `,"inputSchema":`...)
	}
	return Definition{sizeOf(append(head, '}')), sizeOf(compact(t.InputSchema))}
}

func sizeOf(text []byte) Size { return Size{len(text), EstimateTokens(text)} }

// compact returns a JSON text without the space between its tokens. What is no JSON stays as it is.
func compact(text []byte) []byte {
	b := make([]byte, 0, len(text))
	for i := jsonscan.Space(text, 0); i < len(text); i = jsonscan.Space(text, i) {
		end := i + 1
		if text[i] == '"' {
			var err error
			if end, _, err = jsonscan.String(text, i); err != nil {
				return text
			}
		}
		b = append(b, text[i:end]...)
		i = end
	}
	return b
}
