package taskstoretest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/taskstoretest"
)

func TestTheMemoryTaskStoreKeepsItsPromises(t *testing.T) {
	taskstoretest.Run(t, taskstoretest.Harness{
		Open: func(t *testing.T) (one, other mcpserver.TaskStore) {
			s := mcpserver.NewMemoryTaskStore(0, 0)
			return s, s
		},
		Pass:   func(_ *testing.T, d time.Duration) { time.Sleep(d) },
		Around: synctest.Test,
		Unit:   time.Millisecond,
	})
}
