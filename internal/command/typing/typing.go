// Package typing interprets words that a person types: it suggests names for typing errors, and parses yes or no.
package typing

import (
	"fmt"
	"strings"
)

// Hint suggests the known names that begin with name, or else those that are most similar: " (did you mean a or b?)".
// Without a similar name it returns "".
func Hint(name string, known []string) string {
	var similar []string
	nearest := 2
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if name != "" && strings.HasPrefix(k, name) {
			d = 0
		}
		if d > nearest || d >= len(name) {
			continue
		}
		if d < nearest {
			nearest, similar = d, nil
		}
		similar = append(similar, k)
	}
	if len(similar) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(similar, " or ") + "?)"
}

// distance returns the edit distance between a and b: the insertions, deletions and replacements that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := last
			if a[i] != b[j] {
				replaced++
			}
			last = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// YesNo parses the answer to a question.
func YesNo(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "y", "yes", "true":
		return true, nil
	case "n", "no", "false":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither yes nor no", text)
}
