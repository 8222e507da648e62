package e2e

import (
	"context"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// way is how this module's client reaches this module's server.
type way struct {
	name     string
	open     func(t *testing.T) transport.Transport // to a new server; over stdio, to a new server for each connection
	versions []mcp.Version
	mute     bool // in revisions with sessions, the server sends only answers
	alone    bool // each client has its own server
}

var ways = []way{
	{name: "in memory", versions: mcp.SupportedVersions(), open: func(t *testing.T) transport.Transport {
		s := newFull()
		t.Cleanup(func() { s.Shutdown(context.Background()) })
		return transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = s.Serve(ctx, p) })
	}},
	{name: "stdio", versions: mcp.SupportedVersions(), alone: true, open: func(*testing.T) transport.Transport {
		return transport.Stdio{Command: os.Args[0], Env: environment(environmentFull + "=1"), Stderr: func(string) {}}
	}},
	{name: "HTTP", versions: mcp.SupportedVersions(),
		open: overHTTP(transport.ModeStreamable, &mcpserver.HTTPOptions{TrustTraceContext: true})},
	{name: "HTTP without sessions", versions: mcp.SupportedVersions(), mute: true,
		open: overHTTP(transport.ModeStreamable, &mcpserver.HTTPOptions{Stateless: true, TrustTraceContext: true})},
	{name: "HTTP+SSE", versions: legacyVersions,
		open: overHTTP(transport.ModeSSE, &mcpserver.HTTPOptions{TrustTraceContext: true})},
}

func overHTTP(mode transport.HTTPMode, o *mcpserver.HTTPOptions) func(t *testing.T) transport.Transport {
	return func(t *testing.T) transport.Transport {
		s := newFull()
		h := s.HTTPHandler(o)
		web := httptest.NewServer(h)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if err := h.Shutdown(ctx); err != nil {
				t.Errorf("shutdown: %v", err)
			}
			s.Shutdown(ctx)
			web.Close()
		})
		return &transport.HTTP{URL: web.URL, Mode: mode}
	}
}

// uses are the actions for each pair of a client and a server, one after the other.
var uses = []struct {
	name string
	do   func(p *pair)
}{
	{"introduction", useIntroduction},
	{"tools", useTools},
	{"tool errors", useToolErrors},
	{"resources", useResources},
	{"templates", useTemplates},
	{"prompts", usePrompts},
	{"completion", useCompletion},
	{"pages", usePages},
	{"subscriptions", useSubscriptions},
	{"list changes", useListChanges},
	{"cache", useCache},
	{"logging", useLogging},
	{"progress", useProgress},
	{"cancellation", useCancellation},
	{"a closed stream", useHangUp},
	{"forms", useForms},
	{"URLs", useURLs},
	{"sampling", useSampling},
	{"roots", useRoots},
	{"rounds", useRounds},
	{"tasks", useTasks},
	{"undeclared", useUndeclared},
}

// TestOurClientAndServerSupportAllFeatures uses every feature of our client and our server on each other, in every
// revision, over every transport. A feature that a revision or a transport does not have fails with the documented
// error.
func TestOurClientAndServerSupportAllFeatures(t *testing.T) {
	for _, w := range ways {
		for _, v := range w.versions {
			t.Run(w.name+" "+string(v), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				p := &pair{T: t, ctx: ctx, way: w, v: v, transport: checked(t, w.open(t), true), user: newUser()}
				p.c = p.connect(p.user.features()...)
				for _, use := range uses {
					t.Run(use.name, func(t *testing.T) {
						in := *p
						in.T = t
						use.do(&in)
					})
				}
				if err := p.c.Close(); err != nil {
					t.Errorf("stop: %v", err)
				}
			})
		}
	}
}

// pair is a client and a server of this module.
type pair struct {
	*testing.T
	ctx       context.Context
	way       way
	v         mcp.Version
	transport transport.Transport
	user      *user
	c         *mcpclient.Client
}

// connect returns another client like the first.
func (p *pair) connect(features ...mcpclient.Feature) *mcpclient.Client {
	p.Helper()
	c, err := mcpclient.Connect(p.ctx, p.transport, &mcpclient.Options{
		Capabilities: mcp.ClientCapabilities{Experimental: map[string]mcp.Object{"example.com/x": mcp.Object(`{"y":1}`)}},
		Versions:     []mcp.Version{p.v}, Features: features, Telemetry: telemetry.Off(), ClientInfo: mcp.Implementation{
			Name: "client", Title: "Client", Version: "1.0.0", Description: "tries everything",
			WebsiteURL: "https://example.com", Icons: icons,
		},
	})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { c.Close() })
	return c
}

func (p *pair) modern() bool { return p.v.Era() == mcp.Modern }

// silent reports whether the server can send this client only answers.
func (p *pair) silent() bool { return p.way.mute && !p.modern() }

// text calls a tool and returns its text.
func (p *pair) text(tool string, arguments any, options ...mcpclient.CallOption) string {
	p.Helper()
	r, err := p.c.CallTool(p.ctx, tool, arguments, options...)
	if err != nil {
		p.Fatalf("%s: %v", tool, err)
	}
	if r.IsError {
		p.Fatalf("%s: want it to succeed, got %s", tool, r.Text())
	}
	return r.Text()
}

// says calls a tool and expects this text.
func (p *pair) says(tool string, arguments any, want string, options ...mcpclient.CallOption) {
	p.Helper()
	if got := p.text(tool, arguments, options...); got != want {
		p.Errorf("%s %v: want %s, got %s", tool, arguments, want, got)
	}
}

// count returns the number of requests with a method that the server has handled.
func (p *pair) count(method string) string {
	p.Helper()
	return strings.Trim(p.text("count", named{method}), `{}"number:`)
}

func (p *pair) equal(what string, want, got any) {
	p.Helper()
	equal(p.T, what, want, got)
}

// since returns want from a revision on, and before for earlier revisions.
func since[T any](p *pair, first mcp.Version, want, before T) T {
	if p.v >= first {
		return want
	}
	return before
}
