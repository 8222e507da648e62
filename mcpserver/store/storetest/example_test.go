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

// testEvents is TestEvents of a package that has a store of events, which keeps 500 events and 2 MiB of a session. The
// one in memory is shared by the handlers of one process.
func testEvents(t *testing.T) {
	const events, size = 500, 2 << 20
	storetest.TestEvents(t, events, size, func(*testing.T) store.SharedEvents {
		return store.NewMemoryEvents(events, size)
	})
}

func ExampleTestEvents() {
	_ = testing.InternalTest{Name: "TestEvents", F: testEvents}
}
