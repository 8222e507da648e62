package storetest_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/mcpotel/mcpotel/mcpserver/store/storetest"
)

// testSessions is TestSessions of a package that has a store: open returns an empty one, for one test.
func testSessions(t *testing.T) {
	storetest.TestSessions(t, func(*testing.T) store.Sessions { return store.NewMemorySessions() })
}

func ExampleTestSessions() {
	_ = testing.InternalTest{Name: "TestSessions", F: testSessions}
}
