package mcp

import "encoding/json"

// FormSchema is the subset of JSON Schema that the RequestedSchema of [ElicitParams] is written in: an object with
// fields that are not nested. Use encoding/json to get it from there or to put it there.
type FormSchema struct {
	Schema     string      // the dialect, $schema; from 2025-11-25
	Properties []FormField // in the order in which to ask
	Required   []string
}

// FormField is one field of a form: a string, number, integer or boolean; a choice of one string, where Enum or OneOf
// lists the strings; a choice of several, an array, where Items does.
type FormField struct {
	Name        string          `json:"-"` // the property's
	Type        FormType        `json:"type" mcp:"required"`
	Title       string          `json:"title,omitzero"`
	Description string          `json:"description,omitzero"`
	MinLength   *int64          `json:"minLength,omitzero"` // of a string
	MaxLength   *int64          `json:"maxLength,omitzero"`
	Format      FormFormat      `json:"format,omitzero"`
	Minimum     *float64        `json:"minimum,omitzero"` // of a number
	Maximum     *float64        `json:"maximum,omitzero"`
	Enum        []string        `json:"enum,omitzero"`      // the values
	EnumNames   []string        `json:"enumNames,omitzero"` // how to show them; OneOf has succeeded it in 2025-11-25
	OneOf       []FormOption    `json:"oneOf,omitzero"`     // from 2025-11-25
	MinItems    *int64          `json:"minItems,omitzero"`  // of an array
	MaxItems    *int64          `json:"maxItems,omitzero"`
	Items       *FormItems      `json:"items,omitzero"`   // from 2025-11-25
	Default     json.RawMessage `json:"default,omitzero"` // but for a boolean, from 2025-11-25
}

// FormType is the type of a [FormField].
type FormType string

const (
	FormString  FormType = "string"
	FormNumber  FormType = "number"
	FormInteger FormType = "integer"
	FormBoolean FormType = "boolean"
	FormArray   FormType = "array" // of strings out of a list; from 2025-11-25
)

// FormFormat says what a string must look like.
type FormFormat string

const (
	FormEmail    FormFormat = "email"
	FormURI      FormFormat = "uri"
	FormDate     FormFormat = "date"
	FormDateTime FormFormat = "date-time"
)

// FormOption is a value to choose and how to show it.
type FormOption struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// FormItems lists what an array may hold: either values alone, with type string, or values with titles.
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

// MarshalJSON encodes the schema, its properties in their order.
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

// UnmarshalJSON decodes the schema. A property that is no [FormField] is an error; keywords that fields do not have are
// left out.
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

// Field returns the field of that name, nil if there is none. It may be changed in its place.
func (s *FormSchema) Field(name string) *FormField {
	for i := range s.Properties {
		if s.Properties[i].Name == name {
			return &s.Properties[i]
		}
	}
	return nil
}
