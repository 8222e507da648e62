package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// tagName is the key of the field tag for keywords: `keywords:"minimum=1,maximum=10,default=5"`.
const tagName = "keywords"

// refine adds the keywords of tags to s, the schema that the library inferred from t. It also removes null from the
// types of lists, because package json/v2 encodes a nil slice as an empty list.
func (i *inspection) refine(t reflect.Type, s *jsonschema.Schema, place string) error {
	t = base(t)
	if i.forms[t] != nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return i.refineFields(t, s, place)
	case reflect.Map:
		return i.refine(t.Elem(), s.AdditionalProperties, place+"[]")
	case reflect.Slice, reflect.Array:
		s.Type, s.Types = "array", nil
		return i.refine(t.Elem(), s.Items, place+"[]")
	}
	return nil
}

func (i *inspection) refineFields(t reflect.Type, s *jsonschema.Schema, place string) error {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		p, place := s.Properties[name], place+"."+f.Name
		if p == nil {
			continue // a less deeply nested field has the same name
		}
		if err := i.refine(f.Type, p, place); err != nil {
			return err
		}
		if base(f.Type) == reflect.TypeFor[time.Duration]() && p.Description == "" {
			p.Description = "in nanoseconds"
		}
		tag, ok := f.Tag.Lookup(tagName)
		if !ok {
			continue
		}
		if err := applyTag(p, tag); err != nil {
			return fmt.Errorf("%s: tag %s:%q: %w", place, tagName, tag, err)
		}
		if p.Default != nil { // a property with a default is not required
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		}
	}
	return nil
}

// A tagKeyword sets a keyword of s from the value in a tag. kind is the type of s other than null.
type tagKeyword struct {
	kinds []string // types of the schemas that may have the keyword; nil for all
	set   func(s *jsonschema.Schema, kind, value string) error
}

var (
	numeric = []string{"integer", "number"}
	textual = []string{"string"}
	lists   = []string{"array"}
)

// tagKeywords are the keywords that a tag may have.
var tagKeywords = map[string]tagKeyword{
	"enum": {slices.Concat(numeric, textual), func(s *jsonschema.Schema, kind, value string) error {
		for one := range strings.SplitSeq(value, "|") {
			raw, err := literal(kind, one)
			if err != nil {
				return err
			}
			s.Enum = append(s.Enum, raw)
		}
		if s.Types != nil {
			s.Enum = append(s.Enum, nil) // null, for a pointer
		}
		return nil
	}},
	"default": {nil, func(s *jsonschema.Schema, kind, value string) (err error) {
		s.Default, err = defaultOf(s, kind, value)
		return err
	}},
	"minimum":          {numeric, number(func(s *jsonschema.Schema) **float64 { return &s.Minimum })},
	"maximum":          {numeric, number(func(s *jsonschema.Schema) **float64 { return &s.Maximum })},
	"exclusiveMinimum": {numeric, number(func(s *jsonschema.Schema) **float64 { return &s.ExclusiveMinimum })},
	"exclusiveMaximum": {numeric, number(func(s *jsonschema.Schema) **float64 { return &s.ExclusiveMaximum })},
	"multipleOf":       {numeric, number(func(s *jsonschema.Schema) **float64 { return &s.MultipleOf })},
	"minLength":        {textual, count(func(s *jsonschema.Schema) **int { return &s.MinLength })},
	"maxLength":        {textual, count(func(s *jsonschema.Schema) **int { return &s.MaxLength })},
	"pattern":          {textual, word(func(s *jsonschema.Schema) *string { return &s.Pattern })},
	"format":           {textual, word(func(s *jsonschema.Schema) *string { return &s.Format })},
	"minItems":         {lists, count(func(s *jsonschema.Schema) **int { return &s.MinItems })},
	"maxItems":         {lists, count(func(s *jsonschema.Schema) **int { return &s.MaxItems })},
	"uniqueItems": {lists, func(s *jsonschema.Schema, _, value string) (err error) {
		s.UniqueItems, err = strconv.ParseBool(value)
		return err
	}},
}

func number(field func(*jsonschema.Schema) **float64) func(*jsonschema.Schema, string, string) error {
	return func(s *jsonschema.Schema, _, value string) error {
		n, err := strconv.ParseFloat(value, 64)
		*field(s) = &n
		return err
	}
}

func count(field func(*jsonschema.Schema) **int) func(*jsonschema.Schema, string, string) error {
	return func(s *jsonschema.Schema, _, value string) error {
		n, err := strconv.ParseUint(value, 10, 31)
		*field(s) = new(int(n))
		return err
	}
}

