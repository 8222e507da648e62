package schemacheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

// other replaces every value outside a closed or limited set.
const other = "_OTHER"

// anyVariable represents all keys with its prefix.
const anyVariable = "gen_ai.prompt.variable.{name}"

// rowKey returns the key of the row that declares an attribute.
func rowKey(key string) string {
	if prefix := strings.TrimSuffix(anyVariable, "{name}"); len(key) > len(prefix) && strings.HasPrefix(key, prefix) {
		return anyVariable
	}
	return key
}

// rowOf returns the row that declares an attribute, or nil.
func rowOf(key string) *schema.Attribute {
	all := schema.Current.Attributes
	if i := slices.IndexFunc(all, func(a schema.Attribute) bool { return a.Key == key }); i >= 0 {
		return &all[i]
	}
	return nil
}

// namespaces are the namespaces of this module and of the conventions for MCP.
var namespaces = []string{"mcp_client.", "mcp_server.", "mcp."}

// reserved reports whether programs must not use key for an attribute of their own, because the schema, or a later
// version of it, may have the key.
func reserved(key string) bool {
	return rowOf(rowKey(key)) != nil ||
		slices.ContainsFunc(namespaces, func(space string) bool { return strings.HasPrefix(key, space) })
}

// check checks attributes against the uses in a row of the schema. If users is true, the program that uses this module
// may have added other attributes.
func (a Attrs) check(users bool, uses ...schema.Use) (problems []string) {
	declared := map[string]*schema.Use{}
	for i, u := range uses {
		declared[u.Key] = &uses[i]
		if _, ok := a[u.Key]; !ok && u.Need == schema.Required {
			problems = append(problems, u.Key+" is missing")
		}
	}
	for key, v := range a {
		if use := declared[rowKey(key)]; use != nil {
			problems = append(problems, v.check(use)...)
		} else if !users || reserved(key) {
			problems = append(problems, key+" is not declared")
		}
	}
	return problems
}

func (v Value) check(use *schema.Use) (problems []string) {
	a := rowOf(use.Key)
	if a == nil {
		return []string{use.Key + " is not an attribute of the schema"}
	}
	if v.Type != a.Type && a.Type != schema.Any {
		problems = append(problems, fmt.Sprintf("%s is a %s, want %s", a.Key, v.Type, a.Type))
	}
	if v.Text == "" {
		problems = append(problems, a.Key+" is empty")
	}
	if words := wordsOf(use, a); words != nil && v.Text != other && !slices.Contains(words, v.Text) {
		problems = append(problems, fmt.Sprintf("%s is %q, want one of %q", a.Key, v.Text, words))
	}
	return problems
}

// wordsOf returns all values that a use of an attribute may have, or nil if every value is allowed.
func wordsOf(use *schema.Use, a *schema.Attribute) []string {
	switch {
	case use.Only != nil:
		return use.Only
	case a != nil && a.Bound == schema.Closed:
		return a.Enum
	}
	return nil
}
