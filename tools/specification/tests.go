package specification

import "strings"

// function returns the name of a test without its subtest.
func function(test string) string {
	dot := strings.LastIndex(test, ".Test")
	dot = max(dot, strings.LastIndex(test, ".Fuzz"), strings.LastIndex(test, ".Example"), 0)
	if slash := strings.IndexByte(test[dot:], '/'); slash >= 0 {
		return test[:dot+slash]
	}
	return test
}
