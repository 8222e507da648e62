package e2e

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

type addends struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type sum struct {
	Sum float64 `json:"sum"`
}

type ticket struct {
	Number int `json:"number"`
}

// ourServer returns a server with three tools: add answers at once, count answers after three progress reports, and
// claim calls handled with its number and returns the number.
func ourServer(handled func(number int)) *mcpserver.Server {
	s := mcpserver.New(mcp.Implementation{Name: "ours", Version: "1.0.0"}, &mcpserver.Options{Telemetry: telemetry.Off()})
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "add"}, func(_ context.Context, in addends) (sum, error) {
		return sum{in.A + in.B}, nil
	}))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "count"}, func(ctx context.Context, _ struct{}) (string, error) {
		for i := range 3 {
			if err := mcpserver.RequestFrom(ctx).Progress(ctx, float64(i+1), 3, "counting"); err != nil {
				return "", err
			}
			select { // some clients drop reports that arrive together with the answer
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}
		return "counted to 3", nil
	}))
	must(mcpserver.AddTool(s, &mcp.Tool{Name: "claim"}, func(_ context.Context, in ticket) (ticket, error) {
		handled(in.Number)
		return in, nil
	}))
	return s
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// environmentServe is the environment variable that makes this process a server. Its value is the server's address.
const environmentServe = "MCPOTEL_E2E_SERVE"

// serveOurs serves until it is killed. It prints each claimed number as a line on standard error.
func serveOurs(address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s\n", listener.Addr())
	h := ourServer(func(number int) { fmt.Fprintf(os.Stderr, "claimed %d\n", number) }).HTTPHandler(nil)
	log.Fatal(http.Serve(listener, h))
}

// launchOurs runs this module's server in a separate process.
func launchOurs(t *testing.T, address string, claimed func(number int)) *process {
	t.Helper()
	ready := make(chan struct{})
	p := launch(t, transport.Stdio{Command: os.Args[0], Env: environment(environmentServe + "=" + address)},
		func(line string) {
			var number int
			if _, err := fmt.Sscanf(line, "claimed %d", &number); err == nil {
				claimed(number)
			} else if listening.MatchString(line) {
				close(ready)
			}
		})
	p.url = "http://" + address
	select {
	case <-ready:
	case <-p.exited:
		t.Fatalf("our server exited before it listened:\n%s", &p.said)
	}
	return p
}

// TestOurClientUsesOurServer covers every revision and transport.
func TestOurClientUsesOurServer(t *testing.T) {
	for _, tc := range []struct {
		name     string
		mode     transport.HTTPMode
		options  mcpserver.HTTPOptions
		versions []mcp.Version
	}{
		{"sessions", transport.ModeAuto, mcpserver.HTTPOptions{}, mcp.SupportedVersions()},
		{"no sessions", transport.ModeStreamable, mcpserver.HTTPOptions{Stateless: true}, mcp.SupportedVersions()},
		{"not resumable", transport.ModeAuto, mcpserver.HTTPOptions{NotResumable: true, NoSSE: true},
			mcp.SupportedVersions()},
		{"SSE", transport.ModeSSE, mcpserver.HTTPOptions{}, legacyVersions},
	} {
		url := ourURL(t, &tc.options)
		for _, version := range tc.versions {
			t.Run(tc.name+" "+string(version), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				tr := &transport.HTTP{URL: url, Mode: tc.mode}
				c, err := mcpclient.Connect(ctx, checked(t, tr, true),
					&mcpclient.Options{Versions: []mcp.Version{version}, Telemetry: telemetry.Off()})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if got := c.ProtocolVersion(); got != version {
					t.Errorf("want version %s, got %s", version, got)
				}
				r, err := c.CallTool(ctx, "add", addends{1, 2})
				if err != nil || r.Text() != `{"sum":3}` {
					t.Errorf(`add: want {"sum":3}, got %v, %v`, r, err)
				}
				var reports []float64
				r, err = c.CallTool(ctx, "count", nil, mcpclient.WithProgress(func(p *mcp.ProgressParams) {
					reports = append(reports, p.Progress)
				}))
				if err != nil || r.Text() != "counted to 3" || !slices.Equal(reports, []float64{1, 2, 3}) {
					t.Errorf("count: want 3 reports and then the answer, got %v, %v, %v", reports, r, err)
				}
				if err := c.Close(); err != nil {
					t.Errorf("stop: %v", err)
				}
			})
		}
	}
}
