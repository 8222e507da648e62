package toolargs

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/internal/visible"
)

// Example returns an example of the required arguments of a tool: as NAME=VALUE, or as JSON if NAME=VALUE cannot
// express the example. complete reports whether the example satisfies the schema.
func (ps *Parameters) Example(ctx context.Context, raw json.RawMessage) (words []string, complete bool) {
	object, budget := map[string]json.RawMessage{}, mostSamples
	for _, p := range ps.All {
		if p.Required {
			object[p.Name] = p.sample(&budget)
		}
	}
	whole, err := json.Marshal(object)
	if err != nil {
		return nil, false
	}
	complete = true
	if s, err := schema.Compile(slices.Clone(raw)); err == nil {
		complete = s.Validate(ctx, whole) == nil
	}
	if len(object) == 0 {
		return nil, complete
	}
	for _, p := range ps.All {
		if value, ok := object[p.Name]; ok {
			typed := TypedAs(value)
			back, err := p.read([]Field{{Value: Text(value)}})
			if err != nil || !SameJSON(back, value) || strings.Contains(p.Name, "=") || strings.HasPrefix(p.Name, "-") ||
				strings.ContainsFunc(typed, hidden) || len(words) == 0 && strings.HasPrefix(p.Name, "@") {
				return []string{string(visible.JSON(whole))}, complete
			}
			words = append(words, p.Name+"="+typed)
		}
	}
	return words, complete
}

// hidden reports whether a rune cannot be shown unchanged.
func hidden(r rune) bool { return !visible.Rune(r) }

// mostSamples bounds the values in an example.
const mostSamples = 1000

// TypedAs returns the VALUE of NAME=VALUE for a value. An @ at the begin of a text is doubled, because @FILE is the
// content of a file.
func TypedAs(value json.RawMessage) string {
	text := Text(value)
	if strings.HasPrefix(text, "@") {
		return "@" + text
	}
	return text
}

// Text returns the text that [Parameter.Value] converts to a value, if the type of the value is not ambiguous.
func Text(value json.RawMessage) string {
	var text string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// sample returns a value that the schema of an argument probably allows. Each value, including nested values, uses one
// unit of the budget.
func (p *Parameter) sample(budget *int) json.RawMessage {
	*budget--
	for _, v := range slices.Concat(p.Examples, []json.RawMessage{p.Default}, p.Allowed()) {
		if len(v) > 0 && string(v) != "null" {
			return v
		}
	}
	types := p.Types()
	slices.SortStableFunc(types, func(a, b string) int { return usefulness(a) - usefulness(b) })
	kind := "string"
	if len(types) > 0 {
		kind = types[0]
	}
	switch kind {
	case "integer", "number":
		return p.sampleNumber(kind == "integer")
	case "boolean":
		return json.RawMessage("true")
	case "null":
		return json.RawMessage("null")
	case "array":
		return p.sampleArray(budget)
	case "object":
		return p.sampleObject(budget)
	}
	return p.sampleString()
}

// usefulness sorts null after the other types.
func usefulness(typeName string) int {
	if typeName == "null" {
		return 1
	}
	return 0
}

func (p *Parameter) sampleNumber(whole bool) json.RawMessage {
	n := 1.0
	switch {
	case p.Minimum != nil:
		n = *p.Minimum
	case p.Above != nil:
		n = math.Floor(*p.Above) + 1
	case p.Maximum != nil:
		n = min(n, *p.Maximum)
	case p.Below != nil && *p.Below <= n:
		n = math.Ceil(*p.Below) - 1
	}
	if p.Below != nil && n >= *p.Below && p.Above != nil {
		n = (*p.Above + *p.Below) / 2
	}
	if whole {
		n = math.Ceil(n)
	}
	if p.MultipleOf != nil && *p.MultipleOf > 0 {
		n = math.Ceil(n / *p.MultipleOf) * *p.MultipleOf
	}
	raw, err := json.Marshal(n)
	if err != nil {
		return json.RawMessage("1")
	}
	return raw
}

// sampleText has examples for the known formats.
var sampleText = map[string]string{
	"date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z", "time": "12:00:00Z", "duration": "PT1H",
	"email": "ada@example.com", "uri": "https://example.com/", "url": "https://example.com/", "hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uuid": "123e4567-e89b-12d3-a456-426614174000",
}

func (p *Parameter) sampleString() json.RawMessage {
	const longest = 100
	text := cmp.Or(sampleText[p.Format], p.Name, "text")
	if p.MaxLength != nil && *p.MaxLength >= 0 && len([]rune(text)) > *p.MaxLength {
		text = string([]rune(text)[:*p.MaxLength])
	}
	if p.MinLength != nil && *p.MinLength <= longest {
		text += strings.Repeat("x", max(0, *p.MinLength-len([]rune(text))))
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return raw
}

func (p *Parameter) sampleArray(budget *int) json.RawMessage {
	const most = 10
	items := []json.RawMessage{}
	want := 1
	if p.MinItems != nil {
		want = max(want, min(*p.MinItems, most))
	}
	if p.MaxItems != nil {
		want = min(want, *p.MaxItems)
	}
	for range want {
		if *budget > 0 {
			items = append(items, p.Item().sample(budget))
		}
	}
	raw, err := json.Marshal(items)
	if err != nil {
		return json.RawMessage("[]")
	}
	return raw
}

// sampleObject returns an object with the required members.
func (p *Parameter) sampleObject(budget *int) json.RawMessage {
	object := map[string]json.RawMessage{}
	for _, m := range p.Members() {
		if m.Required && *budget > 0 {
			object[m.Name] = m.sample(budget)
		}
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}
