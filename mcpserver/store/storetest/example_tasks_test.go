package storetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/mcpotel/mcpotel/mcpserver/store/storetest"
)

// testTasks calls TestTasks for a memory store, in a bubble of testing/synctest. A database has its own clock. So the
// test of a store in a database leaves Around nil, and sets a longer Unit.
func testTasks(t *testing.T) {
	storetest.TestTasks(t, storetest.TasksHarness{
		Open: func(*testing.T) (one, other store.Tasks) {
			s := store.NewMemoryTasks(0, 0)
			return s, s
		},
		Pass:   func(_ *testing.T, d time.Duration) { time.Sleep(d) },
		Around: synctest.Test,
		Unit:   time.Millisecond,
	})
}

func ExampleTestTasks() {
	_ = testing.InternalTest{Name: "TestTasks", F: testTasks}
}
