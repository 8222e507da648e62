package mcptest_test

import (
	"fmt"
	"testing"
)

// failing is a test that should fail. It panics instead of ending the goroutine.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic(f)
}
