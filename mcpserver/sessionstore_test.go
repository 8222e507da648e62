package mcpserver_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/storetest"
)

func TestAMemorySessionStoreIsOne(t *testing.T) {
	storetest.TestSessions(t, func(*testing.T) mcpserver.SessionStore { return mcpserver.NewMemorySessionStore() })
}

func TestAMemoryEventStoreMayBeShared(t *testing.T) {
	storetest.TestEvents(t, 500, 2<<20, func(*testing.T) mcpserver.SharedEventStore {
		return mcpserver.NewMemoryEventStore(500, 2<<20).(mcpserver.SharedEventStore)
	})
}
