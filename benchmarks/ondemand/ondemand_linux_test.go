package ondemand_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/benchmarks/ondemand"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// asServer is the environment variable that makes this binary a server.
const asServer = "MCPOTEL_ONDEMAND_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	s := mcpserver.New(mcp.Implementation{Name: "server", Version: "1"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "work"}, func(context.Context, struct{}) (string, error) { return "done", nil })
	if err != nil || s.ServeStdio(context.Background()) != nil {
		os.Exit(1)
	}
}

// Five hosts with eight servers need forty processes. On demand, they need one for each server that a host uses, and
// none when all are idle.
func TestServersOnDemandUseProcessesOnlyWhileUsed(t *testing.T) {
	const hosts, servers = 5, 8
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var members []mcpclient.Member
	for i := range servers {
		members = append(members, mcpclient.Member{Name: fmt.Sprint("s", i), Transport: transport.Stdio{
			Command: exe, Env: []string{asServer + "=" + fmt.Sprint(i), "GORACE=atexit_sleep_ms=0"},
		}})
	}
	rows, err := ondemand.Run(t.Context(), members, ondemand.Options{Hosts: hosts, Idle: 3 * time.Second, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	want := []int64{hosts * servers, 0, hosts, 0}
	if len(rows) != len(want) {
		t.Fatalf("got %+v, want %d rows", rows, len(want))
	}
	for i, r := range rows {
		if r.Processes != want[i] || (r.Memory > 1<<20*r.Processes) != (r.Processes > 0) {
			t.Errorf("%s: got %d processes with %d bytes, want %d", r.Step, r.Processes, r.Memory, want[i])
		}
	}
}
