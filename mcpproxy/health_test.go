package mcpproxy_test

import (
	"context"
	"errors"
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

// The health of a proxy covers the server of each host, but no server that has not accepted its host.
func TestHealthCoversServersOfHosts(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20250618, mcp.Version20260728} {
		synctest.Test(t, func(t *testing.T) {
			s := mcptest.NewServer(t, &mcpserver.Options{Telemetry: telemetry.Off()})
			p, err := mcpproxy.New(s, &mcpproxy.Options{Name: "files", Telemetry: telemetry.Off()})
			must(err)
			wants := func(when, want string) {
				t.Helper()
				synctest.Wait()
				if got := get(p.HealthHandler()); !strings.HasPrefix(got, want) {
					t.Errorf("%s, %s: got %s, want %s", v, when, got, want)
				}
			}
			host := func() (*mcpclient.Client, error) {
				return mcpclient.Connect(t.Context(), transport.InMemory(
					func(ctx context.Context, peer *transport.Peer) { _ = p.Serve(ctx, peer) }),
					&mcpclient.Options{Telemetry: telemetry.Off(), Versions: []mcp.Version{v},
						Backoff: mcpclient.Backoff{Attempts: 1}})
			}
			const none, ready = `200 {"ready":true,"clients":[]}`, `200 {"ready":true,"clients":[{"name":"files","state":"ready"`
			wants("without a host", none)
			s.Refuse(errors.New("down"))
			if _, err := host(); err == nil {
				t.Errorf("%s: the host has connected to a server that is down", v)
			}
			wants("after a server that is down from the start", none)
			s.Refuse(nil)
			s.Delay(time.Second, mcp.MethodInitialize, mcp.MethodDiscover)
			var c *mcpclient.Client
			connected := make(chan struct{})
			go func() {
				defer close(connected)
				c, err = host()
			}()
			wants("before the server's first answer", none)
			<-connected
			must(err)
			wants("with a host", ready)
			s.Delay(0, mcp.MethodInitialize, mcp.MethodDiscover)
			s.Refuse(errors.New("down"))
			s.Kill()
			wants("while the server is down",
				`503 {"ready":false,"clients":[{"name":"files","state":"backoff","reason":`)
			s.Refuse(nil)
			time.Sleep(time.Minute) // virtual time
			wants("after the server's restart", ready)
			must(c.Close())
			wants("after the host has left", none)
		})
	}
}
