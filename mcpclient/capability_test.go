package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// capable are the calls that need a capability.
var capable = map[string]func(c *Client, ctx context.Context) error{
	"ListTools":             func(c *Client, ctx context.Context) error { _, err := c.ListTools(ctx, ""); return err },
	"ListResources":         func(c *Client, ctx context.Context) error { _, err := c.ListResources(ctx, ""); return err },
	"ListResourceTemplates": func(c *Client, ctx context.Context) error { _, err := c.ListResourceTemplates(ctx, ""); return err },
	"ReadResource":          func(c *Client, ctx context.Context) error { _, err := c.ReadResource(ctx, "file:///x"); return err },
	"SubscribeResource":     func(c *Client, ctx context.Context) error { return c.SubscribeResource(ctx, "file:///x") },
	"ListPrompts":           func(c *Client, ctx context.Context) error { _, err := c.ListPrompts(ctx, ""); return err },
	"GetPrompt":             func(c *Client, ctx context.Context) error { _, err := c.GetPrompt(ctx, "x", nil); return err },
	"Complete":              completeAny,
	"SetLogLevel":           func(c *Client, ctx context.Context) error { return c.SetLogLevel(ctx, mcp.LevelInfo) },
}

func completeAny(c *Client, ctx context.Context) error {
	_, err := c.Complete(ctx, mcp.CompleteRef{Type: mcp.RefPrompt, Name: "x"}, "a", "", nil)
	return err
}

func TestWhatIsNotDeclaredIsNotAskedFor(t *testing.T) {
	for name, call := range capable {
		t.Run(name, func(t *testing.T) {
			for _, capabilities := range []string{`{}`, `{"resources":{}}`} {
				if name != "SubscribeResource" && capabilities != `{}` {
					continue
				}
				inRevisions(t, mcp.SupportedVersions(), capabilities, Options{}, func(t *testing.T, r *revision) {
					if name == "Complete" && r.v == mcp.Version20241105 {
						done := background(func() error { return call(r.c, t.Context()) })
						r.answer(r.want(mcp.MethodComplete), `{"completion":{"values":[]}}`) // there was no capability yet
						if err := <-done; err != nil {
							t.Error(err)
						}
						return
					}
					err := call(r.c, t.Context())
					if e, ok := errors.AsType[*Error](err); !ok || e.Kind != KindState || !errors.Is(err, ErrUnsupported) || !SafeToRetry(err) {
						t.Errorf("want %v of kind state without sending anything, got %v", ErrUnsupported, err)
					}
					r.silent()
				})
			}
		})
	}
}

func TestWhatHasToKnowTheVersionWaitsForIt(t *testing.T) {
	for name, call := range map[string]struct {
		make   func(c *Client, ctx context.Context, options ...CallOption) error
		method string
	}{
		"Ping": {func(c *Client, ctx context.Context, o ...CallOption) error { return c.Ping(ctx, o...) }, mcp.MethodDiscover},
		"Complete": {func(c *Client, ctx context.Context, o ...CallOption) error {
			_, err := c.Complete(ctx, mcp.CompleteRef{}, "a", "", nil, o...)
			return err
		}, mcp.MethodComplete},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, s *script, c *Client) {
				v := s.next(t)
				if err := call.make(c, t.Context()); !errors.Is(err, ErrNotReady) || !SafeToRetry(err) {
					t.Errorf("want %v, got %v", ErrNotReady, err)
				}
				var err error
				if took := elapsed(func() { err = call.make(c, t.Context(), WaitForReady(), WithTimeout(time.Second)) }); took != time.Second || !errors.Is(err, ErrTimeout) {
					t.Errorf("want %v after a second, got %v after %v", ErrTimeout, err, took)
				}
				begun := time.Now()
				done := background(func() error { return call.make(c, t.Context(), WaitForReady(), WithTimeout(3*time.Second)) })
				time.Sleep(time.Second)
				v.greet(mcp.Version20260728, all)
				v.want(call.method) // and never an answer
				if err, took := <-done, time.Since(begun); took != 3*time.Second || !errors.Is(err, ErrTimeout) {
					t.Errorf("want the time for the waiting to be part of the timeout, 3 s, got %v after %v", err, took)
				}
			})
		})
	}
}

func TestRootsListChangedIsDeclaredToLegacyServersOnly(t *testing.T) {
	own := &mcp.RootsCapability{ListChanged: true}
	c := mcp.ClientCapabilities{Roots: own}
	for _, v := range mcp.SupportedVersions() {
		if got := declaredIn(v, c); got.Roots == nil || got.Roots.ListChanged != (v.Era() == mcp.Legacy) {
			t.Errorf("%s: got %+v", v, got.Roots)
		}
	}
	if !own.ListChanged {
		t.Error("the user's own value has been changed")
	}
}

func TestNoMoreIsDeclaredThanTheRevisionHas(t *testing.T) {
	asked := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) { return nil, nil }
	visits := func(context.Context, *URLElicitation) (mcp.ElicitAction, error) { return "", nil }
	sampling := HandleSampling(func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) { return nil, nil },
		&SamplingOptions{Tools: true, Context: true})
	for _, test := range []struct {
		v        mcp.Version
		features []Feature
		want     string
	}{
		{mcp.Version20251125, []Feature{sampling, HandleElicitation(asked), HandleURLElicitation(visits, nil)}, `{"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}}}`},
		{mcp.Version20250618, []Feature{sampling, HandleElicitation(asked), HandleURLElicitation(visits, nil)}, `{"sampling":{},"elicitation":{}}`},
		{mcp.Version20250618, []Feature{HandleURLElicitation(visits, nil)}, `{}`}, // {} would be forms
		{mcp.Version20250326, []Feature{sampling, HandleElicitation(asked)}, `{"sampling":{}}`},
		{mcp.Version20241105, []Feature{sampling, HandleElicitation(asked)}, `{"sampling":{}}`},
	} {
		bubble(t, &Options{Versions: []mcp.Version{test.v}, Features: test.features}, func(t *testing.T, s *script, c *Client) {
			var p struct{ Capabilities json.RawMessage }
			f := s.next(t).want(mcp.MethodInitialize)
			if err := json.Unmarshal(f.Params, &p); err != nil || string(p.Capabilities) != test.want {
				t.Errorf("%s: declared %s, %v, want %s", test.v, p.Capabilities, err, test.want)
			}
		})
	}
}
