package mcpclient

import (
	"reflect"
	"runtime/debug"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
)

// usualConfig is the config that clients with the same plain options share. A program may create a thousand clients
// with the same options, and a config takes more memory than the rest of [Client].
var usualConfig conn.Usual[config]

// shared returns c, or an equal config of another client. The caller must not modify the result.
func (c *config) shared() *config {
	if !c.plain() {
		return c
	}
	return usualConfig.Of(c, func(latest, c *config) bool {
		return latest.Telemetry == c.Telemetry && reflect.DeepEqual(latest, c)
	})
}

// plain reports whether c contains neither functions nor capabilities of the user.
func (c *config) plain() bool {
	return len(c.Features)+len(c.CallOptions)+len(c.Middleware)+len(c.HandlerMiddleware) == 0 &&
		c.OnTransition == nil && reflect.ValueOf(c.Capabilities).IsZero()
}

// mainImplementation returns the name and version of the program that the client is part of.
var mainImplementation = sync.OnceValue(func() mcp.Implementation {
	i := mcp.Implementation{Name: "mcpotel", Version: "unknown"}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Path != "" {
		i.Name, i.Version = b.Main.Path, b.Main.Version
	}
	return i
})
