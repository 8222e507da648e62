package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// home returns a root with all members.
func home() *mcp.Root {
	return &mcp.Root{URI: "file:///home/user/my%20project", Name: "Home", Meta: mcp.Meta(`{"m":1}`)}
}

// rootsOf requests the roots as the revision defines it, and returns the client's answer.
func (r *revision) rootsOf() string {
	r.t.Helper()
	if !r.modern() {
		r.Send(`{"jsonrpc":"2.0","id":"roots","method":"roots/list"}`)
		return string(r.Receive().Result)
	}
	done := background(func() error { return r.c.Call(r.t.Context(), mcp.MethodCallTool, nil, nil) })
	r.Answer(r.Expect(mcp.MethodCallTool), `{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}`)
	f := r.Expect(mcp.MethodCallTool)
	r.Answer(f, `{"resultType":"complete"}`)
	if err := <-done; err != nil {
		r.t.Error(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(paramsOf(r.t, f), `{"inputResponses":{"r":`), `}}`)
}

func TestTheServerGetsTheRootsWhenItAsks(t *testing.T) {
	inEach(t, mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseRoots(home())}}, func(t *testing.T,
		r *revision) {
		want := `{"roots":[{"_meta":{"m":1},"uri":"file:///home/user/my%20project","name":"Home"}]}`
		if r.v < mcp.Version20250618 {
			want = `{"roots":[{"uri":"file:///home/user/my%20project","name":"Home"}]}`
		}
		if got := r.rootsOf(); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
		changed := &mcp.Root{URI: "file:///tmp"}
		done := background(func() error { return r.c.SetRoots(t.Context(), changed) })
		if !r.modern() {
			r.Expect(mcp.NotificationRootsListChanged)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		changed.URI = "file:///changed/behind/its/back"
		if got, want := r.rootsOf(), `{"roots":[{"uri":"file:///tmp"}]}`; got != want {
			t.Errorf("want %s, got %s", want, got)
		}
		done = background(func() error { return r.c.SetRoots(t.Context()) })
		if !r.modern() {
			r.Expect(mcp.NotificationRootsListChanged)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got, want := r.rootsOf(), `{"roots":[]}`; got != want {
			t.Errorf("want %s, got %s", want, got)
		}
		err := r.c.SetRoots(t.Context(), home(), nil)
		if e, ok := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != mcpclient.KindInvalid {
			t.Errorf("want an error of kind invalid, got %v", err)
		}
		if got, want := r.rootsOf(), `{"roots":[]}`; got != want {
			t.Errorf("after an error: want %s, got %s", want, got)
		}
	})
}

func TestRootsAreDeclared(t *testing.T) {
	for _, v := range mcp.SupportedVersions() {
		o := &mcpclient.Options{Versions: []mcp.Version{v}, Features: []mcpclient.Feature{mcpclient.UseRoots()}}
		bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
			f := s.next(t).Receive()
			want := `"roots":{"listChanged":true}`
			if v.Era() == mcp.Modern {
				want = `"roots":{}`
			}
			if !strings.Contains(f.Raw, want) {
				t.Errorf("%s: want %s declared, got %s", v, want, f.Raw)
			}
		})
	}
}

func TestRootsSetBeforeReadyAreSentToServer(t *testing.T) {
	for _, v := range mcp.SupportedVersions() {
		o := &mcpclient.Options{Versions: []mcp.Version{v}, Features: []mcpclient.Feature{mcpclient.UseRoots(home())}}
		bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
			p := s.next(t)
			if err := c.SetRoots(t.Context(), &mcp.Root{URI: "file:///tmp"}); err != nil {
				t.Error(err)
			}
			r := &revision{v: v, s: s, c: c, conversation: p.greet(v, all)}
			await(t, c)
			if got, want := r.rootsOf(), `{"roots":[{"uri":"file:///tmp"}]}`; got != want {
				t.Errorf("%s: want %s, got %s", v, want, got)
			}
			r.silent()
		})
	}
}

func TestInvalidRootIsRefused(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///":                     "",
		"file:///home/user/..hidden":   "",
		"file:///home/a%20b/c.txt":     "",
		"FILE:///home":                 "",
		"file:///C:/Users/me":          "",
		"file://server/share/x":        "",
		"":                             "not a file URI",
		"/home/user":                   "not a file URI",
		"https://example.com/x":        "not a file URI",
		"file:home/user":               "no absolute path",
		"file://host":                  "no absolute path",
		"file:///a%00b":                "no absolute path",
		"file:///a/../b":               "contains \"..\"",
		"file:///a/%2e%2E/b":           "contains \"..\"",
		"file:///a/..%2fb":             "contains \"..\"",
		"file:///C:/a%5C..%5Cb":        "contains \"..\"",
		"file:///a/..":                 "contains \"..\"",
		"file:///a?b":                  "must have only a host and a path",
		"file:///a?":                   "must have only a host and a path",
		"file:///a#b":                  "must have only a host and a path",
		"file:///a#":                   "must have only a host and a path",
		"file://user@host/a":           "must have only a host and a path",
		"file:///a\n":                  "invalid control character",
		"file:///%zz":                  "invalid URL escape",
		"file:///" + "x y\u0000":       "invalid control character",
		"file://[::1/etc":              "missing ']'",
		"file:///ok/" + "a%ff%fe/name": "",
	} {
		o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseRoots(&mcp.Root{URI: uri})}}
		c, err := mcpclient.New(newScript(t), o)
		if err == nil {
			_ = c.Close()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: want an error about %q, got %v", uri, want, err)
		}
	}
}

func TestSecondRootsHandlerIsRejected(t *testing.T) {
	answer := mcpclient.HandleRequest(mcp.MethodListRoots, func(context.Context, *mcpclient.Request) (any,
		error) {
		return nil, nil
	})
	for name, features := range map[string][]mcpclient.Feature{
		"twice":          {mcpclient.UseRoots(), mcpclient.UseRoots()},
		"handler first":  {answer, mcpclient.UseRoots()},
		"UseRoots first": {mcpclient.UseRoots(), answer},
	} {
		if _, err := mcpclient.New(newScript(t), &mcpclient.Options{Features: features}); err == nil ||
			!strings.Contains(err.Error(), "handler for roots/list") {
			t.Errorf("%s: want an error, got %v", name, err)
		}
	}
	bubble(t, nil, func(t *testing.T, s *script, c *mcpclient.Client) {
		err := c.SetRoots(t.Context(), home())
		if e, ok := errors.AsType[*mcpclient.Error](err); !ok || e.Kind != mcpclient.KindInvalid ||
			!strings.Contains(fmt.Sprint(err), "UseRoots") {
			t.Errorf("want an error of kind invalid about UseRoots, got %v", err)
		}
	})
}
