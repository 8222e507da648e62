package mcpproxy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// eras lists pairs of a host and a server that share no revision.
var eras = []struct{ host, server mcp.Version }{
	{mcp.Version20251125, mcp.Version20260728}, {mcp.Version20241105, mcp.Version20260728},
	{mcp.Version20260728, mcp.Version20251125}, {mcp.Version20260728, mcp.Version20241105},
}

// eachEra runs f for each pair, with both connections over streams and with both over HTTP.
func eachEra(t *testing.T,
	f func(t *testing.T, host mcp.Version, web bool, server *mcptest.Server, way transport.Transport)) {
	for _, era := range eras {
		for _, web := range []bool{false, true} {
			t.Run(fmt.Sprintf("a host of %s, a server of %s, HTTP %v", era.host, era.server, web), func(t *testing.T) {
				s := mcptest.NewServer(t, &mcpserver.Options{
					Versions: []mcp.Version{era.server}, Logging: true, Telemetry: telemetry.Off(),
				})
				addEcho("one", s)
				addThings("one", s)
				addWork(new(heard))("one", s)
				must(s.AddTool(&mcp.Tool{Name: "run-deadbeef01"},
					func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("ran")}}, nil
					}))
				var way transport.Transport = s
				if web {
					h := s.HTTPHandler(nil)
					at := httptest.NewServer(h)
					t.Cleanup(func() {
						_ = h.Shutdown(context.Background())
						at.Close()
					})
					way = &transport.HTTP{URL: at.URL}
				}
				f(t, era.host, web, s, way)
			})
		}
	}
}

// fronted returns a host's transport to a proxy or gateway, over a stream or over HTTP.
func fronted(t *testing.T, web bool, serve func(context.Context, mcpserver.Conn) error,
	handler func(*mcpserver.HTTPOptions) *mcpserver.HTTPHandler) transport.Transport {
	if !web {
		return transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = serve(ctx, p) })
	}
	h := handler(nil)
	at := httptest.NewServer(h)
	t.Cleanup(func() {
		_ = h.Shutdown(context.Background())
		at.Close()
	})
	return &transport.HTTP{URL: at.URL}
}

// arrives connects a host that speaks v.
func arrives(t *testing.T, way transport.Transport, v mcp.Version,
	features ...mcpclient.Feature) (*mcpclient.Client, error) {
	c, err := mcpclient.Connect(t.Context(), way, &mcpclient.Options{
		Versions: []mcp.Version{v}, Features: features, Telemetry: telemetry.Off(), Backoff: mcpclient.Backoff{Attempts: 1},
	})
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// overheard is a transport that records the messages to its host.
type overheard struct {
	transport.Transport
	h *heard
}

type overheardConn struct {
	transport.Conn
	h *heard
}

func (o overheard) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c, err := o.Transport.Dial(ctx, cfg)
	return overheardConn{c, o.h}, err
}

func (c overheardConn) Receive(ctx context.Context) (transport.Frame, error) {
	f, err := c.Conn.Receive(ctx)
	c.h.note("%s", f.Data)
	return f, err
}

func TestEraMismatchErrorReachesHost(t *testing.T) {
	eachEra(t, func(t *testing.T, host mcp.Version, web bool, _ *mcptest.Server, way transport.Transport) {
		p, err := mcpproxy.New(way, &mcpproxy.Options{Telemetry: telemetry.Off()})
		must(err)
		received := new(heard)
		if _, err = arrives(t, overheard{fronted(t, web, p.Serve, p.HTTPHandler), received}, host); err == nil {
			t.Error("the host has a session")
		}
		received.mu.Lock()
		defer received.mu.Unlock()
		all := strings.Join(received.all, "\n")
		if !strings.Contains(all, "mcpotel proxy --translate translates between them") {
			t.Errorf("the host gets %s, want the advice to translate", all)
		}
	})
}

