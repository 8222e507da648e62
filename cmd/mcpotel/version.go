package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/mcpotel/mcpotel/mcp"
)

func runVersion(_ context.Context, s streams, _ []string) error {
	return printLine(s.out, fmt.Sprintf("mcpotel %s, protocol versions %v", version(), mcp.SupportedVersions()))
}

// version is that of the module, as it was built.
func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}
