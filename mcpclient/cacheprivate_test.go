package mcpclient

import (
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// What is private belongs to the principal that has asked for it: after another login it is asked for anew, what is
// public is not. (specification 2026-07-28, server/utilities/caching, "Cache Scope")
func TestNewAuthorizationDropsPrivateResults(t *testing.T) {
	for _, test := range []struct {
		scope string
		stays bool
	}{
		{`"cacheScope":"public"`, true},
		{`"cacheScope":"private"`, false},
		{`"cacheScope":"shared"`, false}, // unknown
		{`"x":1`, false},
	} {
		var authorized func()
		bubbleWith(t, nil, func(s *script) transport.Transport {
			return configured{s, func(cfg transport.Config) { authorized = cfg.Authorized }}
		}, func(t *testing.T, s *script, c *Client) {
			v := s.next(t).modern()
			await(t, c)
			list := strings.Replace(freshList(60_000, plainTool), `"cacheScope":"private"`, test.scope, 1)
			v.asked(c, list)
			kept(t, c)
			if !c.tools.stranger("other") {
				t.Error("the list is not taken for complete, want it so")
			}
			authorized()
			if c.tools.stranger("other") {
				t.Error("what the tools were is remembered, want it forgotten: the principal may be another one")
			}
			if test.stays {
				kept(t, c)
			} else {
				v.asked(c, list)
				kept(t, c)
			}
		})
	}
}

func TestAnAnswerForTheAuthorizationBeforeIsNotKept(t *testing.T) {
	var authorized func()
	bubbleWith(t, nil, func(s *script) transport.Transport {
		return configured{s, func(cfg transport.Config) { authorized = cfg.Authorized }}
	}, func(t *testing.T, s *script, c *Client) {
		v := s.next(t).modern()
		await(t, c)
		got := listing(t, c)
		f := v.Expect(mcp.MethodListTools)
		authorized()
		v.Answer(f, freshList(60_000, plainTool))
		<-got
		v.asked(c, freshList(60_000, plainTool))
	})
}
