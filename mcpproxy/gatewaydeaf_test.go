package mcpproxy_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

const (
	announcesTools = `{"resultType":"complete","supportedVersions":["2026-07-28"],` +
		`"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"}`
	oneTool = `{"resultType":"complete","tools":[{"name":"own","inputSchema":{"type":"object"}}],"ttlMs":0,` +
		`"cacheScope":"private"}`
)

// besideAScript runs f in a synctest bubble with a host and a gateway. The members of the gateway are a script and a
// server with two tools.
func besideAScript(t *testing.T, o *mcpclient.Options,
	f func(t *testing.T, c *mcpclient.Client, h *heard, v *mcptest.Conversation)) {
	synctest.Test(t, func(t *testing.T) {
		o.Telemetry, o.RequestTimeout = telemetry.Off(), -1
		s := mcptest.NewScript(t)
		s.Patience = time.Hour
		good := mcptest.NewServer(t, &mcpserver.Options{Telemetry: telemetry.Off()})
		addEcho("good", good)
		g, err := mcpproxy.NewGateway([]mcpclient.Member{{Name: "deaf", Transport: s, Options: o}, {Name: "good",
			Transport: good}}, &mcpproxy.GatewayOptions{Telemetry: telemetry.Off()})
		if err != nil {
			t.Fatal(err)
		}
		a := &around{t: t, gateway: g}
		defer a.end()
		h := new(heard)
		c := a.host(mcp.Version20250618, h.features()...)
		defer leave(t, c)
		v := s.Accept()
		v.Answer(v.Expect(mcp.MethodDiscover), announcesTools)
		f(t, c, h, v)
	})
}

// A server built on mcp-go 1.0.0 stops answering after subscriptions/listen.
func TestUnresponsiveMemberDoesNotAffectOthers(t *testing.T) {
	besideAScript(t, &mcpclient.Options{}, func(t *testing.T, c *mcpclient.Client, h *heard, v *mcptest.Conversation) {
		v.Expect(mcp.MethodSubscriptionsListen)
		for i, most := range []time.Duration{10 * time.Second, 0} {
			begun := time.Now()
			if got := toolNames(t, c); len(got) != 2 || time.Since(begun) > most {
				t.Errorf("list %d: the host gets %q after %v, want the tools of the other after %v at most", i, got,
					time.Since(begun), most)
			}
		}
		if _, err := c.CallTool(t.Context(), "good_echo", nil); err != nil {
			t.Errorf("a call of the other member: %v", err)
		}
		h.taken()
		answer := func(method, result string) {
			for m := v.Receive(); ; m = v.Receive() {
				if m.Method == method {
					v.Answer(m, result)
					return
				}
			}
		}
		answer(mcp.MethodDiscover, announcesTools) // ping of a modern client
		told := slices.Contains(h.taken(), "tools")
		listed := make(chan []string)
		go func() { listed <- toolNames(t, c) }()
		answer(mcp.MethodListTools, oneTool)
		if got := <-listed; !told || len(got) != 3 {
			t.Errorf("after the member answers again, the host was notified: %v, and gets %q", told, got)
		}
	})
}

func TestNoListeningKeepsMemberResponsive(t *testing.T) {
	o := &mcpclient.Options{NoListening: true}
	besideAScript(t, o, func(t *testing.T, c *mcpclient.Client, _ *heard, v *mcptest.Conversation) {
		listed := make(chan []string)
		go func() { listed <- toolNames(t, c) }()
		v.Answer(v.Expect(mcp.MethodListTools), oneTool)
		if got := <-listed; !slices.Contains(got, "deaf_own") {
			t.Errorf("the host gets %q, want the tool of the member in it", got)
		}
	})
}
