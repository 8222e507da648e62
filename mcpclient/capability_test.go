package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// capable are the calls that need a capability.
var capable = map[string]func(c *mcpclient.Client, ctx context.Context) error{
	"ListTools": func(c *mcpclient.Client, ctx context.Context) error { _, err := c.ListTools(ctx, nil); return err },
	"ListResources": func(c *mcpclient.Client, ctx context.Context) error {
		_,
			err := c.ListResources(ctx, nil)
		return err
	},
	"ListResourceTemplates": func(c *mcpclient.Client, ctx context.Context) error {
		_,
			err := c.ListResourceTemplates(ctx, nil)
		return err
	},
	"ReadResource": func(c *mcpclient.Client, ctx context.Context) error {
		_,
			err := c.ReadResource(ctx, "file:///x")
		return err
	},
	"SubscribeResource": func(c *mcpclient.Client, ctx context.Context) error {
		return c.SubscribeResource(ctx,
			"file:///x")
	},
	"ListPrompts": func(c *mcpclient.Client, ctx context.Context) error {
		_,
			err := c.ListPrompts(ctx, nil)
		return err
	},
	"GetPrompt": func(c *mcpclient.Client, ctx context.Context) error {
		_,
			err := c.GetPrompt(ctx, "x", nil)
		return err
	},
	"Complete":    completeAny,
	"SetLogLevel": func(c *mcpclient.Client, ctx context.Context) error { return c.SetLogLevel(ctx, mcp.LevelInfo) },
}

func completeAny(c *mcpclient.Client, ctx context.Context) error {
	_, err := c.Complete(ctx, mcp.CompleteRef{Type: mcp.RefPrompt, Name: "x"}, mcp.CompleteArgument{Name: "a"}, nil)
	return err
}

func TestUndeclaredFeatureIsNotRequested(t *testing.T) {
	for name, call := range capable {
		t.Run(name, func(t *testing.T) {
			for _, capabilities := range []string{`{}`, `{"resources":{}}`} {
				if name != "SubscribeResource" && capabilities != `{}` {
					continue
				}
				inRevisions(t, mcp.SupportedVersions(), capabilities, mcpclient.Options{}, func(t *testing.T, r *revision) {
					if name == "Complete" && r.v == mcp.Version20241105 {
						done := background(func() error { return call(r.c, t.Context()) })
						r.Answer(r.Expect(mcp.MethodComplete), `{"completion":{"values":[]}}`) // this revision has no such capability
						if err := <-done; err != nil {
							t.Error(err)
						}
						return
					}
					err := call(r.c, t.Context())
					if e, ok := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != mcpclient.KindState ||
						!errors.Is(err, mcpclient.ErrUnsupported) ||
						!mcpclient.SafeToRetry(err) {
						t.Errorf("want %v of kind state without sending anything, got %v", mcpclient.ErrUnsupported, err)
					}
					r.silent()
				})
			}
		})
	}
}

func TestVersionDependentOperationsWaitForHandshake(t *testing.T) {
	for name, call := range map[string]struct {
		make   func(c *mcpclient.Client, ctx context.Context, options ...mcpclient.CallOption) error
		method string
	}{
		"Ping": {func(c *mcpclient.Client, ctx context.Context, o ...mcpclient.CallOption) error {
			return c.Ping(ctx, o...)
		},
			mcp.MethodDiscover},
		"Complete": {func(c *mcpclient.Client, ctx context.Context, o ...mcpclient.CallOption) error {
			_, err := c.Complete(ctx, mcp.CompleteRef{}, mcp.CompleteArgument{Name: "a"}, nil, o...)
			return err
		}, mcp.MethodComplete},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
				v := s.next(t)
				if err := call.make(c, t.Context()); !errors.Is(err, mcpclient.ErrNotReady) || !mcpclient.SafeToRetry(err) {
					t.Errorf("want %v, got %v", mcpclient.ErrNotReady, err)
				}
				var err error
				took := elapsed(func() {
					err = call.make(c, t.Context(), mcpclient.WaitForReady(),
						mcpclient.WithTimeout(time.Second))
				})
				if took != time.Second || !errors.Is(err, mcpclient.ErrTimeout) {
					t.Errorf("want %v after a second, got %v after %v", mcpclient.ErrTimeout, err, took)
				}
				begun := time.Now()
				done := background(func() error {
					return call.make(c, t.Context(), mcpclient.WaitForReady(), mcpclient.WithTimeout(3*time.Second))
				})
				time.Sleep(time.Second)
				v.greet(mcp.Version20260728, all)
				v.Expect(call.method) // the server never answers
				if err, took := <-done, time.Since(begun); took != 3*time.Second || !errors.Is(err, mcpclient.ErrTimeout) {
					t.Errorf("want the timeout of 3 s to include the wait for readiness, got %v after %v", err, took)
				}
			})
		})
	}
}

