package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestInvalidOptionsPanic(t *testing.T) {
	tests := map[string]struct {
		info    mcp.Implementation
		options mcpserver.Options
	}{
		"the implementation has no name": {},
		`options: unknown protocol version "1"`: {mcp.Implementation{Name: "x"},
			mcpserver.Options{Versions: []mcp.Version{"1"}}},
		"options: Limits.Concurrent is negative": {mcp.Implementation{Name: "x"},
			mcpserver.Options{Limits: mcpserver.Limits{Concurrent: -1}}},
		"options: RequestTimeout is negative": {mcp.Implementation{Name: "x"},
			mcpserver.Options{RequestTimeout: -1}},
		"options: Limits.Frame is negative": {mcp.Implementation{Name: "x"},
			mcpserver.Options{Limits: mcpserver.Limits{Frame: -1}}},
		"options: PageSize is negative":  {mcp.Implementation{Name: "x"}, mcpserver.Options{PageSize: -1}},
		"options: Cache.TTL is negative": {mcp.Implementation{Name: "x"}, mcpserver.Options{Cache: mcpserver.Cache{TTL: -1}}},
		`options: Cache.Scope "secret" is neither "pub`: {mcp.Implementation{Name: "x"},
			mcpserver.Options{Cache: mcpserver.Cache{Scope: "secret"}}},
		"options: StateTTL is negative": {mcp.Implementation{Name: "x"}, mcpserver.Options{StateTTL: -1}},
		"options: StateKeys[0] has 3 bytes, want 32": {mcp.Implementation{Name: "x"},
			mcpserver.Options{StateKeys: [][]byte{[]byte("key")}}},
	}
	for want, tt := range tests {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got, "mcpserver: New: "+want) {
					t.Errorf("New panicked with %q, want %q", got, want)
				}
			}()
			mcpserver.New(tt.info, &tt.options)
		})
	}
}

func TestModernListsCarryTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, mcpserver.Options{Cache: mcpserver.Cache{TTL: 90 * time.Second, Scope: mcp.CachePrivate},
			Instructions: "use with care"})
		w := serve(t, t.Context(), s)
		meta := `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{}}}`
		for _, method := range []string{"tools/list", "server/discover"} {
			w.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + meta + `}`)
			if m := w.reply(t); !strings.Contains(string(m.Result), `"ttlMs":90000,"cacheScope":"private"`) {
				t.Errorf("%s got %s, want the hint of the options in it", method, m.Result)
			}
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

// (specification 2026-07-28, server/utilities/caching, "Security Considerations")
func TestCacheScopeIsPrivateForPrincipals(t *testing.T) {
	user := func(r *http.Request) string { return r.Header.Get("User") }
	for _, test := range []struct {
		option mcp.CacheScope
		user   string
		want   mcp.CacheScope
	}{
		{"", "", mcp.CachePublic},
		{"", "alice", mcp.CachePrivate},
		{mcp.CachePublic, "alice", mcp.CachePublic},
		{mcp.CachePrivate, "", mcp.CachePrivate},
	} {
		server := newServer(t, mcpserver.Options{Cache: mcpserver.Cache{TTL: time.Second, Scope: test.option}})
		must(t, server.Implement(promptList{}))
		w := serveWeb(t, server, &mcpserver.HTTPOptions{Principal: user})
		for _, method := range []string{mcp.MethodDiscover, mcp.MethodListTools, mcp.MethodListPrompts} {
			p := w.post(asked(1, method, bothMetas, ""), append(modernHeaders(method, ""), "User", test.user)...)
			if want := fmt.Sprintf(`"ttlMs":1000,"cacheScope":%q`, test.want); !strings.Contains(p.body, want) {
				t.Errorf("option %q, user %q: %s got %s, want %s in it", test.option, test.user, method, p.body, want)
			}
		}
	}
}

// promptList implements a list without a cache hint.
type promptList struct{}

func (promptList) ListPrompts(context.Context, *mcpserver.ListRequest) (*mcp.ListPromptsResult, error) {
	return &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{{Name: "p"}}}, nil
}

func (promptList) GetPrompt(context.Context, *mcpserver.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return nil, nil
}
