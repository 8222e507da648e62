package e2e

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/drift"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// restarts is how often each server is started anew: 20 take some minutes.
var restarts = flag.Int("restarts", 2, "how often each real server is started anew to compare its tools")

// TestNoToolOfARealServerChangesWithARestart starts each server again and again, as it was, and compares its tools.
func TestNoToolOfARealServerChangesWithARestart(t *testing.T) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t)
			before := fingerprints(t, s, dir)
			if len(before) < s.tools {
				t.Fatalf("want %d tools at least, got %d", s.tools, len(before))
			}
			for i := range *restarts {
				if changes := drift.Compare(before, fingerprints(t, s, dir)); changes != nil {
					t.Errorf("restart %d: got %v, want no change", i+1, changes)
				}
			}
			t.Logf("%d tools are the same after %d restarts", len(before), *restarts)
		})
	}
}

// fingerprints starts a server and returns the fingerprints of its tools.
func fingerprints(t *testing.T, s server, dir string) drift.Tools {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := mcpclient.Connect(ctx, s.command(t, dir), &mcpclient.Options{Name: s.name, Telemetry: telemetry.Off()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop(context.Background())
	var tools []*mcp.Tool
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, tool)
	}
	return drift.ToolsOf(tools)
}
