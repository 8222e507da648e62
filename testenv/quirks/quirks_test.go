package quirks_test

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/testenv/quirks"
)

// environmentQuirk is the environment variable that makes this process a server over stdio. Its value is the server's
// name.
const environmentQuirk = "MCPOTEL_QUIRK"

func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv(environmentQuirk); ok {
		os.Exit(quirks.ServeStdio(name))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "32"); err != nil { // the servers mostly wait
		panic(err)
	}
	os.Exit(m.Run())
}

// budget is the default of mcpclient.Timeouts.Init: the maximum time of a connection attempt.
const budget = 10 * time.Second

// TestEveryServerOverStdioIsUsable makes the checks of TestEveryServerOverHTTPIsUsable with processes.
func TestEveryServerOverStdioIsUsable(t *testing.T) {
	t.Parallel()
	for _, s := range quirks.OverStdio() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			use(t, transport.Stdio{Command: os.Args[0], Env: []string{environmentQuirk + "=" + s.Name}}, s.Version, s.Deaf)
		})
	}
}

// use lists tools and calls one with a client that listens to changes, unless the server becomes deaf when a client
// listens.
func use(t *testing.T, tr transport.Transport, want mcp.Version, deaf bool) {
	t.Helper()
	start := time.Now()
	c, err := mcpclient.Connect(t.Context(), tr, &mcpclient.Options{NoListening: deaf, Features: []mcpclient.Feature{
		mcpclient.HandleToolListChanged(func(context.Context) {})}})
	took := time.Since(start)
	if err != nil {
		t.Fatalf("connect: want no error, got after %v: %v", took.Round(time.Millisecond), err)
	}
	defer c.Close()
	if took > budget {
		t.Errorf("connect: want it within %v, got %v", budget, took)
	}
	if got := c.ProtocolVersion(); got != want {
		t.Errorf("want version %s, got %s", want, got)
	}
	for tool, err := range c.Tools(t.Context()) {
		if err != nil || tool.Name != "echo" {
			t.Errorf("list: want the tool echo, got %v, %v", tool, err)
		}
	}
	echo(t, c)
	t.Logf("ready after %v", took.Round(time.Millisecond))
}

func echo(t *testing.T, c *mcpclient.Client) {
	t.Helper()
	r, err := c.CallTool(t.Context(), "echo", map[string]string{"text": "hällo"})
	if err != nil || r.Text() != "hällo" {
		t.Errorf("call: want hällo, got %v, error %v", r, err)
	}
}
