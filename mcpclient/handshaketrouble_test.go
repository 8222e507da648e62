package mcpclient_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

func TestHandshakeErrorContainsItsFirstFailure(t *testing.T) {
	badVersions := `{"resultType":"complete","supportedVersions":"2026-07-28","capabilities":{}}`
	refuse := func(v *conversation) {
		v.Refuse(v.Expect(mcp.MethodInitialize), mcp.CodeMethodNotFound, "Method not found")
	}
	for name, test := range map[string]struct {
		talk func(v *conversation)
		want []string
	}{
		"an unusable answer to the probe": {
			func(v *conversation) {
				v.Answer(v.Expect(mcp.MethodDiscover), badVersions)
				refuse(v)
			},
			[]string{"rejected initialize: Method not found", "the answer to server/discover is invalid",
				"supportedVersions"},
		},
		"an answer to the probe without versions": {
			func(v *conversation) {
				v.Answer(v.Expect(mcp.MethodDiscover), `{"resultType":"complete","supportedVersions":[],"capabilities":{}}`)
				refuse(v)
			},
			[]string{"rejected initialize", "the server's answer to server/discover lists no supported version"},
		},
		"a refusal of the probe with a reason": {
			func(v *conversation) {
				v.Refuse(v.Expect(mcp.MethodDiscover), mcp.CodeInternalError, "the database is down")
				refuse(v)
			},
			[]string{"rejected initialize", "the server rejected server/discover: the database is down"},
		},
		"answers with string IDs": {
			func(v *conversation) {
				v.Expect(mcp.MethodDiscover)
				v.Send(`{"jsonrpc":"2.0","id":"1","result":` + discovered + `}`)
				v.Expect(mcp.MethodInitialize)
			},
			[]string{"not ready within", `the server sent an answer with the ID "1", which matches no request`},
		},
		"an invalid message": {
			func(v *conversation) {
				v.Expect(mcp.MethodDiscover)
				v.Send(`{"jsonrpc":"2.0","id":null,"result":{}}`)
				v.Expect(mcp.MethodInitialize)
			},
			[]string{"not ready within", "the server sent an invalid message"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, &mcpclient.Options{Backoff: mcpclient.Backoff{Attempts: 1}},
				func(t *testing.T, s *script, c *mcpclient.Client) {
					done := background(func() error { return c.WaitForReady(t.Context()) })
					test.talk(s.next(t))
					err := <-done
					for _, want := range test.want {
						if err == nil || !strings.Contains(err.Error(), want) {
							t.Errorf("got %v, want an error with %q", err, want)
						}
					}
				})
		})
	}
}

func TestRefusedVersionIsNotRequestedAgainIfAnotherExists(t *testing.T) {
	refusal := `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no",` +
		`"data":{"supported":["2026-07-28","2025-11-25"]}}}`
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Send(fmt.Sprintf(refusal, v.Expect(mcp.MethodDiscover).ID))
		v.initialize(mcp.Version20251125)
		await(t, c)
		if got := c.ProtocolVersion(); got != mcp.Version20251125 {
			t.Errorf("got version %s, want the other version of the list", got)
		}
	})
}
