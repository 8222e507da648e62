package mcp

import (
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CompleteParams are the params of completion/complete, which asks for values that complete the user's input. See
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion.
type CompleteParams struct {
	Meta     Meta             `json:"_meta,omitzero"`
	Ref      CompleteRef      `json:"ref" mcp:"required"`
	Argument CompleteArgument `json:"argument" mcp:"required"`
	Context  *CompleteContext `json:"context,omitzero"` // from 2025-06-18
}

// RefType is the kind of object that a [CompleteRef] identifies.
type RefType string

const (
	RefPrompt   RefType = "ref/prompt"
	RefResource RefType = "ref/resource"
)

// CompleteRef identifies the prompt (by Name), resource or resource template (by URI) to which the argument belongs.
// [PromptRef] and [ResourceRef] return a CompleteRef.
type CompleteRef struct {
	Type  RefType `json:"type" mcp:"required"`
	Name  string  `json:"name,omitzero"`
	Title string  `json:"title,omitzero"` // title of a prompt; from 2025-06-18
	URI   string  `json:"uri,omitzero"`   // URI or URI template
}

// PromptRef returns a reference to the prompt with this name.
func PromptRef(name string) CompleteRef { return CompleteRef{Type: RefPrompt, Name: name} }

// ResourceRef returns a reference to a resource or resource template. uri is the URI or URI template, exactly as the
// server lists it.
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

// CompleteArgument is the argument that the user is typing.
type CompleteArgument struct {
	Name  string `json:"name" mcp:"required"`
	Value string `json:"value"` // the text typed so far
}

// CompleteContext holds the arguments that already have a value.
type CompleteContext struct {
	Arguments map[string]string `json:"arguments,omitzero"`
}

// CompleteResult answers completion/complete.
type CompleteResult struct {
	Result
	Completion Completion `json:"completion" mcp:"required"`
}

// maxCompletions is the maximum number of values in an answer.
// (specification 2026-07-28, server/utilities/completion)
const maxCompletions = 100

// decode decodes text. It keeps the first maxCompletions values; if there are more, HasMore becomes true.
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
	err := jsonv2.Unmarshal(text, r, decodeOptions, jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(first, integers)))
	r.Completion.HasMore = r.Completion.HasMore || cut
	return err
}

// Completion is a list of suggested values, with the best match first.
type Completion struct {
	Values  []string `json:"values" mcp:"required"` // at most 100; decoding drops the rest
	Total   *int64   `json:"total,omitzero"`        // number of matching values, if known
	HasMore bool     `json:"hasMore,omitzero"`
}
