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

// Variables that the linker sets in releases, with -X. Other builds use the information that the go command records.
var (
	linkedVersion string // v0.1.0
	linkedCommit  string
	linkedDate    string // time of the commit, RFC 3339
)

func newVersion(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version [--json]", Short: "print the version, like --version",
		Example: "mcpotel version\nmcpotel version --json",
		Args:    refuseArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(s.out, ownBuild().json())
			}
			return printVersion(s.out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the version as JSON, for programs")
	return cmd
}

func printVersion(w io.Writer) error { return printText(w, strings.TrimSpace(ownBuild().String())) }

// version returns the version of the program or of its module.
func version() string { return ownBuild().version }

// build describes the source of a program. Unknown fields are empty.
type build struct {
	version, commit, date string
	modified              bool // the files differed from the commit
}

func ownBuild() build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info, build{version: linkedVersion, commit: linkedCommit, date: linkedDate})
}

// buildOf returns b with its empty fields filled from info. The linker has set b, and the go command has recorded info.
// A module that the go command downloaded has a version, but no commit.
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

// buildJSON is a build in the output of version --json.
type buildJSON struct {
	Version  string        `json:"version"`
	Commit   string        `json:"commit,omitzero"`
	Modified bool          `json:"modified"`
	Date     string        `json:"date,omitzero"`
	Go       string        `json:"go"`
	OS       string        `json:"os"`
	Arch     string        `json:"arch"`
	Protocol []mcp.Version `json:"protocol"`
}

func (b build) json() buildJSON {
	return buildJSON{b.version, b.commit, b.modified, b.date, runtime.Version(), runtime.GOOS, runtime.GOARCH,
		mcp.SupportedVersions()}
}

// String returns the output of --version: a first line for people, then a line with name and value for each field.
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
