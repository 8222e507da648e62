// Package typing interprets words that a person types: it suggests names for typing errors, and parses yes or no.
package typing

import (
	"fmt"
	"strings"
)

// Hint suggests known names that are similar to name: " (did you mean a or b?)". Without a similar name it returns "".
func Hint(name string, known []string) string {
	var similar []string
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d <= 2 && d < len(name) ||
			name != "" && strings.HasPrefix(k, name) {
			similar = append(similar, k)
		}
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
