package mcpclient_test

import (
	"syscall"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// The metrics of a stdio server cover the processes that it has started. After a restart they are the metrics of the
// new process, and after the end there are none.
func TestProcessMetricsCoverChildrenOfServer(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	restarted := make(chan struct{}, 10)
	c := connect(t, roleServer, &mcpclient.Options{
		Name: "files", TelemetryGroup: "tenant", Telemetry: rec.Telemetry(),
		OnTransition: func(tr connstate.Transition) {
			if tr.Reason == connstate.ReasonTransportUp {
				restarted <- struct{}{}
			}
		},
	})
	<-restarted
	check := func(when string, processes int64) {
		t.Helper()
		if got := rec.Value("mcp_client.process.active", "mcp_client.name", "files"); got != processes {
			t.Errorf("%s: got %d processes, want %d", when, got, processes)
		}
		memory := rec.Value("process.memory.usage", "mcp_client.name", "files")
		if least := processes << 20; memory < least {
			t.Errorf("%s: got %d bytes of memory, want at least %d for Go programs", when, memory, least)
		}
	}
	check("after the start", 1)
	for metric, want := range map[string]int{"process.cpu.time": 2, "process.uptime": 1} {
		if got := rec.Points(metric, "mcp_client.name", "files", "mcp_client.group", "tenant"); len(got) != want {
			t.Errorf("%s: got %v, want %d points", metric, got, want)
		}
	}
	child := pid(t, c, methodFork)
	check("with a child", 2)
	if err := syscall.Kill(pid(t, c, methodPID), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-restarted
	if err := c.WaitForReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("after a restart", 1)
	mustDie(t, child)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	check("after the end", 0)
}
