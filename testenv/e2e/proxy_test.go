package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcp/drift"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
)

// behindProxy returns the command of a proxy in front of a server. The proxy exports to the sink.
func behindProxy(o observed, server transport.Stdio) transport.Stdio {
	return transport.Stdio{
		Command: command, Args: append([]string{"proxy", "--", server.Command}, server.Args...), Dir: server.Dir,
		Env: append(server.Env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+o.sink.Endpoint(), "OTEL_BSP_SCHEDULE_DELAY=50"),
	}
}

// TestRealServersBehindTheProxy expects the same lists and answers as without the proxy, and one trace for a call.
func TestRealServersBehindTheProxy(t *testing.T) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t)
			o := observe(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			connect := func(tr transport.Transport) *mcpclient.Client { return connected(t, ctx, o, s.name, tr) }
			direct, c := connect(s.command(t, dir)), connect(behindProxy(o, s.command(t, dir)))
			if got := c.ProtocolVersion(); got != s.version {
				t.Errorf("want protocol version %s, got %s", s.version, got)
			}
			checkAlike(t, ctx, direct, c)
			checkTools(t, ctx, c, s)
			checkChain(t, ctx, o, c, s, dir)
			checkAlike(t, ctx, direct, connect(proxied(t, s.command(t, dir))))
		})
	}
}

// TestRealServersOverHTTPBehindTheProxy is the same for servers over HTTP, with a host over HTTP and one on standard
// input and output.
func TestRealServersOverHTTPBehindTheProxy(t *testing.T) {
	for _, s := range webServers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t)
			o := observe(t)
			p := s.start(t, dir, "")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			url := p.url + s.path
			direct := connected(t, ctx, o, s.name, &transport.HTTP{URL: url})
			for host, tr := range map[string]transport.Transport{
				"HTTP":  proxied(t, &transport.HTTP{URL: url}),
				"stdio": &transport.Stdio{Command: command, Args: []string{"proxy", "--url", url}, Env: environment()},
			} {
				t.Run("a host on "+host, func(t *testing.T) {
					c := connected(t, ctx, o, s.name, tr)
					if got := c.ProtocolVersion(); got != s.version {
						t.Errorf("want protocol version %s, got %s", s.version, got)
					}
					checkAlike(t, ctx, direct, c)
					s.use(t, ctx, c, dir)
				})
			}
		})
	}
}

// TestOtherClientsUseOurServerBehindTheProxy covers each era and transport.
func TestOtherClientsUseOurServerBehindTheProxy(t *testing.T) {
	url := proxied(t, &transport.HTTP{URL: ourURL(t, nil)}).URL
	for _, d := range drivers {
		for mode, version := range d.modes {
			t.Run(d.name+" "+mode, func(t *testing.T) {
				t.Parallel()
				d.check(t, url, mode, version)
			})
		}
	}
}

// proxied starts a proxy for hosts over HTTP, in front of server.
func proxied(t *testing.T, server transport.Transport) *transport.HTTP {
	t.Helper()
	p, err := mcpproxy.New(server, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := p.HTTPHandler(nil)
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		shutdown(t, context.Background(), h)
		web.Close()
	})
	return &transport.HTTP{URL: web.URL}
}

func connected(t *testing.T, ctx context.Context, o observed, name string, tr transport.Transport) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.Connect(ctx, tr,
		&mcpclient.Options{Name: name, Telemetry: o.Telemetry(), Timeouts: mcpclient.Timeouts{Init: slowStart}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// checkAlike compares the lists of a client behind a proxy with the lists of a direct client.
func checkAlike(t *testing.T, ctx context.Context, direct, c *mcpclient.Client) {
	t.Helper()
	if got, want := c.ServerInfo(), direct.ServerInfo(); !reflect.DeepEqual(got, want) {
		t.Errorf("want the server's own words of itself, %+v, got %+v", want, got)
	}
	if got, want := c.ServerCapabilities(), direct.ServerCapabilities(); !reflect.DeepEqual(got, want) {
		t.Errorf("want the server's capabilities, %+v, got %+v", want, got)
	}
	if got, want := c.Instructions(), direct.Instructions(); got != want {
		t.Errorf("want the instructions %q, got %q", want, got)
	}
	if changes := drift.Compare(listedTools(t, ctx, direct), listedTools(t, ctx, c)); changes != nil {
		t.Errorf("the tools differ: %v", changes)
	}
}

// checkChain makes a call and checks that its spans form a chain: the caller's span, the host's span, and both spans of
// the proxy.
func checkChain(t *testing.T, ctx context.Context, o observed, c *mcpclient.Client, s server, dir string) {
	t.Helper()
	spanCtx, span := o.TracerProvider().Tracer("e2e").Start(ctx, "caller")
	r, err := c.CallTool(spanCtx, s.tool, json.RawMessage(s.arguments(dir)))
	span.End()
	if err != nil {
		t.Fatal(err)
	}
	if r.IsError || !strings.Contains(r.Text(), s.want) {
		t.Errorf("want a result with %q, got %q (error %v)", s.want, r.Text(), r.IsError)
	}
	name := "tools/call " + s.tool
	of := func(spans []otlpsink.Span, kind, service string) *otlpsink.Span {
		for i := range spans {
			if spans[i].Kind == kind && spans[i].Name == name && spans[i].Service() == service {
				return &spans[i]
			}
		}
		return nil
	}
	const proxy = "mcpotel-proxy"
	spans := o.trace(t, span.SpanContext().TraceID().String(), func(spans []otlpsink.Span) bool {
		return find(spans, "INTERNAL", "caller") != nil && of(spans, "CLIENT", "e2e") != nil &&
			of(spans, "SERVER", proxy) != nil && of(spans, "CLIENT", proxy) != nil
	})
	chain := []*otlpsink.Span{
		find(spans, "INTERNAL", "caller"), of(spans, "CLIENT", "e2e"), of(spans, "SERVER", proxy), of(spans, "CLIENT", proxy),
	}
	for i, s := range chain[1:] {
		if s.ParentID != chain[i].SpanID {
			t.Errorf("%s %s of %s: want it below %s, got parent %s", s.Kind, s.Name, s.Service(), chain[i].SpanID, s.ParentID)
		}
	}
}

// TestHostKeepsItsSessionWhenItsServerIsKilled makes hosts of other SDKs call a tool that kills the server, and
// immediately another tool, 50 times.
func TestHostKeepsItsSessionWhenItsServerIsKilled(t *testing.T) {
	for name, host := range map[string][]string{
		"typescript": {"node", filepath.Join(installed(t), "npm", "survivor.mjs")},
		"go-sdk":     {filepath.Join(installed(t), "bin", "gosdk-survivor")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			const kills = 50
			argv := append(host, fmt.Sprint(kills), command, "proxy", "--", command, "serve-demo")
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			var stderr bytes.Buffer
			cmd.Env, cmd.Stderr = environment(), &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			var seen struct {
				Survived int
				Failed   []string
				Closed   bool
			}
			if err := json.Unmarshal(out, &seen); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if seen.Survived != kills || len(seen.Failed) > 0 || seen.Closed {
				t.Errorf("got %+v, want %d calls that succeed and no disconnect", seen, kills)
			}
		})
	}
}
