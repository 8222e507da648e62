package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

// ElicitAs asks the user of the client for a T, which is a struct. [FormOf] makes the form. Each function of refine
// may then change the form, for example set a title, a default, a format or a list of values. If the user accepts,
// ElicitAs returns the content, checked against the form. Otherwise answer is the zero T, and action is the user's
// choice.
// (specification 2026-07-28, client/elicitation, "Requested Schema")
func ElicitAs[T any](ctx context.Context, message string, refine ...func(*mcp.FormSchema)) (answer T,
	action mcp.ElicitAction, err error) {
	form, err := FormOf[T]()
	if err != nil {
		return answer, "", err
	}
	for _, f := range refine {
		f(form)
	}
	requested, err := json.Marshal(form)
	if err != nil {
		return answer, "", fmt.Errorf("form of %v: %w", reflect.TypeFor[T](), err)
	}
	var result mcp.ElicitResult
	var content json.RawMessage
	q := &elicitQuestion{asked: &mcp.ElicitParams{Message: message, RequestedSchema: requested}, result: &result,
		raw: &content}
	if err := RequestFrom(ctx).AskAll(ctx, &Ask{question: q}); err != nil {
		return answer, "", err
	}
	if result.Action != mcp.ElicitAccept {
		return answer, result.Action, nil
	}
	if err := given.Decode(content, &answer); err != nil {
		return answer, "", fmt.Errorf("form of %v: %w", reflect.TypeFor[T](), err)
	}
	return answer, result.Action, nil
}

// FormOf returns a form for a T, which is a struct of strings, numbers, booleans, times and pointers to them. The form
// uses the JSON names of the fields. A field is required unless it is a pointer or has omitempty, omitzero or a
// default. The tags of [AddTool] describe and constrain fields. A []string is a field in which the user selects several
// values: from the enum in the field's tag, or from the Items of the form's field. FormOf returns an error for any
// other type, because forms are flat. It also returns an error for pattern, multipleOf, uniqueItems and exclusive
// bounds, because forms do not support them.
func FormOf[T any]() (*mcp.FormSchema, error) {
	t := reflect.TypeFor[T]()
	inferred, err := schema.InferInput(t)
	if err != nil {
		return nil, fmt.Errorf("form of %v: %w", t, err)
	}
	form, err := flatForm(inferred)
	if err != nil {
		return nil, fmt.Errorf("form of %v: %w", t, err)
	}
	return form, nil
}

// formKeywords are the keywords that an inferred field may have. The form does not send contentEncoding to the client.
var formKeywords = []string{"type", "title", "description", "minLength", "maxLength", "format", "minimum", "maximum",
	"enum", "minItems", "maxItems", "items", "default", "contentEncoding"}

// flatForm converts an inferred schema to a form.
func flatForm(inferred json.RawMessage) (*mcp.FormSchema, error) {
	var s struct {
		Properties mcp.Object
		Required   []string
	}
	if err := json.Unmarshal(inferred, &s); err != nil {
		return nil, err
	}
	if len(s.Properties) == 0 {
		return nil, errors.New("want a struct with fields")
	}
	nullable := map[string]bool{}
	form := &mcp.FormSchema{}
	for name, property := range s.Properties.All() {
		raw, optional, err := withoutNull(property)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", name, err)
		}
		for keyword := range mcp.Object(raw).All() {
			if !slices.Contains(formKeywords, keyword) {
				return nil, fmt.Errorf("field %s: forms do not support %s", name, keyword)
			}
		}
		f := mcp.FormField{Name: name}
		if err := json.Unmarshal(raw, &f); err != nil {
			return nil, fmt.Errorf("field %s: %w", name, err)
		}
		switch f.Type {
		case mcp.FormArray:
			if !listsStrings(property) {
				return nil, fmt.Errorf("field %s: a list must contain strings, with no constraint except an enum", name)
			}
		case mcp.FormString, mcp.FormNumber, mcp.FormInteger, mcp.FormBoolean:
		default:
			return nil, fmt.Errorf("field %s: want a string, a number, a boolean or a list of strings", name)
		}
		nullable[name] = optional
		form.Properties = append(form.Properties, f)
	}
	for _, name := range s.Required {
		if !nullable[name] {
			form.Required = append(form.Required, name)
		}
	}
	return form, nil
}

// withoutNull removes null from the type and the enum of a nullable property, which has the type null and one other
// type. It reports whether the property was nullable.
func withoutNull(property json.RawMessage) (_ json.RawMessage, nullable bool, err error) {
	var types []string
	kind, ok := mcp.Object(property).Lookup("type")
	if !ok || json.Unmarshal(kind, &types) != nil {
		return property, false, nil
	}
	if len(types) != 2 || types[0] != "null" {
		return nil, false, fmt.Errorf("forms do not support a value of several types: %q", types)
	}
	without, err := mcp.Object(property).With("type", types[1])
	if err != nil {
		return nil, false, err
	}
	var values []json.RawMessage
	if found, err := without.Decode("enum", &values); err != nil || !found {
		return json.RawMessage(without), true, err
	}
	values = slices.DeleteFunc(values, func(v json.RawMessage) bool { return string(v) == "null" })
	without, err = without.With("enum", values)
	return json.RawMessage(without), true, err
}

// listsStrings reports whether the items of a property are strings without any constraint except an enum.
func listsStrings(property json.RawMessage) bool {
	items, _ := mcp.Object(property).Lookup("items")
	for keyword, value := range mcp.Object(items).All() {
		if keyword != "enum" && (keyword != "type" || string(value) != `"string"`) {
			return false
		}
	}
	return true
}

// oldForm rewrites a form for a revision before 2025-11-25.
// (schema 2025-06-18, PrimitiveSchemaDefinition)
func oldForm(raw json.RawMessage, v mcp.Version) (json.RawMessage, error) {
	var form mcp.FormSchema
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, err
	}
	form.Schema = ""
	for i := range form.Properties {
		f := &form.Properties[i]
		if f.Type == mcp.FormArray {
			return nil, fmt.Errorf("%w: forms of revision %s cannot select several values", ErrUnsupported, v)
		}
		if f.Type != mcp.FormBoolean {
			f.Default = nil
		}
		for _, o := range f.OneOf {
			f.Enum, f.EnumNames = append(f.Enum, o.Const), append(f.EnumNames, o.Title)
		}
		f.OneOf = nil
	}
	return json.Marshal(form)
}
