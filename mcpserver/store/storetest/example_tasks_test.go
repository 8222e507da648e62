package storetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/mcpotel/mcpotel/mcpserver/store/storetest"
)

// testTasks is TestTasks of a package that has a store. This one is in memory, so time can be that of a bubble; a
// database has its own clock, and neither Around nor such a short Unit.
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
