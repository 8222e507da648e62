// Package labels reads the profile labels of goroutines.
package labels

import (
	"bytes"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
)

var line = regexp.MustCompile(`(?m)^# labels: .*$`)

// Of returns the labels of each goroutine with a given function on its stack, as {"key":"value", ...} in the order of
// the keys; empty for none. function is the end of the function's name, such as (*reading).run.
func Of(t testing.TB, function string) (found []string) {
	t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, function+"+0x") {
			found = append(found, strings.TrimPrefix(line.FindString(stack), "# labels: "))
		}
	}
	return found
}

// Here returns the labels of this goroutine, in the same format as Of. Only one goroutine at a time may call it.
func Here(t testing.TB) string {
	t.Helper()
	found := Of(t, "labels.Here")
	if len(found) != 1 {
		t.Errorf("%d goroutines read their labels, want only this one: %v", len(found), found)
		return ""
	}
	return found[0]
}
