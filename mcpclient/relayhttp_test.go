package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// silent receives nothing.
type silent struct{}

func (silent) ReceiveRequest(_ context.Context, _ relay.Message, _ relay.Peer, answer relay.Answer) {
	answer(json.RawMessage(`{}`), nil)
}
func (silent) ReceiveNotification(context.Context, relay.Message, relay.Peer) {}
func (silent) Gone(relay.Peer)                                                {}

// The server holds the headers against what the message says.
func TestMessagesArePassedOnOverHTTPInEveryRevision(t *testing.T) {
	s := newSite(t, nil)
	for _, way := range ways {
		t.Run(string(way.version), func(t *testing.T) {
			meta := ""
			intro := relay.Introduction{Message: relay.Message{Method: mcp.MethodInitialize, Params: json.RawMessage(
				fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"front","version":"1"}}`, way.version))}}
			if way.version.Era() == mcp.Modern {
				meta = fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
					`"io.modelcontextprotocol/clientInfo":{"name":"front","version":"1"},`+
					`"io.modelcontextprotocol/clientCapabilities":{}}`, way.version)
				intro = relay.Introduction{Message: relay.Message{Method: mcp.MethodDiscover,
					Params: json.RawMessage("{" + meta + "}")}}
				meta = "," + meta
			}
			introduced := make(chan error, 1)
			r, err := mcpclient.NewRelay(&transport.HTTP{URL: s.URL, Mode: way.mode}, mcpclient.Checked(t, nil), &relay.Client{
				Receiver: silent{}, Introduce: func() relay.Introduction { return intro },
				Introduced: func(_ json.RawMessage, err error) error { introduced <- err; return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Stop(context.Background())
			if err := <-introduced; err != nil {
				t.Fatal(err)
			}
			if way.version.Era() == mcp.Legacy {
				if err := r.Notify(t.Context(), relay.Message{Method: mcp.NotificationInitialized}); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				answered := make(chan string, 1)
				params := json.RawMessage(`{"name":"greet","arguments":{"name":"Ada"}` + meta + `}`)
				r.Request(t.Context(), relay.Message{Method: mcp.MethodCallTool, Params: params},
					func(result json.RawMessage, err error) { answered <- fmt.Sprint(string(result), err) })
				if got := <-answered; !strings.Contains(got, "hello Ada") || strings.Contains(got, "\n") {
					t.Errorf("got %s", got)
				}
			}
		})
	}
}
