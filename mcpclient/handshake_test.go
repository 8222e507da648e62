package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestAModernServerIsReadyAfterTheProbe(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		probe := v.Expect(mcp.MethodDiscover)
		for _, want := range []string{
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientInfo":{`,
			`"io.modelcontextprotocol/clientCapabilities":{}`,
		} {
			if !strings.Contains(probe.Raw, want) {
				t.Errorf("want the probe to have %s, got %s", want, probe.Raw)
			}
		}
		v.Answer(probe, discovered)
		await(t, c)
		if got := c.ProtocolVersion(); got != mcp.Version20260728 {
			t.Errorf("want version 2026-07-28, got %s", got)
		}
		if got := c.ServerInfo().Name; got != "modern" {
			t.Errorf("want the server's name from _meta, got %q", got)
		}
	})
}

// The test lists every known way in which servers refuse the probe.
func TestALegacyServerIsRecognised(t *testing.T) {
	for name, refusal := range map[string]string{
		"method not found": `"error":{"code":-32601,"message":"Method not found"}`,
		"invalid params":   `"error":{"code":-32602,"message":"Invalid request parameters"}`,
		"code 0": `"error":{"code":0,"message":"method \"server/discover\" is invalid during session ` +
			`initialization"}`,
		"internal error":                 `"error":{"code":-32603,"message":"boom"}`,
		"empty success":                  `"result":{}`,
		"success with old versions":      `"result":{"supportedVersions":["2025-11-25"],"capabilities":{}}`,
		"success with a wrong structure": `"result":{"supportedVersions":7}`,
		"unsupported, no list":           `"error":{"code":-32022,"message":"no"}`,
		"unsupported, legacy offered": `"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"],` +
			`"requested":"2026-07-28"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				probe := v.Expect(mcp.MethodDiscover)
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, probe.ID, refusal))
				v.initialize(mcp.Version20250618)
				await(t, c)
				if got := c.ProtocolVersion(); got != mcp.Version20250618 {
					t.Errorf("want version 2025-06-18, got %s", got)
				}
			})
		})
	}
}

func TestSilentServerGetsInitializeAfterQuarterOfTimeout(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Expect(mcp.MethodDiscover)
		begun := time.Now()
		init := v.Expect(mcp.MethodInitialize)
		if waited := time.Since(begun); waited != 2500*time.Millisecond {
			t.Errorf("want initialize 2.5 s after the probe, got %v", waited)
		}
		v.Answer(init, fmt.Sprintf(initialized, mcp.Version20251125))
		v.Expect(mcp.NotificationInitialized)
		await(t, c)
	})
}

func TestSlowModernServerIsRecognizedAsModern(t *testing.T) {
	for name, refusal := range map[string]func(v *conversation, init frame){
		"and refuses initialize": func(v *conversation,
			init frame) {
			v.Refuse(init, 0, `duplicate "initialize" received`)
		},
		"and sends nothing more":      func(*conversation, frame) {},
		"after it refused initialize": nil,
		"and refuses with another code": func(v *conversation,
			init frame) {
			v.Refuse(init, mcp.CodeUnsupportedVersion, "no")
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				probe := v.Expect(mcp.MethodDiscover)
				init := v.Expect(mcp.MethodInitialize)
				if refusal == nil {
					v.Refuse(init, mcp.CodeMethodNotFound, "no")
					v.Answer(probe, discovered)
				} else {
					v.Answer(probe, discovered)
					refusal(v, init)
				}
				await(t, c)
				if got := c.ProtocolVersion(); got != mcp.Version20260728 {
					t.Errorf("want version 2026-07-28, got %s", got)
				}
			})
		})
	}
}

func TestServerThatExitsOnProbeGetsInitialize(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		begun := time.Now()
		v := s.next(t)
		v.Expect(mcp.MethodDiscover)
		v.Close()
		s.next(t).initialize(mcp.Version20250326)
		await(t, c)
		if waited := time.Since(begun); waited > 500*time.Millisecond {
			t.Errorf("want the restart at once, got it after %v", waited)
		}
		if got := c.Status().Reason; got != connstate.ReasonNegotiated {
			t.Errorf("want the reason %s, got %s", connstate.ReasonNegotiated, got)
		}
	})
}

func TestTheEraIsRememberedAcrossReconnects(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).legacy(mcp.Version20251125)
		await(t, c)
		v.Close()
		s.next(t).initialize(mcp.Version20251125) // the client sends no probe
		await(t, c)
	})
}

func TestFailedHandshakeClearsRememberedEra(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).legacy(mcp.Version20251125)
		await(t, c)
		v.Close()
		v = s.next(t)
		v.Refuse(v.Expect(mcp.MethodInitialize), mcp.CodeMethodNotFound, "upgraded to 2026-07-28")
		s.next(t).modern()
		await(t, c)
	})
}

// (specification 2026-07-28, basic, "_meta")
func TestEveryModernRequestHasTheClientInfo(t *testing.T) {
	all := `{"resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":0,"cacheScope":"private",` +
		`"capabilities":{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{}}}`
	for method, do := range map[string]func(context.Context, *mcpclient.Client) error{
		mcp.MethodListTools:     func(ctx context.Context, c *mcpclient.Client) error { return first(c.Tools(ctx)) },
		mcp.MethodListResources: func(ctx context.Context, c *mcpclient.Client) error { return first(c.Resources(ctx)) },
		mcp.MethodListResourceTemplates: func(ctx context.Context,
			c *mcpclient.Client) error {
			return first(c.ResourceTemplates(ctx))
		},
		mcp.MethodListPrompts: func(ctx context.Context, c *mcpclient.Client) error { return first(c.Prompts(ctx)) },
		mcp.MethodCallTool: func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.CallTool(ctx, "x", nil, mcpclient.WithMeta(mcp.Meta(`{"example.com/a":1}`)))
			return err
		},
		mcp.MethodReadResource: func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.ReadResource(ctx, "test://x")
			return err
		},
		mcp.MethodGetPrompt: func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.GetPrompt(ctx, "x", nil)
			return err
		},
		mcp.MethodComplete: func(ctx context.Context, c *mcpclient.Client) error {
			_, err := c.Complete(ctx, mcp.PromptRef("x"), mcp.CompleteArgument{Name: "a", Value: "v"}, nil)
			return err
		},
		mcp.MethodSubscriptionsListen: func(ctx context.Context,
			c *mcpclient.Client) error {
			return c.SubscribeResource(ctx, "test://x")
		},
		"acme/x": func(ctx context.Context, c *mcpclient.Client) error {
			return c.Call(ctx, "acme/x", json.RawMessage(`{"_meta":{}}`), nil)
		},
	} {
		t.Run(method, func(t *testing.T) {
			o := &mcpclient.Options{ClientInfo: mcp.Implementation{Name: "n", Version: "1"},
				Capabilities: mcp.ClientCapabilities{Roots: &mcp.RootsCapability{}}}
			bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				v.Answer(v.Expect(mcp.MethodDiscover), all)
				await(t, c)
				ctx, leave := context.WithCancel(t.Context())
				done := background(func() error { return do(ctx, c) })
				var p struct {
					Meta map[string]any `json:"_meta"`
				}
				f := v.Expect(method)
				if err := json.Unmarshal(f.Params, &p); err != nil {
					t.Fatal(err)
				}
				want := map[string]any{
					mcp.MetaProtocolVersion: "2026-07-28", mcp.MetaClientCapabilities: map[string]any{"roots": map[string]any{}},
					mcp.MetaClientInfo: map[string]any{"name": "n", "version": "1"},
				}
				for name, want := range want {
					if diff := cmp.Diff(want, p.Meta[name]); diff != "" {
						t.Errorf("_meta differs in %s (-want +got):\n%s", name, diff)
					}
				}
				leave()
				<-done
			})
		})
	}
}

// first returns the error of a list's first item.
func first[T any](list iter.Seq2[T, error]) error {
	for _, err := range list {
		return err
	}
	return nil
}

func TestPinnedVersionsDetermineTheHandshake(t *testing.T) {
	t.Run("legacy only: no probe", func(t *testing.T) {
		o := &mcpclient.Options{Versions: []mcp.Version{mcp.Version20250618}}
		bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
			v := s.next(t)
			init := v.Expect(mcp.MethodInitialize)
			if !strings.Contains(init.Raw, `"protocolVersion":"2025-06-18"`) {
				t.Errorf("want the pinned version in the request, got %s", init.Raw)
			}
			v.Answer(init, fmt.Sprintf(initialized, mcp.Version20250618))
			v.Expect(mcp.NotificationInitialized)
			await(t, c)
		})
	})
	t.Run("modern only: no fallback", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(t)
			c, err := mcpclient.New(s, checked(t, &mcpclient.Options{Versions: []mcp.Version{mcp.Version20260728}}))
			if err != nil {
				t.Fatal(err)
			}
			v := s.next(t)
			v.Refuse(v.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "no")
			<-c.Done()
			if err := c.Err(); !errors.Is(err, conn.ErrNoCommonVersion) {
				t.Errorf("want %v, got %v", conn.ErrNoCommonVersion, err)
			}
		})
	})
	t.Run("unknown", func(t *testing.T) {
		if _, err := mcpclient.New(newScript(t), &mcpclient.Options{Versions: []mcp.Version{"1999-01-01"}}); err == nil {
			t.Error("want an error for an unknown version, got none")
		}
	})
}

func TestNoCommonVersionEndsTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		c, err := mcpclient.New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := s.next(t)
		v.Refuse(v.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "no")
		v.Answer(v.Expect(mcp.MethodInitialize), fmt.Sprintf(initialized, "2023-01-01"))
		<-c.Done()
		if err := c.Err(); !errors.Is(err, conn.ErrNoCommonVersion) {
			t.Errorf("want %v, got %v", conn.ErrNoCommonVersion, err)
		}
		if err := c.WaitForReady(t.Context()); !errors.Is(err, mcpclient.ErrShutdown) ||
			!errors.Is(err, conn.ErrNoCommonVersion) {
			t.Errorf("want the reason from WaitForReady, got %v", err)
		}
	})
}

func TestNotificationRightAfterHandshakeIsHandled(t *testing.T) {
	heard := make(chan string, 1)
	o := &mcpclient.Options{
		Versions: []mcp.Version{mcp.Version20251125},
		Features: []mcpclient.Feature{mcpclient.HandleNotification(mcp.NotificationToolListChanged,
			func(_ context.Context, n *mcpclient.Notification) { heard <- n.Method })},
	}
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, v.Expect(mcp.MethodInitialize).ID,
			fmt.Sprintf(initialized, mcp.Version20251125)),
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		v.Expect(mcp.NotificationInitialized)
		await(t, c)
		if got := <-heard; got != mcp.NotificationToolListChanged {
			t.Errorf("want the notification right after the handshake, got %s", got)
		}
	})
}

// The server refuses server/discover with -32601 and exits. After the restart, the client's first message must be
// initialize.
func TestServerThatRefusesProbeAndExitsGetsInitialize(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		took := elapsed(func() {
			v := s.next(t)
			v.Refuse(v.Expect(mcp.MethodDiscover), mcp.CodeMethodNotFound, "no")
			v.Close()
			s.next(t).initialize(mcp.Version20250618)
			await(t, c)
		})
		if took != 0 {
			t.Errorf("ready after %v, want at once", took)
		}
	})
}

func TestInvalidProbeResponseLeadsToInitializeAtOnce(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		f := v.Expect(mcp.MethodDiscover)
		took := elapsed(func() {
			v.Answer(f, `null`)
			v.initialize(mcp.Version20250618)
			await(t, c)
		})
		if took != 0 {
			t.Errorf("ready after %v, want at once", took)
		}
	})
}

func TestVersionsInInitializeErrorAreUsed(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t)
		v.Expect(mcp.MethodDiscover)
		init := v.Expect(mcp.MethodInitialize)
		v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no",`+
			`"data":{"supported":["2024-11-05"]}}}`, init.ID))
		again := v.Expect(mcp.MethodInitialize)
		if !strings.Contains(again.Raw, `"protocolVersion":"2024-11-05"`) {
			t.Errorf("want the version from the server's list, got %s", again.Raw)
		}
		v.Answer(again, fmt.Sprintf(initialized, mcp.Version20241105))
		v.Expect(mcp.NotificationInitialized)
		await(t, c)
	})
}

