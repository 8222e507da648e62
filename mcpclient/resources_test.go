package mcpclient_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

func TestListIteratorsFetchAllPages(t *testing.T) {
	for name, list := range map[string]struct {
		method, item string
		names        func(r *revision) ([]string, error)
	}{
		"resources": {mcp.MethodListResources, `"resources":[{"uri":"file:///%s","name":"%[1]s"}]`,
			func(r *revision) (names []string, err error) {
				for item, err := range r.c.Resources(r.t.Context()) {
					if err != nil {
						return names, err
					}
					names = append(names, item.Name)
				}
				return names, nil
			}},
		"templates": {mcp.MethodListResourceTemplates, `"resourceTemplates":[{"uriTemplate":"file:///{x}","name":"%s"}]`,
			func(r *revision) (names []string, err error) {
				for item, err := range r.c.ResourceTemplates(r.t.Context()) {
					if err != nil {
						return names, err
					}
					names = append(names, item.Name)
				}
				return names, nil
			}},
		"prompts": {mcp.MethodListPrompts, `"prompts":[{"name":"%s"}]`, func(r *revision) (names []string, err error) {
			for item, err := range r.c.Prompts(r.t.Context()) {
				if err != nil {
					return names, err
				}
				names = append(names, item.Name)
			}
			return names, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
				var names []string
				done := background(func() (err error) { names, err = list.names(r); return err })
				first := r.Expect(list.method)
				if got := paramsOf(t, first); got != "" && got != "{}" {
					t.Errorf("want a request for the first page without a cursor, got %s", got)
				}
				r.Answer(first, fmt.Sprintf(`{`+list.item+`,"nextCursor":"more"}`, "a"))
				second := r.Expect(list.method)
				if got := paramsOf(t, second); got != `{"cursor":"more"}` {
					t.Errorf("want a request for the second page with its cursor, got %s", got)
				}
				r.Answer(second, fmt.Sprintf(`{`+list.item+`}`, "b"))
				if err := <-done; err != nil || !slices.Equal(names, []string{"a", "b"}) {
					t.Errorf("want a and b, got %q, %v", names, err)
				}
				done = background(func() (err error) { names, err = list.names(r); return err })
				r.Refuse(r.Expect(list.method), mcp.CodeInternalError, "broken")
				if err := <-done; !errors.As(err, new(*mcp.Error)) {
					t.Errorf("want the server's error to end the list, got %v", err)
				}
			})
		})
	}
}

func TestReadResource(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		var result *mcp.ReadResourceResult
		done := background(func() (err error) { result, err = r.c.ReadResource(t.Context(), "file:///motd"); return err })
		f := r.Expect(mcp.MethodReadResource)
		if got := paramsOf(t, f); got != `{"uri":"file:///motd"}` {
			t.Errorf("want the URI sent, got %s", got)
		}
		r.Answer(f, `{"contents":[{"uri":"file:///motd","text":"hello"},{"uri":"file:///icon","blob":"AA=="}]}`)
		if err := <-done; err != nil || len(result.Contents) != 2 || result.Contents[0].Text != "hello" ||
			*result.Contents[1].Blob != "AA==" {
			t.Errorf("want a text and a blob, got %+v, %v", result, err)
		}
	})
}

func TestErrResourceNotFoundMatchesCodesOfAllRevisions(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"the legacy code": {&mcpclient.Error{Server: &mcp.Error{Code: -32002}}, true},
		"the modern code with a URI": {&mcpclient.Error{Server: &mcp.Error{Code: -32602,
			Data: []byte(`{"uri":"file:///x"}`)}}, true},
		"the modern code without data":    {&mcpclient.Error{Server: &mcp.Error{Code: -32602}}, false},
		"the modern code with other data": {&mcpclient.Error{Server: &mcp.Error{Code: -32602, Data: []byte(`[1]`)}}, false},
		"another code": {&mcpclient.Error{Server: &mcp.Error{Code: -32603, Data: []byte(`{"uri":"file:///x"}`)}},
			false},
		"an error of the client": {mcpclient.ErrTimeout, false},
		"no error":               {nil, false},
	} {
		if got := errors.Is(tc.err, mcp.ErrResourceNotFound); got != tc.want {
			t.Errorf("%s: want %v, got %v", name, tc.want, got)
		}
	}
}

