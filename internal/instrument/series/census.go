package series

import (
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Census counts the names of the open clients and servers of a meter, so that each name gets its reserved places. It is
// safe for concurrent use.
type Census struct {
	mu    sync.Mutex
	all   map[string]int // guarded by mu; number of clients or servers with each name
	names atomic.Int64   // number of names in all
}

// Add adds a client or server with this name.
func (c *Census) Add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]int{}
	}
	c.all[name]++
	c.names.Store(int64(len(c.all)))
}

// Remove removes a client or server with this name.
func (c *Census) Remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[name]--; c.all[name] <= 0 {
		delete(c.all, name)
	}
	c.names.Store(int64(len(c.all)))
}

// Len returns the number of names.
func (c *Census) Len() int { return int(c.names.Load()) }

// Groups holds the groups of clients that metrics distinguish: the first groups of the process.
type Groups struct{ set NameSet }

// Label returns the metric label of a group.
func (g *Groups) Label(name string) string {
	if name != "" {
		if own, ok := g.set.Intern(name, words.MaxGroups); ok {
			return own
		}
	}
	return names.Other
}
