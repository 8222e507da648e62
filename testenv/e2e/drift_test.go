package e2e

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp/drift"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// restarts is the number of restarts of each server; 20 take ten minutes.
var restarts = flag.Int("restarts", 1, "how often each real server is started anew to compare its tools")

// TestToolsOfRealServersAreEqualAfterARestart restarts each server without changes, and compares its tools.
func TestToolsOfRealServersAreEqualAfterARestart(t *testing.T) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			unchanged(t, s.tools, func(t *testing.T, dir string) transport.Transport { return s.command(t, dir) })
		})
	}
	for _, s := range webServers {
		t.Run("HTTP "+s.name, func(t *testing.T) {
			t.Parallel()
			unchanged(t, s.tools, func(t *testing.T, dir string) transport.Transport {
				return &transport.HTTP{URL: s.start(t, dir, "").url + s.path}
			})
		})
	}
}

// unchanged checks that a server has at least this many tools, and the same tools after each start.
func unchanged(t *testing.T, tools int, start func(t *testing.T, dir string) transport.Transport) {
	dir := directory(t)
	var before drift.Tools
	for i := range 1 + *restarts {
		t.Run("start", func(t *testing.T) { // ends with the process
			now := fingerprints(t, start(t, dir))
			if i == 0 {
				before = now
			}
			if changes := drift.Compare(before, now); changes != nil || len(now) < tools {
				t.Errorf("start %d: got %d tools and the changes %v, want %d tools at least and no change",
					i+1, len(now), changes, tools)
			}
		})
	}
	t.Logf("%d tools are the same after %d restarts", len(before), *restarts)
}

// fingerprints returns the fingerprints of the tools of a server.
func fingerprints(t *testing.T, tr transport.Transport) drift.Tools {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := mcpclient.Connect(ctx, tr,
		&mcpclient.Options{Telemetry: telemetry.Off(), Timeouts: mcpclient.Timeouts{Init: slowStart}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return listedTools(t, ctx, c)
}

// listedTools returns the fingerprints of the tools that a client lists.
func listedTools(t *testing.T, ctx context.Context, c *mcpclient.Client) drift.Tools {
	t.Helper()
	tools := drift.Tools{}
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		tools.Add(tool)
	}
	return tools
}
