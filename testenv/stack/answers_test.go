package stack_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An answer maps the names that a question is about, such as servers, to values.
type answer struct {
	values map[string]float64
	err    error
}

// A verdict is an answer as text, and its difference from the right answer; nil if the answer is right.
type verdict struct {
	text string
	err  error
}

// and joins two answers to one question.
func (v verdict) and(other verdict) verdict {
	return verdict{v.text + "; " + other.text, errors.Join(v.err, other.err)}
}

// A want returns the difference between values and the right values, or nil.
type want func(values map[string]float64) error

// judge compares the answer with the right one.
func (a answer) judge(wants ...want) verdict {
	wrong := a.err
	for _, c := range wants {
		wrong = errors.Join(wrong, c(a.values))
	}
	var text []string
	for _, name := range slices.Sorted(maps.Keys(a.values)) {
		format := "%s=%.4g"
		if a.values[name] > 1e6 { // a time in milliseconds
			format = "%s=%.0f"
		}
		text = append(text, fmt.Sprintf(format, name, a.values[name]))
	}
	return verdict{strings.Join(text, ", "), wrong}
}

// between requires values of the names within bounds.
func between(least, most float64, names ...string) want {
	return func(values map[string]float64) (wrong error) {
		for _, name := range names {
			if v, ok := values[name]; !ok || !(least <= v && v <= most) {
				wrong = errors.Join(wrong, fmt.Errorf("%s: want a value of %v to %v, got %v (there: %t)", name, least, most, v,
					ok))
			}
		}
		return wrong
	}
}

// nothing requires that the names have no values, or zeros.
func nothing(names ...string) want {
	return func(values map[string]float64) (wrong error) {
		for _, name := range names {
			if v := values[name]; v != 0 {
				wrong = errors.Join(wrong, fmt.Errorf("%s: want no value, got %v", name, v))
			}
		}
		return wrong
	}
}

// greater requires that one name has the greatest value.
func greater(name string, others ...string) want {
	return func(values map[string]float64) (wrong error) {
		for _, other := range others {
			if v, ok := values[other]; !ok || !(values[name] > v) {
				wrong = errors.Join(wrong, fmt.Errorf("%s: want more than the %v of %s (there: %t), got %v", name, v, other, ok,
					values[name]))
			}
		}
		return wrong
	}
}
