package storetest_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/mcpotel/mcpotel/mcpserver/store/storetest"
)

// testSessions calls TestSessions for your own store. open returns an empty store for one test.
func testSessions(t *testing.T) {
	storetest.TestSessions(t, func(*testing.T) store.Sessions { return store.NewMemorySessions() })
}

func ExampleTestSessions() {
	_ = testing.InternalTest{Name: "TestSessions", F: testSessions}
}

// testEvents calls TestEvents for a store that keeps 500 events and 2 MiB for each session.
func testEvents(t *testing.T) {
	const events, size = 500, 2 << 20
	storetest.TestEvents(t, events, size, func(*testing.T) store.SharedEvents {
		return store.NewMemoryEvents(events, size)
	})
}

func ExampleTestEvents() {
	_ = testing.InternalTest{Name: "TestEvents", F: testEvents}
}