func word(field func(*jsonschema.Schema) *string) func(*jsonschema.Schema, string, string) error {
	return func(s *jsonschema.Schema, _, value string) error {
		*field(s) = value
		return nil
	}
}

// applyTag sets the keywords of a tag. On a list, keywords that are not for lists apply to its elements.
func applyTag(s *jsonschema.Schema, tag string) error {
	settings, err := parseTag(tag)
	if err != nil {
		return err
	}
	for _, set := range settings {
		k, ok := tagKeywords[set.key]
		if !ok {
			return fmt.Errorf("unknown keyword %s; want one of %s", set.key,
				strings.Join(slices.Sorted(maps.Keys(tagKeywords)), ", "))
		}
		on, kind := s, kindOf(s)
		if kind == "array" && k.kinds != nil && !slices.Contains(k.kinds, kind) {
			on, kind = s.Items, kindOf(s.Items)
		}
		if k.kinds != nil && !slices.Contains(k.kinds, kind) {
			return fmt.Errorf("%s is for type %s, not for %s", set.key, strings.Join(k.kinds, " or "), orAny(kind))
		}
		if err := k.set(on, kind, set.value); err != nil {
			return fmt.Errorf("%s: %w", set.key, err)
		}
	}
	return checkValues(s)
}

func kindOf(s *jsonschema.Schema) string {
	if s.Type == "" && len(s.Types) > 0 {
		return s.Types[len(s.Types)-1] // null comes first
	}
	return s.Type
}

func orAny(kind string) string {
	if kind == "" {
		return "any JSON"
	}
	return kind
}

// A setting is one keyword in a tag.
type setting struct{ key, value string }

var errQuote = errors.New("a quotation mark is missing")

// parseTag splits a tag at its commas. A value in single quotation marks may contain commas; two marks inside it mean
// one.
func parseTag(tag string) (all []setting, err error) {
	for tag != "" {
		var s setting
		end := strings.IndexAny(tag, "=,")
		if end < 0 {
			end = len(tag)
		}
		s.key, s.value = strings.TrimSpace(tag[:end]), "true"
		tag = tag[end:]
		if rest, ok := strings.CutPrefix(tag, "="); ok {
			if s.value, tag, err = cutValue(rest); err != nil {
				return nil, fmt.Errorf("%s: %w", s.key, err)
			}
		}
		tag = strings.TrimPrefix(tag, ",")
		all = append(all, s)
	}
	return all, nil
}

// cutValue splits text into the first value and the rest.
func cutValue(text string) (value, rest string, err error) {
	quoted, ok := strings.CutPrefix(text, "'")
	if !ok {
		if end := strings.IndexByte(text, ','); end >= 0 {
			return text[:end], text[end:], nil
		}
		return text, "", nil
	}
	for {
		part, behind, ok := strings.Cut(quoted, "'")
		if !ok {
			return "", "", errQuote
		}
		value += part
		if quoted, ok = strings.CutPrefix(behind, "'"); !ok {
			if behind != "" && behind[0] != ',' {
				return "", "", fmt.Errorf("unexpected %q after the closing quotation mark", behind)
			}
			return value, behind, nil
		}
		value += "'"
	}
}

// literal returns the JSON of a tag's value for a schema of the given type.
func literal(kind, value string) (json.RawMessage, error) {
	raw := json.RawMessage(value)
	if kind == "string" {
		return json.Marshal(value)
	}
	if !json.Valid(raw) {
		return nil, fmt.Errorf("%q is not of type %s", value, orAny(kind))
	}
	return raw, nil
}

// defaultOf returns the default of a schema as JSON. For a list, value holds its elements, separated by |.
func defaultOf(s *jsonschema.Schema, kind, value string) (json.RawMessage, error) {
	if kind != "array" || strings.HasPrefix(value, "[") {
		return literal(kind, value)
	}
	var all []json.RawMessage
	for one := range strings.SplitSeq(value, "|") {
		raw, err := literal(kindOf(s.Items), one)
		if err != nil {
			return nil, err
		}
		all = append(all, raw)
	}
	return json.Marshal(all)
}

// checkValues compiles the schema s and validates its default and its enum values against it.
func checkValues(s *jsonschema.Schema) error {
	raw, err := encode(s)
	if err != nil {
		return err
	}
	compiled, err := Compile(raw)
	if err != nil {
		return err
	}
	if s.Items != nil {
		if err := checkValues(s.Items); err != nil {
			return err
		}
	}
	values := slices.Clone(s.Enum)
	if s.Default != nil {
		values = append(values, s.Default)
	}
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := compiled.Validate(context.Background(), text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