func TestRootsListChangedIsDeclaredToLegacyServersOnly(t *testing.T) {
	own := &mcp.RootsCapability{ListChanged: true}
	c := mcp.ClientCapabilities{Roots: own}
	for _, v := range mcp.SupportedVersions() {
		if got := conn.DeclaredIn(v, c); got.Roots == nil || got.Roots.ListChanged != (v.Era() == mcp.Legacy) {
			t.Errorf("%s: got %+v", v, got.Roots)
		}
	}
	if !own.ListChanged {
		t.Error("the user's own value has been changed")
	}
}

func TestDeclaredCapabilitiesFitTheRevision(t *testing.T) {
	own := mcp.ClientCapabilities{
		Elicitation: &mcp.ElicitationCapability{Form: mcp.Object{}, URL: mcp.Object{}},
		Sampling:    &mcp.SamplingCapability{Tools: mcp.Object{}, Context: mcp.Object{}},
		Tasks:       &mcp.TasksCapability{Cancel: mcp.Object{}},
		Extensions:  map[string]mcp.Object{"com.example/x": {}, mcp.ExtensionTasks: {}},
	}
	const extension = `"extensions":{"com.example/x":{}}`
	const bare, full = `"sampling":{}`, `"sampling":{"context":{},"tools":{}}`
	for v, want := range map[mcp.Version]string{
		mcp.Version20241105: `{` + bare + `,` + extension + `}`,
		mcp.Version20250326: `{` + bare + `,` + extension + `}`,
		mcp.Version20250618: `{` + bare + `,"elicitation":{},` + extension + `}`,
		mcp.Version20251125: `{` + full + `,"elicitation":{"form":{},"url":{}},"tasks":{"cancel":{}},` + extension + `}`,
		mcp.Version20260728: `{` + full + `,"elicitation":{"form":{},"url":{}},"extensions":{"com.example/x":{},` +
			`"io.modelcontextprotocol/tasks":{}}}`,
	} {
		if got, err := json.Marshal(conn.DeclaredIn(v, own)); err != nil || string(got) != want {
			t.Errorf("%s: want %s, got %s, %v", v, want, got, err)
		}
	}
	for _, v := range mcp.SupportedVersions() {
		got := conn.DeclaredIn(v, mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{URL: mcp.Object{}}})
		if (got.Elicitation != nil) != (v >= mcp.Version20251125) {
			t.Errorf("%s: want URLs declared where the revision has them, and no forms, got %+v", v, got.Elicitation)
		}
	}
	if own.Tasks == nil || own.Elicitation.URL == nil || own.Sampling.Tools == nil {
		t.Error("the user's own value has been changed")
	}
}

func TestClientInfoHasOnlyFieldsOfRevision(t *testing.T) {
	for _, v := range mcp.SupportedVersions() {
		if v.Era() == mcp.Modern {
			continue
		}
		o := &mcpclient.Options{Versions: []mcp.Version{v},
			ClientInfo: mcp.Implementation{Name: "n", Title: "t", Version: "1", Description: "d"}}
		bubble(t, o, func(t *testing.T, s *script, _ *mcpclient.Client) {
			f := s.next(t).Expect(mcp.MethodInitialize)
			for member, first := range map[string]mcp.Version{"title": mcp.Version20250618, "description": mcp.Version20251125} {
				if got := strings.Contains(f.Raw, `"`+member+`":`); got != (v >= first) {
					t.Errorf("%s: want %s from %s on, got %s", v, member, first, f.Raw)
				}
			}
		})
	}
}
