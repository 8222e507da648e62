package config

import (
	"errors"
	"fmt"
	"strings"
)

// expand replaces ${VAR}, ${env:VAR} and ${VAR:-default} with the values of variables. Errors name the variable, but
// never a value.
func expand(text string, lookup func(string) (string, bool)) (string, error) {
	var out strings.Builder
	var missing []error
	for {
		before, rest, found := strings.Cut(text, "${")
		expression, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			out.WriteString(text)
			return out.String(), errors.Join(missing...)
		}
		out.WriteString(before)
		value, err := evaluate(expression, lookup)
		if err != nil {
			missing = append(missing, err)
		}
		out.WriteString(value)
		text = after
	}
}

func evaluate(expression string, lookup func(string) (string, bool)) (string, error) {
	name, otherwise, optional := strings.Cut(expression, ":-")
	name = strings.TrimPrefix(name, "env:")
	if !isVariable(name) {
		if kind, _, ok := strings.Cut(name, ":"); ok && isVariable(kind) {
			return "", fmt.Errorf("${%s:...} does not name an environment variable; use ${VAR} or ${env:VAR}", kind)
		}
		// do not quote the text, which may be part of a secret
		return "", errors.New("the text between ${ and } is not the name of an environment variable")
	}
	if value, set := lookup(name); set {
		return value, nil
	}
	if optional {
		return otherwise, nil
	}
	return "", fmt.Errorf("the environment variable %s is not set", name)
}

// isVariable reports whether name is a valid variable name.
func isVariable(name string) bool {
	for i := range len(name) {
		b := name[i]
		if letter := b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_'; !letter && (i == 0 || b < '0' || b > '9') {
			return false
		}
	}
	return name != ""
}