func TestRefusedProbeIsNotLoggedAsException(t *testing.T) {
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		s.next(t).legacy(mcp.Version20251125)
		await(t, c)
		if n := len(rec.Logs("mcp_client.request.exception")); n != 0 {
			t.Errorf("want no exception for the refused probe, got %d", n)
		}
		if got := rec.Logs("mcp_client.request.stop")[0]; got.Level != slog.LevelDebug ||
			got.Text("rpc.response.status_code") != "-32601" {
			t.Errorf("want the refused probe at debug with its code, got %s %v", got.Level, got.Attrs)
		}
		for _, e := range c.Inspect().Recent {
			if e.Failed {
				t.Errorf("want no failure in the flight recorder, got %+v", e)
			}
		}
	})
}

// (specification 2025-11-25, basic/utilities/cancellation, "Behavior Requirements")
func TestInitializeIsNotCancelled(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *mcpclient.Client){
		"there is no answer in time": func(t *testing.T, c *mcpclient.Client) {
			if err := c.WaitForState(t.Context(), connstate.Backoff); err != nil {
				t.Fatal(err)
			}
		},
		"the client is closed": func(t *testing.T, c *mcpclient.Client) {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, pinnedLegacy(), func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				v.Expect(mcp.MethodInitialize)
				end(t, c)
				for {
					raw, err := v.Peer().Receive(v.Context())
					if err != nil {
						return
					}
					t.Errorf("the client sent %s after initialize, want nothing", raw)
				}
			})
		})
	}
}
