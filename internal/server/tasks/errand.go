package tasks

import (
	"sync"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
)

// errand calls do in a goroutine of a group when start is called. Calls of do not overlap. If start is called while do
// runs, one more call of do follows.
type errand struct {
	group *rpc.Group
	do    func()

	mu      sync.Mutex
	running bool // guarded by mu
	again   bool // guarded by mu
}

// start requests a call of do. It does not wait.
func (e *errand) start() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running {
		e.again = true
		return
	}
	e.running = e.group.Start(e)
}

// Run implements [rpc.Task].
func (e *errand) Run() {
	usercode.Pass(func() {
		for again := true; again; again = e.more() {
			e.do()
		}
	}, e.restart)
}

// more reports whether start was called during the last call of do.
func (e *errand) more() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running, e.again = e.again, false
	return e.running
}

// restart continues in another goroutine, if start was called, after user code has ended the current goroutine.
func (e *errand) restart() {
	if e.more() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.running = e.group.Start(e)
	}
}
