package mcpproxy

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcptest"
)

// heldContext blocks calls of Deadline until the test releases them.
type heldContext struct {
	context.Context
	held chan struct{}
}

func (c heldContext) Deadline() (time.Time, bool) {
	<-c.held
	return c.Context.Deadline()
}

// One host stops watching a resource while another host starts to watch it.
func TestHostsThatShareAMemberWatchInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mcptest.NewScript(t)
		clients, err := mcpclient.NewGroup([]mcpclient.Member{{Name: "s", Transport: s,
			Options: &mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = clients.Close() }()
		c, err := clients.Client("s")
		if err != nil {
			t.Fatal(err)
		}
		v := s.Accept()
		v.Answer(v.Expect(mcp.MethodInitialize), `{"protocolVersion":"2025-11-25","capabilities":{"resources":`+
			`{"subscribe":true}},"serverInfo":{"name":"s","version":"1"}}`)
		v.Expect(mcp.NotificationInitialized)
		synctest.Wait() // until the client is ready
		h := &hostGroup{watched: map[string]*watched{}, clients: clients}
		h.members = []*member{{h: h, name: "s"}}
		done := make(chan error, 3)
		change := func(f func() error) {
			go func() { done <- f() }()
			synctest.Wait()
		}
		held := make(chan struct{})
		change(func() error { return h.watch(t.Context(), "file:///a", true) })
		v.Answer(v.Expect(mcp.MethodSubscribe), `{}`)
		synctest.Wait()
		change(func() error { return h.unwatch(heldContext{t.Context(), held}, "file:///a") })
		change(func() error { return h.watch(t.Context(), "file:///a", true) })
		close(held)
		change(func() error { return c.Call(t.Context(), "x/last", nil, nil) })
		last := ""
		for {
			m := v.Receive()
			v.Answer(m, `{}`)
			if m.Method == "x/last" {
				break
			}
			last = m.Method
		}
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if last == mcp.MethodUnsubscribe || len(h.watched) != 1 {
			t.Errorf("the last message is %s, and the gateway has %d watched resources, want the second host to watch one",
				last, len(h.watched))
		}
	})
}
