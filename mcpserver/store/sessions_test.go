package store_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/mcpotel/mcpotel/mcpserver/store/storetest"
)

func TestMemorySessionsPassesConformanceTests(t *testing.T) {
	storetest.TestSessions(t, func(*testing.T) store.Sessions { return store.NewMemorySessions() })
}

func TestMemoryEventsPassesSharedEventsTests(t *testing.T) {
	storetest.TestEvents(t, 500, 2<<20, func(*testing.T) store.SharedEvents {
		return store.NewMemoryEvents(500, 2<<20)
	})
}
