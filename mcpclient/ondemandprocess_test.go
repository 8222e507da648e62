//go:build unix

package mcpclient_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// A process exists from the first call to the idle time. The next group knows its tools from the file. If the file is
// damaged, a record says so, and the server starts to list its tools.
func TestProcessOfLazyMemberLivesFromCallToIdleTime(t *testing.T) {
	before := inventory(t)
	dir := t.TempDir()
	var pids []int
	for _, step := range []struct {
		name    string
		damage  bool
		starts  int // by the list
		records int
	}{{name: "no file", starts: 1}, {name: "file"}, {name: "damaged file", damage: true, starts: 1, records: 1}} {
		rec := telemetrytest.Recorder(t)
		stopped := make(chan struct{}, 10)
		g, err := mcpclient.NewGroup([]mcpclient.Member{{
			Name: "here", Transport: server(t, roleTools), Lazy: true, Idle: 10 * time.Millisecond,
			Options: &mcpclient.Options{Telemetry: rec.Telemetry(), OnTransition: func(tr connstate.Transition) {
				if tr.From != connstate.Closing && tr.Reason == connstate.ReasonIdle {
					stopped <- struct{}{}
				}
			}},
		}}, &mcpclient.GroupOptions{ListDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		idle := func() {
			t.Helper()
			select {
			case <-stopped:
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: the client has not stopped", step.name)
			}
		}
		if step.damage {
			files, err := filepath.Glob(filepath.Join(dir, "*.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("got the files %q, %v, want one", files, err)
			}
			if err := os.Truncate(files[0], 10); err != nil {
				t.Fatal(err)
			}
		}
		if got := toolNames(t.Context(), g); !slices.Equal(got, []string{"here_pid"}) {
			t.Errorf("%s: got %q, want the tool of the server", step.name, got)
		}
		if got := g.Inspect()[0].Starts; got != step.starts {
			t.Errorf("%s: the list has started the server %d times, want %d", step.name, got, step.starts)
		}
		if step.starts > 0 {
			idle()
		}
		r, err := g.CallTool(t.Context(), "here_pid", nil)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		pid, err := strconv.Atoi(r.Text())
		if err != nil || slices.Contains(pids, pid) {
			t.Errorf("%s: got the process %q, want a new one: %v", step.name, r.Text(), err)
		}
		pids = append(pids, pid)
		idle()
		mustDie(t, pid)
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if got := len(rec.Logs("mcp_client.list_cache.failed")); got != step.records {
			t.Errorf("%s: got %d records, want %d", step.name, got, step.records)
		}
	}
	before.unchanged(t)
}
