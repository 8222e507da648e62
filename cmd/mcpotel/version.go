package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/mcp"
)

// What the linker sets in the programs of a release, by -X. In others the go command has written down what it knows.
var (
	linkedVersion string // v0.1.0
	linkedCommit  string
	linkedDate    string // of the commit, RFC 3339
)

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version, as --version does",
		Example: "mcpotel version",
		Args:    refuseArguments,
		RunE:    func(*cobra.Command, []string) error { return printVersion(s.out) },
	}
}

func printVersion(w io.Writer) error { return printText(w, strings.TrimSpace(ownBuild().String())) }

// version is that of the program, or of the module it was built from.
func version() string { return ownBuild().version }

// A build says what a program was built from. Its fields are empty when they are not known.
type build struct {
	version, commit, date string
	modified              bool // the files were not those of the commit
}

func ownBuild() build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info, build{version: linkedVersion, commit: linkedCommit, date: linkedDate})
}

// buildOf adds what the go command knows to what the linker has set. A module that the go command has downloaded has a
// version and no commit.
func buildOf(info *debug.BuildInfo, b build) build {
	if info != nil {
		b.version = cmp.Or(b.version, info.Main.Version)
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				b.commit = cmp.Or(b.commit, setting.Value)
			case "vcs.time":
				b.date = cmp.Or(b.date, setting.Value)
			case "vcs.modified":
				b.modified = setting.Value == "true"
			}
		}
	}
	b.version = cmp.Or(b.version, "(devel)")
	return b
}

// String is what --version prints: a first line for people, and for programs a name and a value a line.
func (b build) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "mcpotel %s\n", b.version)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&text, "%-10s %s\n", name, value)
		}
	}
	commit := b.commit
	if b.modified {
		commit += " with changes"
	}
	line("commit", commit)
	line("date", b.date)
	line("go", fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH))
	line("protocol", strings.Trim(fmt.Sprint(mcp.SupportedVersions()), "[]"))
	return text.String()
}
