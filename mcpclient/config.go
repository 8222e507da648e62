package mcpclient

import (
	"runtime/debug"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
)

// mainImplementation names the program that the client is part of.
var mainImplementation = sync.OnceValue(func() mcp.Implementation {
	i := mcp.Implementation{Name: "mcpotel", Version: "unknown"}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Path != "" {
		i.Name, i.Version = b.Main.Path, b.Main.Version
	}
	return i
})
