package schema

import (
	"fmt"
	"strings"
)

// A failure is a keyword of a node that a value violates.
type failure struct {
	node       *node
	keyword    string
	value      value
	missing    []string // names of the missing properties
	unexpected []value  // names of the properties that are not allowed
	pair       [2]int   // indexes of two equal items

	// branches has the reports of the first branches of anyOf or oneOf, none of which matched.
	branches []*report
	count    int // number of all branches
	at       *path
}

// messages formats a failure for the author of the value.
var messages = map[string]func(*run, failure) string{
	"type": func(_ *run, f failure) string { return "got " + typeOf(f.value) + ", want " + f.types() },
	"enum": func(_ *run, f failure) string {
		return "got " + show(f.value) + ", want one of " + listed(f.node.enum, show)
	},
	"const": func(_ *run, f failure) string { return "got " + show(f.value) + ", want " + f.bound() },

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

	"uniqueItems": func(_ *run, f failure) string {
		return fmt.Sprintf("array items %d and %d are equal", f.pair[0], f.pair[1])
	},
	"contains":    func(*run, failure) string { return "no item matches the schema in contains" },
	"minContains": matches("at least"),
	"maxContains": matches("at most"),

	"required":             func(_ *run, f failure) string { return "missing " + quoted(f.missing) },
	"dependentRequired":    dependent,
	"dependencies":         dependent,
	"additionalProperties": unexpected,

	"anyOf": func(_ *run, f failure) string { return f.noneOf() },
	"oneOf": func(_ *run, f failure) string {
		if f.count > 0 {
			return f.noneOf()
		}
		return "matches more than one of the alternatives, want exactly one"
	},
	"not": func(*run, failure) string { return "matches the schema in not, want a value that does not" },
}

// bound returns the value of the keyword in the schema.
func (f failure) bound() string { return show(f.node.raw.get(f.keyword)) }

// typeOf returns the narrowest type of a value.
func typeOf(v value) string { return v.types().names()[0] }

func (f failure) types() string {
	named := f.node.raw.get("type")
	if named.kind() == '"' {
		return string(named.bytes())
	}
	names := make([]string, named.size()) // short, because duplicate types are invalid
	for i, name := range named.items() {
		names[i] = string(name.bytes())
	}
	return strings.Join(names, " or ")
}

func amount(want string) func(*run, failure) string {
	return func(_ *run, f failure) string {
		return fmt.Sprintf("got %s, want %s %s", show(f.value), want, f.bound())
	}
}

func extent(want string) func(*run, failure) string {
	return func(r *run, f failure) string {
		n := f.value.size()
		if f.value.kind() == '"' {
			n = r.runes(f.value.bytes())
		}
		return fmt.Sprintf("has %d %s %s", n, want, f.bound())
	}
}

func matches(want string) func(*run, failure) string {
	return func(_ *run, f failure) string {
		return fmt.Sprintf("want %s %s items that match the schema in contains", want, f.bound())
	}
}

// dependent lists the missing properties that other properties require.
func dependent(r *run, f failure) string {
	var lines []string
	for _, name := range each(r.meter, f.node.raw.get(f.node.dependencies()).sorted()) {
		named := string(name.bytes())
		if !f.value.has(named) || len(lines) == maxListed {
			continue
		}
		if missing := r.missing(f.value, f.node.dependentRequired[named]); len(missing) > 0 {
			lines = append(lines, show(name)+" also needs "+quoted(missing))
		}
	}
	return strings.Join(lines, ", ")
}

// unexpected lists the properties that additionalProperties forbids, and the known properties.
func unexpected(_ *run, f failure) string {
	if len(f.node.properties) == 0 {
		return "unexpected " + listed(f.unexpected, show)
	}
	known := listed(f.node.properties, func(e *edge) string { return showText(e.name) })
	return "unexpected " + listed(f.unexpected, show) + "; known: " + known
}

// noneOf explains why the first alternatives do not match.
func (f failure) noneOf() string {
	var b strings.Builder
	fmt.Fprintf(&b, "matches none of %d alternatives", f.count)
	at := f.at.String()
	for i, branch := range f.branches {
		if len(branch.problems) > 0 {
			p := branch.problems[0]
			p.Instance = strings.TrimPrefix(p.Instance, at)
			fmt.Fprintf(&b, "; %d: %s", i+1, p)
		}
	}
	return b.String()
}

// notAllowed returns the message for a value under the schema false.
func notAllowed(e *edge) string {
	switch e.on {
	case property:
		return "this property is not allowed"
	case item:
		return "this item is not allowed"
	case name:
		return "no property is allowed"
	}
	return "no value is allowed here"
}

const maxListed = 16 // values or names in one message

// listed joins the first elements of a list.
func listed[T any](list []T, show func(T) string) string {
	var b strings.Builder
	for i, v := range list[:min(len(list), maxListed)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(show(v))
	}
	if more := len(list) - maxListed; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

func quoted(names []string) string {
	return listed(names, showText)
}
