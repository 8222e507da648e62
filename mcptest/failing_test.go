package mcptest_test

import (
	"fmt"
	"testing"
)

// failing is a test that is to fail. It panics where a test would end its goroutine.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic(f)
}
