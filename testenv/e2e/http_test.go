package e2e

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// TestRealServersOverHTTP connects to each server with default options, lists its tools, calls one, and disconnects.
func TestRealServersOverHTTP(t *testing.T) {
	for _, s := range webServers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t)
			p := s.start(t, dir, "")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			c, err := mcpclient.Connect(ctx, checked(t, &transport.HTTP{URL: p.url + s.path}, false), nil)
			if err != nil {
				t.Fatalf("connect: %v\nthe server said:\n%s", err, &p.said)
			}
			defer c.Close()
			ready := time.Since(began)
			if got := c.ProtocolVersion(); got != s.version {
				t.Errorf("want protocol version %s, got %s", s.version, got)
			}
			s.use(t, ctx, c, dir)
			if err := c.Close(); err != nil {
				t.Errorf("stop: %v", err)
			}
			t.Logf("%s: ready after %v, all done after %v", s.version, ready.Round(time.Millisecond),
				time.Since(began).Round(time.Millisecond))
		})
	}
}

// use lists the tools and calls one.
func (s *webServer) use(t *testing.T, ctx context.Context, c *mcpclient.Client, dir string) {
	t.Helper()
	var names []string
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		names = append(names, tool.Name)
	}
	if len(names) < s.tools || !slices.Contains(names, s.tool) {
		t.Errorf("want %d tools at least, %s among them, got %q", s.tools, s.tool, names)
	}
	r, err := c.CallTool(ctx, s.tool, json.RawMessage(s.arguments(dir)))
	if err != nil {
		t.Fatalf("call: %v", err)
	}
	if r.IsError || !strings.Contains(r.Text(), s.want) {
		t.Errorf("want a result with %q, got %q (error %v)", s.want, r.Text(), r.IsError)
	}
}

// TestEveryRevisionOverHTTP pins the client to each revision that a server claims to support.
func TestEveryRevisionOverHTTP(t *testing.T) {
	for _, tc := range []struct {
		server   string
		versions []mcp.Version
	}{
		{"everything", legacyVersions},
		{"everything, SSE", legacyVersions},
		{"git", legacyVersions},
		{"sdk stateless", legacyVersions},
		{"typescript", mcp.SupportedVersions()},
		{"gosdk-conformance, stateless", mcp.SupportedVersions()},
		{"gosdk-conformance, sessions", legacyVersions},
		{"mcpgo", mcp.SupportedVersions()},
		{"mcp-grafana", mcp.SupportedVersions()},
	} {
		i := slices.IndexFunc(webServers, func(s webServer) bool { return s.name == tc.server })
		t.Run(tc.server, func(t *testing.T) {
			t.Parallel()
			dir := directory(t)
			p := webServers[i].start(t, dir, "")
			for _, v := range tc.versions {
				t.Run(string(v), func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					tr := &transport.HTTP{URL: p.url + webServers[i].path}
					c, err := mcpclient.Connect(ctx, checked(t, tr, false), &mcpclient.Options{Versions: []mcp.Version{v}})
					if err != nil {
						t.Fatalf("connect: %v\nthe server said:\n%s", err, &p.said)
					}
					defer c.Close()
					if got := c.ProtocolVersion(); got != v {
						t.Errorf("want protocol version %s, got %s", v, got)
					}
					webServers[i].use(t, ctx, c, dir)
				})
			}
		})
	}
}

var legacyVersions = []mcp.Version{mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105}

// TestClientReconnectsToRealServers restarts each server at the same address while its client is idle. The client
// notices by itself, at the latest with the next call, and reconnects.
func TestClientReconnectsToRealServers(t *testing.T) {
	for _, s := range webServers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t)
			first := s.start(t, dir, "")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c, err := mcpclient.Connect(ctx, checked(t, &transport.HTTP{URL: first.url + s.path}, false), &mcpclient.Options{
				Backoff: mcpclient.Backoff{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond},
			})
			if err != nil {
				t.Fatalf("connect: %v\nthe server said:\n%s", err, &first.said)
			}
			defer c.Close()
			s.use(t, ctx, c, dir)
			first.kill()
			second := s.start(t, dir, strings.TrimPrefix(first.url, "http://"))
			for failures := 0; ; failures++ {
				_, err := c.CallTool(ctx, s.tool, json.RawMessage(s.arguments(dir)), mcpclient.WaitForReady())
				if err == nil {
					break
				}
				t.Logf("call: %v (safe to retry: %v)", err, mcpclient.SafeToRetry(err))
				if failures == 3 {
					t.Fatalf("want an answer soon, got %d failures; %+v\nthe server said:\n%s", failures+1, c.Status(), &second.said)
				}
			}
			s.use(t, ctx, c, dir)
		})
	}
}
