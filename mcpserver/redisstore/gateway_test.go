package redisstore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// gateways are two gateways to one server, under one address, with the same store and the same key.
type gateways struct {
	url         string
	server      *mcptest.Server
	stop        [2]func()
	to          atomic.Int32 // gateway of the next request
	introduced  atomic.Int32 // number of requests that have opened a session
	got         [2]atomic.Int32
	afterAnswer atomic.Bool // the other gateway gets the requests that follow the answer to a call
}

func twoGateways(t *testing.T, member mcp.Version) *gateways {
	t.Helper()
	f := &gateways{server: mcptest.NewServer(t, &mcpserver.Options{
		Versions: []mcp.Version{member}, Logging: true, LogLevel: mcp.LevelDebug, Telemetry: telemetry.Off(),
	})}
	addGatewayTools(f.server)
	s, _ := open(t, nil)
	var handlers [2]http.Handler
	for i := range handlers {
		g, err := mcpproxy.NewGateway([]mcpclient.Member{{Name: "one", Transport: f.server}}, &mcpproxy.GatewayOptions{
			Telemetry: telemetry.Off(), Server: mcpserver.Options{StateKeys: [][]byte{bytes.Repeat([]byte{7}, 32)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		h := g.HTTPHandler(&mcpserver.HTTPOptions{
			Sessions: s.Sessions(), Events: s.Events(), Lease: lease, Retry: 10 * time.Millisecond,
		})
		stopped := false
		f.stop[i] = func() {
			if stopped {
				return
			}
			stopped = true
			if err := errors.Join(h.Shutdown(context.Background()), g.Close()); err != nil {
				t.Errorf("gateway %d ended with %v", i, err)
			}
		}
		t.Cleanup(f.stop[i])
		handlers[i] = h
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"initialize"`)) {
			f.introduced.Add(1)
		}
		to := f.to.Load()
		f.got[to].Add(1)
		handlers[to].ServeHTTP(w, r)
		if f.afterAnswer.Load() && bytes.Contains(body, []byte(`"tools/call"`)) {
			f.to.Store(1 - to)
		}
	}))
	t.Cleanup(web.Close)
	f.url = web.URL
	return f
}

// addGatewayTools adds a tool that logs, a tool that asks the client, and a resource.
func addGatewayTools(s *mcptest.Server) {
	for _, err := range []error{
		mcpserver.AddTool(s.Server, &mcp.Tool{Name: "log"}, func(ctx context.Context, _ empty) (string, error) {
			r := mcpserver.RequestFrom(ctx)
			return "logged", errors.Join(r.Log(ctx, mcp.LevelInfo, "", "less"), r.Log(ctx, mcp.LevelError, "", "more"))
		}),
		mcpserver.AddTool(s.Server, &mcp.Tool{Name: "ask"}, func(ctx context.Context, _ empty) (string, error) {
			r, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
				&mcp.ElicitParams{Message: "well?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
			if err != nil {
				return "", err
			}
			return string(r.Action), nil
		}),
		s.AddResource(&mcp.Resource{URI: "one://thing", Name: "thing"},
			func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{}, nil
			}),
	} {
		if err != nil {
			panic(err)
		}
	}
}

// host connects to the address.
func (f *gateways) host(t *testing.T, v mcp.Version, features ...mcpclient.Feature) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: f.url}, &mcpclient.Options{
		Versions: []mcp.Version{v}, Features: features, Telemetry: telemetry.Off(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// hears waits for the next notification of a host.
func hears(t *testing.T, all <-chan string, want string) {
	t.Helper()
	select {
	case got := <-all:
		if got != want {
			t.Fatalf("the host received %q, want %q", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("the host did not receive %q", want)
	}
}

func TestSessionContinuesAtAnotherGateway(t *testing.T) {
	f := twoGateways(t, mcp.Version20250618)
	all := make(chan string, 100)
	c := f.host(t, mcp.Version20250618,
		mcpclient.HandleLogMessage(func(_ context.Context, m *mcp.LoggingMessageParams) {
			all <- fmt.Sprint(m.Logger, " ", string(m.Data))
		}),
		mcpclient.HandleResourceUpdated(func(_ context.Context, uri string) { all <- uri }),
		mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		}))
	if err := errors.Join(c.SetLogLevel(t.Context(), mcp.LevelError),
		c.SubscribeResource(t.Context(), "one://thing")); err != nil {
		t.Fatal(err)
	}
	use := func() {
		t.Helper()
		for tool, want := range map[string]string{"one_log": "logged", "one_ask": "decline"} {
			if r, err := c.CallTool(t.Context(), tool, nil); err != nil || r.Text() != want {
				t.Fatalf("%s answers %+v, %v, want %s", tool, r, err, want)
			}
		}
		hears(t, all, `one "more"`)
	}
	use()
	f.server.ResourceUpdated("one://thing")
	hears(t, all, "one://thing")

	f.to.Store(1)
	use()
	f.stop[0]() // the stream of the session continues at the other gateway
	use()
	f.server.ResourceUpdated("one://thing")
	hears(t, all, "one://thing")
	if f.introduced.Load() != 1 || f.got[0].Load() == 0 || f.got[1].Load() == 0 {
		t.Errorf("%d sessions were opened, want one; the gateways got %d and %d requests", f.introduced.Load(),
			f.got[0].Load(), f.got[1].Load())
	}
}

// The first gateway's answer to the call contains the question. The call with the response goes to the other gateway.
func TestInputRequestIsAnsweredAtAnotherGateway(t *testing.T) {
	f := twoGateways(t, mcp.Version20260728)
	c := f.host(t, mcp.Version20260728,
		mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		}))
	f.afterAnswer.Store(true)
	if r, err := c.CallTool(t.Context(), "one_ask", nil); err != nil || r.Text() != "decline" {
		t.Errorf("the call returned %+v, %v, want the answer of the host", r, err)
	}
	if f.got[1].Load() != 1 {
		t.Errorf("the other gateway got %d requests, want the call with the answer", f.got[1].Load())
	}
}
