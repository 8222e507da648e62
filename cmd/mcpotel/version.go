package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/mcp"
)

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version, as --version does",
		Example: "mcpotel version",
		Args:    refuseArguments,
		RunE:    func(*cobra.Command, []string) error { return printVersion(s.out) },
	}
}

func printVersion(w io.Writer) error {
	return printLine(w, fmt.Sprintf("mcpotel %s, protocol versions %v", version(), mcp.SupportedVersions()))
}

// version is that of the module, as it was built.
func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}
