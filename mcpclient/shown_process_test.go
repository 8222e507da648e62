package mcpclient_test

import (
	"context"
	"os"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// A server that ends before it has said anything, and without an error, is news and no warning; that there is no
// connection is told elsewhere.
func TestTheOrderlyExitOfAServerIsLoggedAtInfo(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rec := telemetrytest.Recorder(t)
	c, err := mcpclient.Connect(t.Context(), transport.Stdio{Command: exe, Args: []string{"-test.run=^$"}},
		&mcpclient.Options{InitialAttempts: 1, Telemetry: rec.Telemetry()})
	if err == nil {
		_ = c.Stop(context.Background())
		t.Fatal("a process that runs no test is no server, got a client of it")
	}
	records := rec.Logs("mcp_client.process.exit")
	if len(records) == 0 {
		t.Fatal("want a record of the exit, got none")
	}
	if record := records[0]; record.Text("process.exit.code") != "0" || record.Level.String() != "INFO" {
		t.Errorf("record of the exit: got %v with code %s, want INFO and 0", record.Level, record.Text("process.exit.code"))
	}
}
