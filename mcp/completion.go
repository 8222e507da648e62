package mcp

import (
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CompleteParams are the params of completion/complete: what may the user be about to type?
// See https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion.
type CompleteParams struct {
	Meta     Meta             `json:"_meta,omitzero"`
	Ref      CompleteRef      `json:"ref" mcp:"required"`
	Argument CompleteArgument `json:"argument" mcp:"required"`
	Context  *CompleteContext `json:"context,omitzero"` // from 2025-06-18
}

// RefType tells what a [CompleteRef] refers to.
type RefType string

const (
	RefPrompt   RefType = "ref/prompt"
	RefResource RefType = "ref/resource"
)

// CompleteRef refers to the prompt, by Name, or to the resource or resource template, by URI, whose argument is being
// typed. [PromptRef] and [ResourceRef] make one.
type CompleteRef struct {
	Type  RefType `json:"type" mcp:"required"`
	Name  string  `json:"name,omitzero"`
	Title string  `json:"title,omitzero"` // of a prompt; from 2025-06-18
	URI   string  `json:"uri,omitzero"`   // or URI template
}

// PromptRef refers to the prompt of this name.
func PromptRef(name string) CompleteRef { return CompleteRef{Type: RefPrompt, Name: name} }

// ResourceRef refers to the resource of this URI, or to the resource template, written as the server has it.
func ResourceRef(uri string) CompleteRef { return CompleteRef{Type: RefResource, URI: uri} }

func (r *CompleteRef) check() error {
	switch {
	case r.Type == RefPrompt && r.Name == "":
		return within("name", errMissing)
	case r.Type == RefResource && r.URI == "":
		return within("uri", errMissing)
	}
	return nil
}

// CompleteArgument is the argument that is being typed.
type CompleteArgument struct {
	Name  string `json:"name" mcp:"required"`
	Value string `json:"value"` // as far as it has been typed
}

// CompleteContext is what has been settled before.
type CompleteContext struct {
	Arguments map[string]string `json:"arguments,omitzero"`
}

// CompleteResult answers completion/complete.
type CompleteResult struct {
	Result
	Completion Completion `json:"completion" mcp:"required"`
}

// maxCompletions is how many values an answer has at most. (specification 2026-07-28, server/utilities/completion)
const maxCompletions = 100

// decode decodes text. Of the values, no more than there may be are kept.
func (r *CompleteResult) decode(text []byte) error {
	cut := false
	first := jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, values *[]string) error {
		if d.PeekKind() != '[' {
			return errors.ErrUnsupported
		}
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		for *values = []string{}; d.PeekKind() != ']'; {
			if cut = len(*values) == maxCompletions; cut {
				if err := d.SkipValue(); err != nil {
					return err
				}
				continue
			}
			var value string
			if err := jsonv2.UnmarshalDecode(d, &value); err != nil {
				return err
			}
			*values = append(*values, value)
		}
		_, err := d.ReadToken()
		return err
	})
	err := jsonv2.Unmarshal(text, r, decoding, jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(first, integers)))
	r.Completion.HasMore = r.Completion.HasMore || cut
	return err
}

// Completion is a choice of values, the most fitting first.
type Completion struct {
	Values  []string `json:"values" mcp:"required"` // 100 at most: of more, the first are decoded
	Total   *int64   `json:"total,omitzero"`        // how many there are, if that is known
	HasMore bool     `json:"hasMore,omitzero"`
}
