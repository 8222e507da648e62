package instrument

import (
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// census counts the names that the open clients and servers of a meter have: each is to have places for itself. It is
// safe for concurrent use.
type census struct {
	mu    sync.Mutex
	all   map[string]int // clients or servers of each name; guarded by mu
	names atomic.Int64   // how many all has
}

func (c *census) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]int{}
	}
	c.all[name]++
	c.names.Store(int64(len(c.all)))
}

func (c *census) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[name]--; c.all[name] <= 0 {
		delete(c.all, name)
	}
	c.names.Store(int64(len(c.all)))
}

func (c *census) len() int { return int(c.names.Load()) }

// groups are those that metrics tell apart: the first of the process.
type groups struct{ set nameSet }

// label returns the name of a group as metrics have it.
func (g *groups) label(name string) string {
	if name != "" {
		if own, ok := g.set.intern(name, words.MaxGroups); ok {
			return own
		}
	}
	return names.Other
}
