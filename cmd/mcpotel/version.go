package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/mcpotel/mcpotel/mcp"
)

func runVersion(_ context.Context, s streams, _ []string) error {
	fmt.Fprintf(s.out, "mcpotel %s, protocol versions %v\n", version(), mcp.SupportedVersions())
	return nil
}

// version is that of the module, as it was built.
func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}
