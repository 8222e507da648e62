package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A failure is a keyword of a node that a value does not satisfy.
type failure struct {
	node    *node
	keyword string
	value   any
	verdict string // in the library's words
}

// keywordOf reads the keyword off the front of the library's message. Two of
// its messages do not begin with theirs.
func keywordOf(n *node, message string) string {
	keyword := message[:max(strings.IndexAny(message, ":[ "), 0)]
	switch {
	case keyword == "unexpected":
		return "additionalProperties"
	case keyword == "dependentRequired" && n.lib.DependentRequired == nil:
		return "dependencies"
	}
	return keyword
}

// messages words a failure for someone who has to correct the value.
var messages = map[string]func(failure) string{
	"type":  func(f failure) string { return "got " + typeOf(f.value) + ", want " + f.types() },
	"enum":  func(f failure) string { return "got " + show(f.value) + ", want one of " + listed(f.node.lib.Enum) },
	"const": func(f failure) string { return "got " + show(f.value) + ", want " + f.bound() },

	"multipleOf":       amount("a multiple of"),
	"minimum":          amount("at least"),
	"maximum":          amount("at most"),
	"exclusiveMinimum": amount("more than"),
	"exclusiveMaximum": amount("less than"),
	"pattern":          amount("a match of the regular expression"),

	"minLength":     extent("characters, want at least"),
	"maxLength":     extent("characters, want at most"),
	"minItems":      extent("items, want at least"),
	"maxItems":      extent("items, want at most"),
	"minProperties": extent("properties, want at least"),
	"maxProperties": extent("properties, want at most"),

	"uniqueItems": func(f failure) string { return strings.TrimPrefix(f.verdict, "uniqueItems: ") },
	"contains":    func(failure) string { return "no item matches the schema in contains" },
	"minContains": matches("at least"),
	"maxContains": matches("at most"),

	"required":             func(f failure) string { return "missing " + quoted(f.missing(f.node.lib.Required)) },
	"dependentRequired":    failure.dependent,
	"dependencies":         failure.dependent,
	"additionalProperties": failure.unexpected,

	"oneOf": func(failure) string { return "matches more than one of the alternatives, want exactly one" },
	"not":   func(failure) string { return "matches the schema in not, want a value that does not" },
}

// bound shows the value of the keyword in the schema.
func (f failure) bound() string { return show(f.node.raw[f.keyword]) }

func (f failure) types() string {
	if f.node.lib.Types != nil {
		return strings.Join(f.node.lib.Types, " or ")
	}
	return f.node.lib.Type
}

func amount(want string) func(failure) string {
	return func(f failure) string {
		return fmt.Sprintf("got %s, want %s %s", show(f.value), want, f.bound())
	}
}

func extent(want string) func(failure) string {
	return func(f failure) string {
		n := 0
		switch v := f.value.(type) {
		case text:
			n = utf8.RuneCountInString(string(v))
		case array:
			n = len(v)
		case object:
			n = len(v)
		}
		return fmt.Sprintf("has %d %s %s", n, want, f.bound())
	}
}

func matches(want string) func(failure) string {
	return func(f failure) string {
		return fmt.Sprintf("want %s %s items that match the schema in contains", want, f.bound())
	}
}

// missing returns which of the properties the value lacks.
func (f failure) missing(properties []string) []string {
	o, _ := f.value.(object)
	return slices.DeleteFunc(slices.Clone(properties), func(name string) bool {
		_, ok := o[name]
		return ok
	})
}

func (f failure) dependent() string {
	required := f.node.lib.DependentRequired
	if required == nil {
		required = f.node.lib.DependencyStrings
	}
	o, _ := f.value.(object)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(required)) {
		if _, ok := o[name]; !ok {
			continue
		}
		if missing := f.missing(required[name]); len(missing) > 0 {
			lines = append(lines, show(text(name))+" also needs "+quoted(missing))
		}
	}
	return strings.Join(lines, ", ")
}

// unexpected lists the properties that additionalProperties forbids, and those
// there are to choose from.
func (f failure) unexpected() string {
	o, _ := f.value.(object)
	var extra []string
	for _, name := range slices.Sorted(maps.Keys(o)) {
		for _, e := range f.node.applied(name) {
			if e.on == additional {
				extra = append(extra, name)
			}
		}
	}
	if len(f.node.lib.Properties) == 0 {
		return "unexpected " + quoted(extra)
	}
	return "unexpected " + quoted(extra) + "; known: " + quoted(slices.Sorted(maps.Keys(f.node.lib.Properties)))
}

// notAllowed words that a part is under the schema false.
func notAllowed(e *edge) string {
	switch e.on {
	case property, matching, additional, looseProps:
		return "this property is not allowed"
	case item, items, looseItems:
		return "this item is not allowed"
	case names:
		return "no property is allowed"
	}
	return "no value is allowed here"
}

const maxListed = 16 // values or names in one message

func listed(a []any) string {
	var b strings.Builder
	for i, v := range a {
		if i == maxListed {
			fmt.Fprintf(&b, " and %d more", len(a)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(show(v))
	}
	return b.String()
}

func quoted(names []string) string {
	a := make([]any, len(names))
	for i, name := range names {
		a[i] = text(name)
	}
	return listed(a)
}
