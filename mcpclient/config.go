package mcpclient

import (
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/inflight"
	"github.com/mcpotel/mcpotel/mcpclient/internal/machine"
)

// policy returns the state machine's numbers.
func (c *config) policy() machine.Policy {
	p := machine.Defaults()
	p.InitTimeout, p.StartTimeout, p.AuthTimeout, p.CloseTimeout = c.InitTimeout, c.StartTimeout, c.AuthTimeout, c.CloseTimeout
	p.BackoffMin, p.BackoffMax = c.BackoffMin, c.BackoffMax
	p.InitialAttempts = max(0, c.InitialAttempts)
	return p
}

// inflight returns the numbers of the in-flight table. A tombstone outlives whatever can delay an answer: the timeout of
// its call, as configured for all calls, and a reconnection.
func (c *config) inflight() inflight.Config {
	const margin = 5 * time.Second
	t := inflight.Defaults()
	t.TTL = margin
	for _, d := range []time.Duration{max(0, c.RequestTimeout), c.InitTimeout, c.BackoffMax} {
		t.TTL += min(d, math.MaxInt64-t.TTL) // which may be for ever
	}
	return t
}

// newest returns the newest version the client may speak.
func (c *config) newest() mcp.Version {
	if len(c.modern) > 0 {
		return c.modern[0]
	}
	return c.legacy[0]
}

// mainImplementation names the program that the client is part of.
var mainImplementation = sync.OnceValue(func() mcp.Implementation {
	i := mcp.Implementation{Name: "mcpotel", Version: "unknown"}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Path != "" {
		i.Name, i.Version = b.Main.Path, b.Main.Version
	}
	return i
})
