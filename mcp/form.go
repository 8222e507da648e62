package mcp

import "encoding/json"

// FormSchema is the subset of JSON Schema for the RequestedSchema of [ElicitParams]: an object without nested fields.
// Package encoding/json converts it from and to RequestedSchema.
type FormSchema struct {
	Schema     string      // URI of the dialect ($schema); from 2025-11-25
	Properties []FormField // in the order in which the client asks for them
	Required   []string
}

// FormField is one field of a form. It is a string, number, integer or boolean; a choice of one string from Enum or
// OneOf; or an array, which is a choice of several strings from Items.
type FormField struct {
	Name        string     `json:"-"` // name of the property
	Type        FormType   `json:"type" mcp:"required"`
	Title       string     `json:"title,omitzero"`
	Description string     `json:"description,omitzero"`
	MinLength   *int64     `json:"minLength,omitzero"` // shortest string, in characters
	MaxLength   *int64     `json:"maxLength,omitzero"`
	Format      FormFormat `json:"format,omitzero"`
	Minimum     *float64   `json:"minimum,omitzero"` // smallest number
	Maximum     *float64   `json:"maximum,omitzero"`
	Enum        []string   `json:"enum,omitzero"` // allowed values
	// display names for Enum; replaced by OneOf in 2025-11-25
	EnumNames []string        `json:"enumNames,omitzero"`
	OneOf     []FormOption    `json:"oneOf,omitzero"`    // from 2025-11-25
	MinItems  *int64          `json:"minItems,omitzero"` // smallest number of items in an array
	MaxItems  *int64          `json:"maxItems,omitzero"`
	Items     *FormItems      `json:"items,omitzero"`   // allowed items of an array; from 2025-11-25
	Default   json.RawMessage `json:"default,omitzero"` // from 2025-11-25; for booleans in all revisions
}

// FormType is the type of a [FormField].
type FormType string

const (
	FormString  FormType = "string"
	FormNumber  FormType = "number"
	FormInteger FormType = "integer"
	FormBoolean FormType = "boolean"
	FormArray   FormType = "array" // an array of strings from a list; from 2025-11-25
)

// FormFormat is the format of a string.
type FormFormat string

const (
	FormEmail    FormFormat = "email"
	FormURI      FormFormat = "uri"
	FormDate     FormFormat = "date"
	FormDateTime FormFormat = "date-time"
)

// FormOption is a value that the user can choose, and its display name.
type FormOption struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// FormItems lists the allowed items of an array: either strings (Type is string) or strings with titles.
type FormItems struct {
	Type  FormType     `json:"type,omitzero"`
	Enum  []string     `json:"enum,omitzero"`
	AnyOf []FormOption `json:"anyOf,omitzero"`
}

// formJSON is the JSON form of a [FormSchema].
type formJSON struct {
	Schema     string   `json:"$schema,omitzero"`
	Type       string   `json:"type"`
	Properties Object   `json:"properties"`
	Required   []string `json:"required,omitzero"`
}

// MarshalJSON encodes the schema and keeps the order of its properties.
func (s FormSchema) MarshalJSON() ([]byte, error) {
	w := openObject(nil)
	for _, f := range s.Properties {
		w.value(f.Name, f)
	}
	properties, err := w.close()
	if err != nil {
		return nil, within("properties", err)
	}
	return appendValue(nil, formJSON{s.Schema, "object", properties, s.Required})
}

// UnmarshalJSON decodes the schema. It returns an error if a property is not a [FormField], and drops keywords that
// FormField does not have.
func (s *FormSchema) UnmarshalJSON(text []byte) error {
	var form formJSON
	if err := decodeValue(text, &form); err != nil {
		return err
	}
	*s = FormSchema{Schema: form.Schema, Required: form.Required}
	for name, raw := range form.Properties.All() {
		f := FormField{Name: name}
		if err := decodeValue(raw, &f); err != nil {
			return within("properties", within(name, err))
		}
		s.Properties = append(s.Properties, f)
	}
	return nil
}

// Field returns the field with this name, nil if there is no such field. The caller may change the field in place.
func (s *FormSchema) Field(name string) *FormField {
	for i := range s.Properties {
		if s.Properties[i].Name == name {
			return &s.Properties[i]
		}
	}
	return nil
}
