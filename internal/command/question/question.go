// Package question asks a person at a terminal for the fields of a form.
package question

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

// Question is one field of a form, for a terminal.
type Question struct {
	mcp.FormField
	required bool
	options  []mcp.FormOption // the choices; nil if the answer is free text
	schema   *schema.Schema   // validates the answer; nil if the schema of the field is not valid
	Given    json.RawMessage  // the answer; nil for no answer
}

// Of returns the questions of the form.
func Of(p *mcp.ElicitParams) ([]*Question, error) {
	form, err := p.Form()
	if err != nil {
		return nil, err
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(p.RequestedSchema, &schema); err != nil {
		return nil, fmt.Errorf("the form: %w", err)
	}
	var all []*Question
	for _, f := range form.Properties {
		all = append(all, newQuestion(f, slices.Contains(form.Required, f.Name), schema.Properties[f.Name]))
	}
	return all, nil
}

func newQuestion(f mcp.FormField, required bool, raw json.RawMessage) *Question {
	q := &Question{FormField: f, required: required, options: options(&f), Given: f.Default}
	if s, err := schema.Compile(slices.Clone(raw)); err == nil {
		q.schema = s
	}
	return q
}

// options returns the choices of a field.
func options(f *mcp.FormField) (all []mcp.FormOption) {
	values := f.Enum
	switch {
	case f.Type == mcp.FormArray && f.Items != nil:
		all, values = f.Items.AnyOf, f.Items.Enum
	case f.OneOf != nil:
		return f.OneOf
	}
	for i, v := range values {
		o := mcp.FormOption{Const: v, Title: v}
		if i < len(f.EnumNames) {
			o.Title = f.EnumNames[i]
		}
		all = append(all, o)
	}
	return all
}

// Label returns the name of the field for people.
func (q *Question) Label() string { return visible.Line(cmp.Or(q.Title, q.Name)) }

// Introduction returns the text before the question.
func (q *Question) Introduction() string {
	var b strings.Builder
	if about := visible.Line(q.Description); about != "" {
		b.WriteString("  " + q.Label() + ": " + about + "\n")
	}
	for i, o := range q.options {
		b.WriteString(fmt.Sprintf("  %3d  ", i+1) + visible.Line(cmp.Or(o.Title, o.Const)) + "\n")
	}
	return b.String()
}

// Prompt returns the question, for example "Name (string, required) [Ada]".
func (q *Question) Prompt() string {
	kind := string(q.Type)
	switch {
	case q.Type == mcp.FormArray:
		kind = "one or more of these, separated by commas"
	case q.options != nil:
		kind = "one of these"
	case q.Type == mcp.FormBoolean:
		kind = "yes or no"
	case q.Format != "":
		kind = string(q.Format)
	}
	need := "optional"
	if q.required {
		need = "required"
	}
	text := fmt.Sprintf("%s (%s, %s)", q.Label(), visible.Line(kind), need)
	if q.Given != nil {
		text += " [" + visible.Line(q.show(q.Given)) + "]"
	}
	return text + ": "
}

// show returns a value in the form in which a person types it.
func (q *Question) show(value json.RawMessage) string {
	var text string
	var several []string
	switch {
	case json.Unmarshal(value, &text) == nil:
		return q.titles(text)
	case json.Unmarshal(value, &several) == nil:
		return q.titles(several...)
	case string(value) == "true":
		return "yes"
	case string(value) == "false":
		return "no"
	}
	return string(value)
}

// titles returns the titles of chosen options.
func (q *Question) titles(values ...string) string {
	shown := slices.Clone(values)
	for i, v := range values {
		for _, o := range q.options {
			if v == o.Const {
				shown[i] = cmp.Or(o.Title, o.Const)
			}
		}
	}
	return strings.Join(shown, ", ")
}

// Answer parses the typed text. Empty text accepts the default, or gives no value. The error explains the problem, so
// that the person can try again.
func (q *Question) Answer(ctx context.Context, text string) (json.RawMessage, error) {
	if text == "" {
		if q.Given == nil && q.required {
			return nil, errors.New("an answer is required")
		}
		return q.Given, nil
	}
	value, err := q.value(text)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	if q.schema != nil {
		if err := q.schema.Validate(ctx, raw); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

// value parses text as a value of the field's type.
func (q *Question) value(text string) (any, error) {
	switch {
	case q.Type == mcp.FormArray:
		several := []string{}
		for part := range strings.SplitSeq(text, ",") {
			one, err := q.choose(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			several = append(several, one)
		}
		return several, nil
	case q.options != nil:
		return q.choose(text)
	case q.Type == mcp.FormBoolean:
		return typing.YesNo(text)
	case q.Type == mcp.FormNumber, q.Type == mcp.FormInteger:
		if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		return json.RawMessage(text), nil
	}
	return text, fits(q.Format, text)
}

// choose finds an option by its number, value or title.
func (q *Question) choose(text string) (string, error) {
	for _, o := range q.options {
		if text == o.Const {
			return o.Const, nil
		}
	}
	for _, o := range q.options {
		if strings.EqualFold(text, o.Title) {
			return o.Const, nil
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(q.options) {
		return q.options[n-1].Const, nil
	}
	return "", fmt.Errorf("%q is not one of the choices", text)
}

// fits checks the format of a text, which the schema does not check.
func fits(format mcp.FormFormat, text string) error {
	var err error
	switch format {
	case mcp.FormEmail:
		var a *mail.Address
		if a, err = mail.ParseAddress(text); err == nil && a.Address != text {
			err = errors.New("more than an e-mail address")
		}
	case mcp.FormURI:
		var u *url.URL
		if u, err = url.Parse(text); err == nil && u.Scheme == "" {
			err = errors.New("no scheme")
		}
	case mcp.FormDate:
		_, err = time.Parse(time.DateOnly, text)
	case mcp.FormDateTime:
		_, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		return fmt.Errorf("%q is not a valid %s", text, map[mcp.FormFormat]string{
			mcp.FormEmail: "e-mail address", mcp.FormURI: "URI", mcp.FormDate: "date such as 2026-07-28",
			mcp.FormDateTime: "time such as 2026-07-28T12:00:00Z",
		}[format])
	}
	return nil
}
