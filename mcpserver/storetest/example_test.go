package storetest_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/storetest"
)

// testSessions is TestSessions of a package that has a store: open returns an empty one, for one test.
func testSessions(t *testing.T) {
	storetest.TestSessions(t, func(*testing.T) mcpserver.SessionStore { return mcpserver.NewMemorySessionStore() })
}

func ExampleTestSessions() {
	_ = testing.InternalTest{Name: "TestSessions", F: testSessions}
}
