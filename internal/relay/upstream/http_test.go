package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/relay/upstream"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// site is a server on the network with a tool that greets. After a restart it knows no sessions.
type site struct {
	*httptest.Server
	handler atomic.Pointer[mcpserver.HTTPHandler]
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	s.restart(t)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handler.Load().ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.shutDown(t, s.handler.Load())
		s.Close()
	})
	return s
}

func (s *site) restart(t *testing.T) *mcpserver.HTTPHandler {
	type who struct {
		Name string `json:"name"`
	}
	greeter := mcpserver.New(mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	if err := mcpserver.AddTool(greeter, &mcp.Tool{Name: "greet"}, func(_ context.Context, in who) (who, error) {
		return who{"hello " + in.Name}, nil
	}); err != nil {
		t.Fatal(err)
	}
	return s.handler.Swap(greeter.HTTPHandler(nil))
}

func (s *site) shutDown(t *testing.T, h *mcpserver.HTTPHandler) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		t.Errorf("shut the server down: %v", err)
	}
}

// ways lists the revisions over HTTP.
var ways = []struct {
	version mcp.Version
	mode    transport.HTTPMode
}{
	{mcp.Version20260728, transport.ModeAuto},
	{mcp.Version20251125, transport.ModeAuto},
	{mcp.Version20250618, transport.ModeAuto},
	{mcp.Version20250326, transport.ModeAuto},
	{mcp.Version20241105, transport.ModeSSE},
}

// silent ignores all messages of the server.
type silent struct{}

func (silent) ReceiveRequest(_ context.Context, _ relay.Message, _ relay.Peer, answer relay.Answer) {
	answer(json.RawMessage(`{}`), nil)
}
func (silent) ReceiveNotification(context.Context, relay.Message, relay.Peer) {}
func (silent) Gone(relay.Peer)                                                {}

// introducing returns the introduction of a peer in a revision, and the members of its params.
func introducing(v mcp.Version) (intro relay.Introduction, meta string) {
	if v.Era() == mcp.Legacy {
		return relay.Introduction{Message: relay.Message{Method: mcp.MethodInitialize, Params: json.RawMessage(
			fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"front","version":"1"}}`, v))}}, ""
	}
	meta = fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
		`"io.modelcontextprotocol/clientInfo":{"name":"front","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{}}`, v)
	return relay.Introduction{Message: relay.Message{Method: mcp.MethodDiscover,
		Params: json.RawMessage("{" + meta + "}")}}, "," + meta
}

// The server compares the headers with the message. A restarted server does not know its old sessions.
func TestMessagesAreRelayedOverHTTPInEveryRevision(t *testing.T) {
	for _, way := range ways {
		t.Run(string(way.version), func(t *testing.T) {
			s := newSite(t)
			intro, meta := introducing(way.version)
			introduced := make(chan error, 8)
			var confirmed atomic.Bool
			r, err := upstream.New(&transport.HTTP{URL: s.URL, Mode: way.mode}, upstream.Checked(t, nil), &relay.Client{
				Receiver: silent{}, Introduce: func() relay.Introduction {
					return relay.Introduction{Message: intro.Message, Confirmed: confirmed.Load()}
				},
				Introduced: func(_ json.RawMessage, err error) error { introduced <- err; return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Stop(context.Background())
			if err := <-introduced; err != nil {
				t.Fatal(err)
			}
			if confirmed.Store(true); way.version.Era() == mcp.Legacy {
				if err := r.Notify(t.Context(), relay.Message{Method: mcp.NotificationInitialized}); err != nil {
					t.Fatal(err)
				}
			}
			greet := func() string {
				answered := make(chan string, 1)
				params := json.RawMessage(`{"name":"greet","arguments":{"name":"Ada"}` + meta + `}`)
				r.Request(t.Context(), relay.Message{Method: mcp.MethodCallTool, Params: params},
					func(result json.RawMessage, err error) { answered <- fmt.Sprint(string(result), err) })
				return <-answered
			}
			for range 3 {
				if got := greet(); !strings.Contains(got, "hello Ada") || strings.Contains(got, "\n") {
					t.Errorf("got %s", got)
				}
			}
			s.shutDown(t, s.restart(t))
			if got := greet(); !strings.Contains(got, "hello Ada") && !strings.Contains(got, "connection lost") {
				t.Errorf("after a restart: got %s", got)
			}
			if got := greet(); !strings.Contains(got, "hello Ada") {
				t.Errorf("after a restart: got %s", got)
			}
		})
	}
}

// heard is a receiver that records messages.
type heard struct {
	silent
	notifications chan string
}

func (h heard) ReceiveNotification(_ context.Context, m relay.Message, _ relay.Peer) {
	h.notifications <- m.Method + " " + string(m.Params)
}

func TestSubscriptionWithBrokenStreamIsReopened(t *testing.T) {
	s := newSite(t)
	intro, meta := introducing(mcp.Version20260728)
	receiver := heard{notifications: make(chan string, 8)}
	r, err := upstream.New(&transport.HTTP{URL: s.URL}, upstream.Checked(t, nil), &relay.Client{
		Receiver: receiver, Introduce: func() relay.Introduction { return intro },
		Introduced: func(json.RawMessage, error) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop(context.Background())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	r.Request(ctx, relay.Message{ID: json.RawMessage(`"h"`), Method: mcp.MethodSubscriptionsListen,
		Params: json.RawMessage(`{"notifications":{"toolsListChanged":true}` + meta + `}`)},
		func(_ json.RawMessage, err error) { ended <- err })
	const own = `"io.modelcontextprotocol/subscriptionId":"h"`
	if got := <-receiver.notifications; !strings.HasPrefix(got, "notifications/subscriptions/acknowledged ") ||
		!strings.Contains(got, own) {
		t.Errorf("got %s", got)
	}
	s.CloseClientConnections()
	if got, want := <-receiver.notifications, `notifications/tools/list_changed {"_meta":{`+own+`}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
