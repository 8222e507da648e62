package e2e

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
)

// TestModernHostsUseATranslatedLegacyServer connects hosts of other SDKs that support only 2026-07-28, through the
// proxy, to a real server that supports only older revisions, on standard input and output and over HTTP.
func TestModernHostsUseATranslatedLegacyServer(t *testing.T) {
	s := servers[slices.IndexFunc(servers, func(s server) bool { return s.name == "everything" })]
	target := s.command(t, "")
	argv := []string{command, "proxy", "--translate", "--", target.Command}
	argv = append(argv, target.Args...)
	stdio, err := json.Marshal(argv)
	if err != nil {
		t.Fatal(err)
	}
	url := listens(t, slices.Insert(slices.Clone(argv), 3, "--listen", "127.0.0.1:0"))
	for _, d := range drivers {
		for way, at := range map[string]string{"stdio": string(stdio), "HTTP": url} {
			t.Run(d.name+", "+way, func(t *testing.T) {
				t.Parallel()
				o := d.drive(t, at, "modern", s.tool, s.arguments(""))
				if o.Version != mcp.Version20260728 || o.IsError || o.Text != s.want || !slices.Contains(o.Tools, s.tool) {
					t.Errorf("want %q in revision 2026-07-28, and the tool %s listed, got %+v", s.want, s.tool, o)
				}
			})
		}
	}
}