// A host of 2026-07-28 need not start with server/discover. The recording contains the server's own text.
func TestAdviceIsNotRecorded(t *testing.T) {
	s := mcptest.NewServer(t, &mcpserver.Options{
		Versions: []mcp.Version{mcp.Version20251125}, Telemetry: telemetry.Off(),
	})
	var tape strings.Builder
	r := mcpproxy.NewRecorder(&tape, &mcpproxy.RecorderOptions{Content: true})
	p, err := mcpproxy.New(s, &mcpproxy.Options{Recorder: r, Telemetry: telemetry.Off()})
	must(err)
	c, err := fronted(t, false, p.Serve, p.HTTPHandler).Dial(t.Context(), transport.Config{})
	must(err)
	must(c.Send(t.Context(), transport.Message{Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}`)}))
	f, err := c.Receive(t.Context())
	must(err)
	const advice = "mcpotel proxy --translate"
	if !strings.Contains(string(f.Data), advice) {
		t.Errorf("the host gets %s, want the advice to translate", f.Data)
	}
	must(c.Close(t.Context()))
	must(r.Close())
	if text := tape.String(); strings.Contains(text, advice) || !strings.Contains(text, `"kind":"error"`) {
		t.Errorf("the recording is %s, want the server's own error text", text)
	}
}

func TestGatewayWithoutPrefixTranslates(t *testing.T) {
	eachEra(t, func(t *testing.T, host mcp.Version, web bool, s *mcptest.Server, way transport.Transport) {
		g, err := mcpproxy.NewGateway([]mcpclient.Member{{Name: "the server", Transport: way}},
			&mcpproxy.GatewayOptions{NoPrefix: true, Telemetry: telemetry.Off()})
		must(err)
		t.Cleanup(func() { _ = g.Close() })
		h := new(heard)
		c, err := arrives(t, fronted(t, web, g.Serve, g.HTTPHandler), host, append(able(), h.features()...)...)
		must(err)
		want := []string{"echo", "refuse", "work", "wait", "sample", "elicit", "run-deadbeef01"}
		if got := toolNames(t, c); !slices.Equal(got, want) {
			t.Errorf("the host gets the tools %q, want %q", got, want)
		}
		r, err := c.CallTool(t.Context(), "run-deadbeef01", nil)
		if err != nil || textOf(r) != "ran" {
			t.Errorf("a tool with a name like a generated name answers %+v, %v", r, err)
		}
		_, err = c.CallTool(t.Context(), "refuse", nil)
		if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != -31000 || e.Message != "no one" {
			t.Errorf("a refusing tool answers %v, want its error", err)
		}
		must(c.SetLogLevel(t.Context(), mcp.LevelWarning))
		var part []string
		_, err = c.CallTool(t.Context(), "work", nil, mcpclient.WithProgress(func(p *mcp.ProgressParams) {
			part = append(part, fmt.Sprint(p.Progress))
		}))
		must(err)
		if !slices.Equal(part, []string{"1"}) {
			t.Errorf("the host gets the progress %q, want one report", part)
		}
		eventually(t, "the host gets the log message", func() bool { return h.count(`warning part {"n":1}`) == 1 })
		must(c.SubscribeResource(t.Context(), "one://thing"))
		s.ResourceUpdated("one://thing")
		eventually(t, "the host is notified of the resource", func() bool { return h.count("updated one://thing") == 1 })
		r, err = c.CallTool(t.Context(), "elicit", nil, mcpclient.WithTimeout(time.Minute))
		answered := err == nil && textOf(r) == "accept7"
		if can := host == mcp.Version20251125; answered != can { // the newest revision asks only in answers
			t.Errorf("the server's question is answered %+v, %v, want an answer of the host: %v", r, err, can)
		}
	})
}

func TestNoPrefixOptionRequiresOneMember(t *testing.T) {
	s := mcptest.NewServer(t, nil)
	_, err := mcpproxy.NewGateway([]mcpclient.Member{{Name: "a", Transport: s}, {Name: "b", Transport: s}},
		&mcpproxy.GatewayOptions{NoPrefix: true})
	if err == nil || !strings.Contains(err.Error(), "NoPrefix needs exactly one member, got 2") {
		t.Errorf("got %v, want the error about the members", err)
	}
}

// The gateway behaves like a proxy: it keeps the host's messages until the server is back.
func TestGatewayWaitsForItsOnlyMemberToRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mcptest.NewServer(t, &mcpserver.Options{
			Versions: []mcp.Version{mcp.Version20260728}, Telemetry: telemetry.Off(),
		})
		addEcho("one", s)
		g, err := mcpproxy.NewGateway([]mcpclient.Member{{Name: "one", Transport: s}},
			&mcpproxy.GatewayOptions{NoPrefix: true, Patience: 10 * time.Second, Telemetry: telemetry.Off()})
		must(err)
		a := &around{t: t, gateway: g}
		defer a.end()
		c := a.host(mcp.Version20250618)
		defer leave(t, c)
		toolNames(t, c)
		time.Sleep(time.Minute)
		s.Kill()
		synctest.Wait()
		if r, err := c.CallTool(t.Context(), "echo", nil); err != nil || textOf(r) != "one {}" {
			t.Errorf("a call after the death of the server answers %+v, %v, want its result", r, err)
		}
		s.Refuse(errors.New("gone"))
		s.Kill()
		synctest.Wait()
		asked := time.Now()
		_, err = c.CallTool(t.Context(), "echo", nil)
		if took := time.Since(asked); err == nil || took != 10*time.Second {
			t.Errorf("a call of a server that does not come back answers %v after %v, want an error after 10 s", err, took)
		}
	})
}
