package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

const badMeta = `{"a bad name":1}`

func TestMetaKeysFromCallerAreChecked(t *testing.T) {
	raw := json.RawMessage(`{"_meta":` + badMeta + `}`)
	for what, do := range map[string]func(ctx context.Context, c *mcpclient.Client) error{
		"WithMeta": func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.CallTool(ctx, "x", nil, mcpclient.WithMeta(mcp.Meta(badMeta)))
			return err
		},
		"WithMeta, a prefix of the protocol": func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.CallTool(ctx, "x", nil, mcpclient.WithMeta(mcp.Meta(`{"dev.mcp/x":1}`)))
			return err
		},
		"params of package mcp": func(ctx context.Context, c *mcpclient.Client) error {
			return c.Call(ctx, mcp.MethodCallTool, &mcp.CallToolParams{Name: "x", Meta: mcp.Meta(badMeta)}, nil)
		},
		"a page": func(ctx context.Context, c *mcpclient.Client) error {
			return c.Call(ctx, mcp.MethodListTools, &mcp.PageParams{Meta: mcp.Meta(badMeta)}, nil)
		},
		"raw params": func(ctx context.Context, c *mcpclient.Client) error { return c.Call(ctx, "acme/x", raw, nil) },
		"a map": func(ctx context.Context, c *mcpclient.Client) error {
			return c.Call(ctx, "acme/x", map[string]any{"_meta": map[string]int{"a b": 1}}, nil)
		},
		"Notify": func(ctx context.Context, c *mcpclient.Client) error { return c.Notify(ctx, "acme/x", raw) },
		"Notify, mcp": func(ctx context.Context, c *mcpclient.Client) error {
			return c.Notify(ctx, "acme/x", &mcp.Params{Meta: mcp.Meta(badMeta)})
		},
	} {
		t.Run(what, func(t *testing.T) {
			ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				err := do(t.Context(), c)
				var e *mcpclient.Error
				if !errors.As(err, &e) || e.Kind != mcpclient.KindInvalid || !e.Unsent ||
					!strings.Contains(err.Error(), "meta name") {
					t.Errorf("%v, want an error of kind %s about the name, and nothing sent", err, mcpclient.KindInvalid)
				}
			})
		})
	}
}

func TestMetaKeysOfOtherPrefixesAreAccepted(t *testing.T) {
	ready(t, nil, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		meta := mcp.Meta(`{"com.example/x":1,"y":2,"io.modelcontextprotocol/new":3}`)
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil, mcpclient.WithMeta(meta)); return err })
		f := v.Expect(mcp.MethodCallTool)
		if want := `"com.example/x":1,"y":2,"io.modelcontextprotocol/new":3`; !strings.Contains(f.Raw, want) {
			t.Errorf("sent %s, want it with %s", f.Raw, want)
		}
		v.Answer(f, `{"content":[]}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestClientInfoIsChecked(t *testing.T) {
	bad := mcp.ClientCapabilities{Extensions: map[string]mcp.Object{"no prefix!": {}}}
	unsafe := []mcp.Icon{{Src: "file:///a"}}
	for want, o := range map[string]*mcpclient.Options{
		`mcpclient: capabilities: extensions: extension "no prefix!" has no prefix`: {Capabilities: bad},
		`mcpclient: options: ClientInfo: icons: [0]: source has the unsafe scheme "file"`: {
			ClientInfo: mcp.Implementation{Name: "a", Icons: unsafe},
		},
	} {
		if _, err := mcpclient.New(newScript(t), o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestMetaKeysInHandlerResultsAreChecked(t *testing.T) {
	for what, result := range map[string]any{
		"a type of package mcp": &mcp.ListRootsResult{Roots: []*mcp.Root{{URI: "file:///a", Meta: mcp.Meta(badMeta)}}},
		"raw":                   json.RawMessage(`{"_meta":` + badMeta + `}`),
	} {
		answer := func(context.Context, *mcpclient.Request) (any, error) { return result, nil }
		o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleRequest("acme/x", answer)}}
		bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
			peer := s.next(t).legacy(mcp.Version20251125)
			await(t, c)
			peer.Send(`{"jsonrpc":"2.0","id":1,"method":"acme/x"}`)
			if f := peer.Receive(); !strings.Contains(f.Raw, "-32603") {
				t.Errorf("%s: answered %s, want an internal error", what, f.Raw)
			}
		})
	}
}

// unsafeIcons are three icons. The first is valid; the client must drop the other two.
const unsafeIcons = `"icons":[{"src":"https://example.com/a.png"},{"src":"javascript:alert(1)"},` +
	`{"src":"file:///etc/passwd"}]`

func TestUnsafeIconsAreDropped(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	check := func(t *testing.T, what string, icons []mcp.Icon) {
		t.Helper()
		if len(icons) != 1 || icons[0].Src != "https://example.com/a.png" {
			t.Errorf("%s has the icons %v, want only the first one", what, icons)
		}
	}
	bubble(t, &mcpclient.Options{Telemetry: rec.Telemetry()}, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover),
			`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public",`+
				`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a","version":"1",`+unsafeIcons+`}}}`)
		await(t, c)
		check(t, "the server", c.ServerInfo().Icons)
		for _, from := range []string{"the server", "the cache"} {
			done := background(func() error {
				r, err := c.ListTools(t.Context(), nil)
				if err == nil {
					check(t, "a tool of "+from, r.Tools[0].Icons)
				}
				return err
			})
			if from == "the server" {
				v.Answer(v.Expect(mcp.MethodListTools), freshList(60_000,
					`{"name":"a","inputSchema":{"type":"object"},`+unsafeIcons+`}`))
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		done := background(func() error {
			r, err := c.CallTool(t.Context(), "a", nil)
			if err == nil {
				check(t, "a link", r.Content[0].(*mcp.ResourceLink).Icons)
			}
			return err
		})
		v.Answer(v.Expect(mcp.MethodCallTool),
			`{"content":[{"type":"resource_link","uri":"a:b","name":"c",`+unsafeIcons+`}]}`)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
	var methods []string
	for _, r := range rec.Logs("mcp_client.icon.rejected") {
		methods = append(methods, r.Text("mcp.method.name"))
		got := r.Text("exception.message")
		want := `rejected icons: 2; the first: source has the unsafe scheme "javascript"`
		if got != want || r.Level != slog.LevelDebug {
			t.Errorf("logged %q at %v, want %q at debug", got, r.Level, want)
		}
	}
	if want := []string{mcp.MethodDiscover, mcp.MethodListTools, mcp.MethodCallTool}; !slices.Equal(methods, want) {
		t.Errorf("logged for %q, want %q", methods, want)
	}
}

func TestUnsafeIconsOfALegacyServerAreDropped(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Refuse(v.Expect(mcp.MethodDiscover), -32601, "unknown method")
		v.Answer(v.Expect(mcp.MethodInitialize),
			`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1",`+unsafeIcons+`}}`)
		v.Expect(mcp.NotificationInitialized)
		await(t, c)
		if icons := c.ServerInfo().Icons; len(icons) != 1 {
			t.Errorf("the server has the icons %v, want only the first one", icons)
		}
	})
}