func TestGetPrompt(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		var result *mcp.GetPromptResult
		done := background(func() (err error) {
			result, err = r.c.GetPrompt(t.Context(), "review", map[string]string{"language": "go"})
			return err
		})
		f := r.Expect(mcp.MethodGetPrompt)
		if got := paramsOf(t, f); got != `{"arguments":{"language":"go"},"name":"review"}` {
			t.Errorf("want the name and the arguments sent, got %s", got)
		}
		r.Answer(f, `{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"look"}}]}`)
		if err := <-done; err != nil || result.Description != "d" || len(result.Messages) != 1 ||
			result.Messages[0].Role != mcp.RoleUser {
			t.Errorf("want a message of the user, got %+v, %v", result, err)
		}
		done = background(func() (err error) { _, err = r.c.GetPrompt(t.Context(), "plain", nil); return err })
		f = r.Expect(mcp.MethodGetPrompt)
		if got := paramsOf(t, f); got != `{"arguments":{},"name":"plain"}` {
			t.Errorf("want an empty object for no arguments, because some servers require it, got %s", got)
		}
		r.Refuse(f, mcp.CodeInvalidParams, "unknown prompt")
		if e, ok := errors.AsType[*mcp.Error](<-done); !ok || e.Code != mcp.CodeInvalidParams {
			t.Errorf("want the server's error, got %v", e)
		}
	})
}

func TestCompleteSendsContextSince20250618(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		var result *mcp.CompleteResult
		ref := mcp.CompleteRef{Type: mcp.RefPrompt, Name: "review", Title: "Review"}
		done := background(func() (err error) {
			result, err = r.c.Complete(t.Context(), ref, mcp.CompleteArgument{Name: "framework", Value: "fla"},
				map[string]string{"language": "python"})
			return err
		})
		f := r.Expect(mcp.MethodComplete)
		want := `{"argument":{"name":"framework","value":"fla"},"context":{"arguments":{"language":"python"}},` +
			`"ref":{"type":"ref/prompt","name":"review","title":"Review"}}`
		if r.v < mcp.Version20250618 {
			want = `{"argument":{"name":"framework","value":"fla"},"ref":{"type":"ref/prompt","name":"review"}}`
		}
		if got := paramsOf(t, f); got != want {
			t.Errorf("want %s sent, got %s", want, got)
		}
		r.Answer(f, `{"completion":{"values":["flask"],"total":1,"hasMore":false}}`)
		if err := <-done; err != nil || !slices.Equal(result.Completion.Values, []string{"flask"}) ||
			*result.Completion.Total != 1 {
			t.Errorf("want flask, got %+v, %v", result, err)
		}
	})
}

func TestPingSendsDiscoverToModernServer(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		method := mcp.MethodPing
		if r.modern() {
			method = mcp.MethodDiscover
		}
		done := background(func() error { return r.c.Ping(t.Context()) })
		r.Answer(r.Expect(method), `{}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
		done = background(func() error { return r.c.Ping(t.Context()) })
		r.Expect(method) // the server never answers
		if err := <-done; !errors.Is(err, mcpclient.ErrTimeout) {
			t.Errorf("want %v, got %v", mcpclient.ErrTimeout, err)
		}
	})
}

func TestCallToolWithoutArguments(t *testing.T) {
	inEach(t, mcpclient.Options{}, func(t *testing.T, r *revision) {
		done := background(func() error { _, err := r.c.CallTool(t.Context(), "status", nil); return err })
		f := r.Expect(mcp.MethodCallTool)
		if got := paramsOf(t, f); got != `{"arguments":{},"name":"status"}` {
			t.Errorf("want an empty object for no arguments, because some servers require it, got %s", got)
		}
		r.Answer(f, `{"content":[]}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
