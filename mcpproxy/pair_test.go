package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/health"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// fakeServer is a connection to a server that records messages.
type fakeServer struct {
	client *relay.Client

	mu      sync.Mutex
	ready   bool
	changed chan struct{} // closed when ready or stopped changes
	stopped bool
	sent    []string
}

func (f *fakeServer) Ready() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ready
}

// set sets whether there is a session, and whether the server has stopped.
func (f *fakeServer) set(ready, stopped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready, f.stopped = ready, f.stopped || stopped
	close(f.changed)
	f.changed = make(chan struct{})
}

// wait waits for a session.
func (f *fakeServer) wait(ctx context.Context) error {
	for {
		f.mu.Lock()
		ready, stopped, changed := f.ready, f.stopped, f.changed
		f.mu.Unlock()
		switch {
		case stopped:
			return errors.New("stopped")
		case ready:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (f *fakeServer) Request(ctx context.Context, m relay.Message, answer relay.Answer) {
	if err := f.wait(ctx); err != nil {
		answer(nil, err)
		return
	}
	f.note(m)
	answer(json.RawMessage(fmt.Sprintf(`{"to":%q}`, m.Method)), nil)
}

func (f *fakeServer) Notify(ctx context.Context, m relay.Message) error {
	if err := f.wait(ctx); err != nil {
		return err
	}
	f.note(m)
	return nil
}

func (f *fakeServer) note(m relay.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, strings.TrimSpace(m.Method+" "+string(m.Params)+" "+string(m.ID)))
}

func (f *fakeServer) Health() health.Connection { return health.Connection{} }

func (f *fakeServer) Stop(context.Context) error {
	f.set(false, true)
	return nil
}

// fakeHost is a host with a pair and fake servers.
type fakeHost struct {
	*pair
	t       *testing.T
	servers []*fakeServer
	ended   error
	shared  bool

	mu      sync.Mutex
	answers []string
}

func newHost(t *testing.T) *fakeHost {
	h := &fakeHost{t: t}
	h.pair = &pair{host: h, connect: func(c *relay.Client) (relay.Server, error) {
		f := &fakeServer{client: c, changed: make(chan struct{})}
		h.servers = append(h.servers, f)
		return f, nil
	}}
	t.Cleanup(func() { h.gone(context.Background()) })
	return h
}

func (h *fakeHost) Request(context.Context, relay.Message, relay.Answer) {}
func (h *fakeHost) Notify(context.Context, relay.Message) error          { return nil }
func (h *fakeHost) Shared() bool                                         { return h.shared }
func (h *fakeHost) End(reason error)                                     { h.ended = reason }

// sends makes the host send a request without waiting for the answer, and waits until all goroutines are idle.
func (h *fakeHost) sends(method, params string) {
	h.asks(method, params)
	synctest.Wait()
}

// asks makes the host send a request, and records its answer.
func (h *fakeHost) asks(method, params string) {
	id := ""
	if method == "subscriptions/listen" {
		id = "7"
	}
	buffer := []byte(params + id)
	m := relay.Message{Method: method, Params: buffer[:len(params)], ID: buffer[len(params):]}
	h.request(h.t.Context(), m, func(result json.RawMessage, err error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if err != nil {
			result = json.RawMessage(err.Error())
		}
		h.answers = append(h.answers, method+": "+string(result))
	})
	copy(buffer, strings.Repeat("x", len(buffer))) // overwrites the memory, as the caller may reuse it
}

func (h *fakeHost) notifies(method string) {
	h.notify(h.t.Context(), relay.Message{Method: method})
	synctest.Wait()
}

// heard compares the answers since the last call with want.
func (h *fakeHost) heard(want ...string) {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.answers, want) {
		h.t.Errorf("the host got %q, want %q", h.answers, want)
	}
	h.answers = nil
}

// got compares all messages to a server with want.
func (h *fakeHost) got(server int, want ...string) {
	h.t.Helper()
	f := h.servers[server]
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Equal(f.sent, want) {
		h.t.Errorf("server %d got %q, want %q", server, f.sent, want)
	}
}

// introduced makes a server answer its introduction.
func (f *fakeServer) introduced(result string, err error) error {
	if err == nil {
		f.set(true, false)
	}
	err = f.client.Introduced(json.RawMessage(result), err)
	if err != nil {
		f.set(false, true)
		f.client.Receiver.Gone(f)
	}
	synctest.Wait()
	return err
}

const (
	initialize = `{"protocolVersion":"2025-11-25"}`
	accepted   = `{"protocolVersion":"2025-11-25","odd":1}`
	meta       = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","x":1}}`
)

var errMethod = &relay.Error{
	Object: json.RawMessage(`{"code":-32601}`), Server: &mcp.Error{Code: -32601, Message: "no"},
}

func inPair(t *testing.T, f func(h *fakeHost)) {
	synctest.Test(t, func(t *testing.T) { f(newHost(t)) })
}

func TestInitializeIsForwarded(t *testing.T) {
	inPair(t, func(h *fakeHost) {
		h.sends("initialize", initialize)
		h.heard()
		i := h.servers[0].client.Introduce()
		if i.Method != "initialize" || string(i.Params) != initialize || i.Confirmed {
			t.Errorf("got %+v", i)
		}
		h.servers[0].introduced(accepted, nil)
		h.heard("initialize: " + accepted)
		h.sends("tools/list", `{"a":1}`)
		h.heard(`tools/list: {"to":"tools/list"}`)
		h.got(0, `tools/list {"a":1}`)
	})
}

func TestEarlyMessagesWaitInOrder(t *testing.T) {
	inPair(t, func(h *fakeHost) {
		h.sends("initialize", initialize)
		h.notifies("notifications/initialized")
		h.sends("ping", "")
		h.heard("ping: {}") // answered by the proxy
		h.sends("subscriptions/listen", `{}`)
		for i := range 5 {
			h.sends("tools/call", fmt.Sprintf(`{"n":%d}`, i))
			h.notifies(fmt.Sprint("n/", i))
		}
		h.heard()
		h.servers[0].introduced(accepted, nil)
		h.got(0, "notifications/initialized", "subscriptions/listen {} 7", `tools/call {"n":0}`, "n/0",
			`tools/call {"n":1}`, "n/1", `tools/call {"n":2}`, "n/2", `tools/call {"n":3}`, "n/3", `tools/call {"n":4}`, "n/4")
		h.sends("ping", "")
		h.got(0, append(h.servers[0].sent[:12:12], "ping")...)
	})
}

func TestRefusedIntroductionIsReportedAndRetried(t *testing.T) {
	inPair(t, func(h *fakeHost) {
		h.sends("server/discover", meta)
		h.sends("tools/list", meta)
		if h.servers[0].introduced("", errMethod) == nil {
			t.Error("want the client to end")
		}
		h.heard("server/discover: no (-32601)", "tools/list: no (-32601)")
		h.sends("initialize", initialize)
		if len(h.servers) != 2 {
			t.Fatalf("got %d servers", len(h.servers))
		}
		h.servers[1].introduced(accepted, nil)
		h.heard("initialize: " + accepted)
	})
}

func TestSecondIntroductionStartsAnotherServer(t *testing.T) {
	inPair(t, func(h *fakeHost) {
		h.sends("server/discover", meta)
		h.sends("initialize", initialize)
		h.heard("server/discover: " + errOtherIntroduction.Error())
		if !h.servers[0].stopped {
			t.Error("the first one still runs")
		}
		h.servers[1].introduced(accepted, nil)
		h.heard("initialize: " + accepted)
		h.sends("initialize", initialize)
		h.got(1, "initialize "+initialize) // the server judges a second introduction
	})
}

func TestModernRequestIntroducesHost(t *testing.T) {
	inPair(t, func(h *fakeHost) {
		h.sends("tools/list", meta)
		i := h.servers[0].client.Introduce()
		if i.Method != "server/discover" || string(i.Params) != meta {
			t.Errorf("got %s %s", i.Method, i.Params)
		}
		h.servers[0].introduced(`{}`, nil)
		h.heard(`tools/list: {"to":"tools/list"}`)
		h.got(0, "tools/list "+meta)
	})
	inPair(t, func(h *fakeHost) {
		h.sends("tools/list", `{}`)
		h.heard("tools/list: " + errNotIntroduced.Error())
		if len(h.servers) != 0 {
			t.Error("a server was started")
		}
		h.notifies("notifications/odd")
	})
}

func TestInitializeAfterDiscoveryStartsAnotherServer(t *testing.T) {
	inPair(t, func(h *fakeHost) {
		h.sends("server/discover", meta)
		h.servers[0].introduced(`{"supportedVersions":["2025-11-25"]}`, nil)
		h.sends("server/discover", meta)
		h.got(0, "server/discover "+meta)
		h.sends("initialize", initialize)
		h.servers[1].introduced(accepted, nil)
		h.heard(`server/discover: {"supportedVersions":["2025-11-25"]}`, `server/discover: {"to":"server/discover"}`,
			"initialize: "+accepted)
		h.sends("initialize", initialize)
		h.got(1, "initialize "+initialize)
		if !h.servers[0].stopped || h.servers[1].stopped || len(h.servers) != 2 {
			t.Errorf("got %d servers, want the second in place of the first", len(h.servers))
		}
	})
}

func TestHostsThatShareAPairStartOneConnection(t *testing.T) {
	inPair(t, func(h *fakeHost) {
		h.shared = true
		var asked sync.WaitGroup
		for range 8 {
			asked.Go(func() { h.asks("server/discover", meta) })
			asked.Go(func() { h.asks("tools/list", meta) })
		}
		synctest.Wait()
		if len(h.servers) != 1 {
			t.Fatalf("got %d servers, want one for all hosts", len(h.servers))
		}
		h.servers[0].introduced(`{}`, nil)
		asked.Wait()
		if len(h.answers) != 16 {
			t.Errorf("got %d answers, want one for each request: %q", len(h.answers), h.answers)
		}
		h.sends("initialize", meta) // the server rejects it
		if len(h.servers) != 1 {
			t.Error("one host has ended the connection of the others")
		}
	})
}

func TestRestartedServerGetsSameIntroduction(t *testing.T) {
	inPair(t, func(h *fakeHost) {
		h.sends("initialize", initialize)
		f := h.servers[0]
		f.introduced(accepted, nil)
		h.notifies("notifications/initialized")
		f.set(false, false)
		h.sends("tools/list", "")
		if i := f.client.Introduce(); string(i.Params) != initialize || !i.Confirmed {
			t.Errorf("got %+v", i)
		}
		if err := f.client.Introduced(nil, errMethod); err != nil {
			t.Errorf("a server that refuses once: got %v", err)
		}
		f.introduced(accepted, nil)
		h.heard("initialize: "+accepted, `tools/list: {"to":"tools/list"}`)
		if f.introduced(`{"protocolVersion":"2025-03-26"}`, nil) == nil || h.ended == nil ||
			!strings.Contains(h.ended.Error(), `"2025-03-26"`) {
			t.Errorf("another revision: got %v, want the session to end", h.ended)
		}
	})
}

func TestWaitingMessagesAreBounded(t *testing.T) {
	inPair(t, func(h *fakeHost) {
		h.sends("initialize", initialize)
		for range maxWaiting {
			h.notify(t.Context(), relay.Message{Method: "n"})
		}
		h.sends("tools/list", "")
		h.heard("tools/list: " + errTooManyWait.Error())
	})
	inPair(t, func(h *fakeHost) {
		h.sends("initialize", initialize)
		large := `"` + strings.Repeat("x", maxWaitingBytes-2) + `"`
		h.sends("tools/call", large)
		h.heard()
		h.sends("tools/list", "")
		h.sends("tools/call", large)
		h.heard("tools/call: " + errTooManyWait.Error())
	})
	inPair(t, func(h *fakeHost) {
		h.sends("initialize", initialize)
		h.sends("tools/list", "")
		h.request(t.Context(), relay.Message{Method: "tools/call", Header: map[string]string{
			"Mcp-Param-A": strings.Repeat("x", maxWaitingBytes)}}, func(_ json.RawMessage, err error) {
			if err != errTooManyWait {
				t.Errorf("large headers: got %v", err)
			}
		})
	})
}

func TestServerEndsWithItsHost(t *testing.T) {
	inPair(t, func(h *fakeHost) {
		h.sends("initialize", initialize)
		h.sends("tools/list", "")
		h.gone(t.Context())
		h.heard("initialize: "+errHostGone.Error(), "tools/list: "+errHostGone.Error())
		if !h.servers[0].stopped {
			t.Error("the server still runs")
		}
	})
}

func TestUnreachableServerIsReportedAtOnce(t *testing.T) {
	inPair(t, func(h *fakeHost) {
		h.connect = func(*relay.Client) (relay.Server, error) { return nil, errors.New("no such program") }
		h.sends("initialize", initialize)
		h.sends("tools/list", meta)
		h.heard("initialize: no such program", "tools/list: "+errNoServer.Error())
	})
}

func TestNoListeningOptionRejectsSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.noListening = true
		h.sends("initialize", initialize)
		h.servers[0].introduced(accepted, nil)
		h.heard("initialize: " + accepted)
		h.sends("subscriptions/listen", "{}")
		h.heard("subscriptions/listen: " + errNotListening.Error())
		h.sends("tools/list", "{}")
		h.heard(`tools/list: {"to":"tools/list"}`)
		h.got(0, "tools/list {}")
	})
}
