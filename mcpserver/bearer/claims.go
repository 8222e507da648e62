package bearer

import (
	"encoding/json"
	"strings"
)

// oneOrMany is a claim that is a string or a list of strings.
type oneOrMany []string

func (o *oneOrMany) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*o = oneOrMany{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(o))
}

// words is a claim that contains scopes: a string with scopes separated by spaces (RFC 8693 §4.2), or a list of
// strings.
type words []string

func (w *words) UnmarshalJSON(data []byte) error {
	var texts oneOrMany
	if err := texts.UnmarshalJSON(data); err != nil {
		return err
	}
	for _, text := range texts {
		*w = append(*w, strings.Fields(text)...)
	}
	return nil
}
