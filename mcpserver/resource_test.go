package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// readText is a handler that returns the URI and the variables of the request as text.
func readText(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: fmt.Sprint(r.URI, " ", r.Variables)}}}, nil
}

// reading returns a handler that always returns the same result.
func reading(r *mcp.ReadResourceResult, err error) mcpserver.ResourceHandler {
	return func(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) { return r, err }
}

// library returns a server with resources that have all members.
func library(t *testing.T) *mcpserver.Server {
	t.Helper()
	s := bare(t, mcpserver.Options{})
	annotations := &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, Priority: new(0.5),
		LastModified: "2025-01-12T15:00:58Z"}
	must(t, s.AddResource(&mcp.Resource{
		URI: "test://a", Name: "a", Title: "A", Description: "d", MIMEType: "text/plain", Size: new(int64(7)),
		Annotations: annotations, Icons: []mcp.Icon{{Src: "https://example.com/a.png"}}, Meta: mcp.Meta(`{"k":1}`),
	}, readText))
	must(t, s.AddResource(&mcp.Resource{URI: "test://b", Name: "b"}, readText))
	must(t, s.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "test://user/{id}", Name: "user", Title: "U", Description: "d", MIMEType: "application/json",
		Annotations: annotations, Icons: []mcp.Icon{{Src: "https://example.com/a.png"}}, Meta: mcp.Meta(`{"k":1}`),
	}, readText))
	return s
}

func TestResourceListsFollowEachRevision(t *testing.T) {
	inEachRevision(t, library, func(t *testing.T, c *talk) {
		meta := c.since(mcp.Version20250618, `"_meta":{"k":1},`, "")
		title := func(s string) string { return c.since(mcp.Version20250618, `"title":"`+s+`",`, "") }
		annotations := `"annotations":{"audience":["user"],"priority":0.5` +
			c.since(mcp.Version20250618, `,"lastModified":"2025-01-12T15:00:58Z"`, "") + `}`
		icons := c.since(mcp.Version20251125, `,"icons":[{"src":"https://example.com/a.png"}]`, "")
		cache := c.since(mcp.Version20260728, `"ttlMs":0,"cacheScope":"public",`, "")

		want := `{` + cache + `"resources":[{` + meta + `"uri":"test://a","name":"a",` + title("A") +
			`"description":"d","mimeType":"text/plain",` + annotations + `,"size":7` + icons +
			`},{"uri":"test://b","name":"b"}]}`
		if got := c.result("resources/list", ""); got != want {
			t.Errorf("the resources are\n%s, want\n%s", got, want)
		}
		want = `{` + cache + `"resourceTemplates":[{` + meta + `"uriTemplate":"test://user/{id}","name":"user",` +
			title("U") +
			`"description":"d","mimeType":"application/json",` + annotations + icons + `}]}`
		if got := c.result("resources/templates/list", ""); got != want {
			t.Errorf("the templates are\n%s, want\n%s", got, want)
		}
	})
}

func TestResourcesAreReadInEachRevision(t *testing.T) {
	inEachRevision(t, library, func(t *testing.T, c *talk) {
		cache := c.since(mcp.Version20260728, `"ttlMs":0,"cacheScope":"private",`, "")
		for uri, want := range map[string]string{
			"test://a": `{"uri":"test://a","mimeType":"text/plain","text":"test://a map[]"}`,
			"test://b": `{"uri":"test://b","text":"test://b map[]"}`,
			"test://user/x%2Fy": `{"uri":"test://user/x%2Fy","mimeType":"application/json","text":"test://user/x%2Fy ` +
				`map[id:x/y]"}`,
			"test://user/": `{"uri":"test://user/","mimeType":"application/json","text":"test://user/ map[id:]"}`,
		} {
			if got := c.result("resources/read", `"uri":"`+uri+`"`); got != `{`+cache+`"contents":[`+want+`]}` {
				t.Errorf("%s reads %s, want in it %s", uri, got, want)
			}
		}
		for params, want := range map[string]string{
			``:        "-32602 params.uri is missing, empty or not a string",
			`"uri":7`: "-32602 params.uri is missing, empty or not a string",
		} {
			if got := c.refused("resources/read", params); got != want {
				t.Errorf("{%s} is refused with %s, want %s", params, got, want)
			}
		}
	})
}

func TestMissingResourceErrorFollowsRevision(t *testing.T) {
	missing := func(t *testing.T) *mcpserver.Server {
		s := library(t)
		must(t, s.AddResource(&mcp.Resource{URI: "test://nil", Name: "x"}, reading(nil, nil)))
		must(t, s.AddResource(&mcp.Resource{URI: "test://said", Name: "x"},
			reading(nil, fmt.Errorf("no: %w", mcpserver.ResourceNotFound("test://other")))))
		return s
	}
	inEachRevision(t, missing, func(t *testing.T, c *talk) {
		code := int64(mcp.CodeResourceNotFound)
		if c.version.Era() == mcp.Modern {
			code = mcp.CodeInvalidParams
		}
		for uri, named := range map[string]string{"test://nobody": "test://nobody", "test://nil": "test://nil",
			"test://said": "test://other"} {
			m := c.ask("resources/read", `"uri":"`+uri+`"`)
			if m.Error == nil || m.Error.Code != code || m.Error.Message != "resource not found" ||
				string(m.Error.Data) != `{"uri":"`+named+`"}` {
				t.Errorf("%s got %+v %+v, want the code %d and the URI", uri, m, m.Error, code)
			}
		}
	})
}

func TestResourceReadSendsOnlyMCPErrorsToClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, mcpserver.Options{})
		must(t, s.AddResource(&mcp.Resource{URI: "test://secret", Name: "x"}, reading(nil, errors.New("password in it"))))
		must(t, s.AddResource(&mcp.Resource{URI: "test://own", Name: "x"}, reading(nil, &mcp.Error{Code: 5, Message: "m"})))
		must(t, s.AddResource(&mcp.Resource{URI: "test://null", Name: "x"},
			reading(&mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{nil}}, nil)))
		c := speak(t, s, mcp.Version20251125)
		for uri, want := range map[string]string{"test://secret": "-32603 internal error", "test://own": "5 m",
			"test://null": "-32603 internal error"} {
			if got := c.refused("resources/read", `"uri":"`+uri+`"`); got != want {
				t.Errorf("%s is refused with %s, want %s", uri, got, want)
			}
		}
		c.bye()
	})
}

func TestResourceContentsFollowRevision(t *testing.T) {
	shared := &mcp.ReadResourceResult{
		Result:    mcp.Result{Meta: mcp.Meta(`{"r":1}`)},
		CacheHint: mcp.CacheHint{TTLMs: new(int64(1500)), CacheScope: mcp.CachePublic},
		Contents: []*mcp.ResourceContents{
			{URI: "test://x/1", MIMEType: "text/css", Text: "t", Meta: mcp.Meta(`{"c":1}`)}, {Blob: new("AAAA")},
		},
	}
	inEachRevision(t, func(t *testing.T) *mcpserver.Server {
		s := bare(t, mcpserver.Options{Cache: mcpserver.Cache{TTL: time.Hour}})
		must(t, s.AddResource(&mcp.Resource{URI: "test://x", Name: "x", MIMEType: "text/plain"}, reading(shared, nil)))
		must(t, s.AddResource(&mcp.Resource{URI: "test://old", Name: "x"},
			reading(&mcp.ReadResourceResult{CacheHint: mcp.CacheHint{TTLMs: new(int64(-1))}}, nil)))
		return s
	}, func(t *testing.T, c *talk) {
		meta := c.since(mcp.Version20260728, `{"r":1,"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}}`,
			`{"r":1}`)
		want := `{"_meta":` + meta + `,` + c.since(mcp.Version20260728, `"ttlMs":1500,"cacheScope":"public",`, "") +
			`"contents":[{` + c.since(mcp.Version20250618, `"_meta":{"c":1},`,
			"") + `"uri":"test://x/1","mimeType":"text/css","text":"t"},` +
			`{"uri":"test://x","mimeType":"text/plain","blob":"AAAA"}]}`
		if got := c.result("resources/read", `"uri":"test://x"`); got != want {
			t.Errorf("it reads\n%s, want\n%s", got, want)
		}
		want = `{` + c.since(mcp.Version20260728, `"ttlMs":0,"cacheScope":"private",`, "") + `"contents":[]}`
		if got := c.result("resources/read", `"uri":"test://old"`); got != want {
			t.Errorf("it reads\n%s, want\n%s", got, want)
		}
	})
	if shared.Contents[1].URI != "" || shared.Contents[0].Meta == nil || shared.ResultType != "" {
		t.Errorf("the handler's result has become %+v, want it as it was", shared.Contents)
	}
}

func TestReadPrefersResourceThenFirstMatchingTemplate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		says := func(text string) mcpserver.ResourceHandler {
			return reading(&mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: text}}}, nil)
		}
		s := bare(t, mcpserver.Options{})
		must(t, s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://{+all}", Name: "x"}, says("all")))
		must(t, s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://{one}", Name: "x"}, says("one")))
		must(t, s.AddResource(&mcp.Resource{URI: "test://it", Name: "x"}, says("it")))
		c := speak(t, s, mcp.Version20251125)
		expect := func(want string) {
			t.Helper()
			if got := c.result("resources/read", `"uri":"test://it"`); !strings.Contains(got, `"text":"`+want+`"`) {
				t.Errorf("it reads %s, want that %s was asked", got, want)
			}
		}
		expect("it")
		s.RemoveResources("test://it")
		expect("all")
		s.RemoveResourceTemplates("test://{+all}")
		expect("one")
		time.Sleep(time.Second)
		if out := c.taken(); len(out) != 1 || decoded(t, out[0]).Method != mcp.NotificationResourceListChanged {
			t.Errorf("the server sent %q, want once that the list has changed", out)
		}
		c.bye()
	})
}

// The lists depend neither on the connection nor on earlier requests of the connection.
// (specification 2026-07-28, server/tools, "Capabilities"; server/resources, "Capabilities")
func TestListsAreSameForAllConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := library(t)
		must(t, s.AddTool(&mcp.Tool{Name: "echo"}, echo))
		fresh, used := speak(t, s, mcp.Version20260728), speak(t, s, mcp.Version20260728)
		used.result("tools/call", `"name":"echo","arguments":{}`)
		used.result("resources/read", `"uri":"test://a"`)
		used.refused("tools/call", `"name":"nobody"`)
		for _, method := range []string{"tools/list", "resources/list", "resources/templates/list"} {
			first := used.result(method, "")
			if again, other := used.result(method, ""), fresh.result(method, ""); again != first || other != first {
				t.Errorf("%s got\n%s, then\n%s, and on another connection\n%s, want the same", method, first, again, other)
			}
		}
		fresh.bye()
		used.bye()
	})
}

func TestInvalidResourcesAreRejected(t *testing.T) {
	s := library(t)
	for want, r := range map[string]*mcp.Resource{
		"add resource: no resource":                                      nil,
		`add resource: "" is not a URI with a scheme`:                    {Name: "x"},
		`add resource: "a/b" is not a URI with a scheme`:                 {URI: "a/b", Name: "x"},
		`add resource: "1a://b" is not a URI with a scheme`:              {URI: "1a://b", Name: "x"},
		`add resource: "a_b://c" is not a URI with a scheme`:             {URI: "a_b://c", Name: "x"},
		"add resource test://x: no name":                                 {URI: "test://x"},
		"add resource test://a: a resource with this URI already exists": {URI: "test://a", Name: "x"},
	} {
		wantError(t, s.AddResource(r, readText), want)
	}
	if s.AddResource(&mcp.Resource{URI: "test://x", Name: "x", Meta: mcp.Meta("{x")}, readText) == nil {
		t.Error("a resource with a _meta that is not JSON was added, want an error")
	}
	wantError(t, s.AddResource(&mcp.Resource{URI: "test://x", Name: "x"}, nil), "add resource test://x: no handler")
	for want, r := range map[string]*mcp.ResourceTemplate{
		"add resource template: no template":        nil,
		"add resource template: no URI template":    {Name: "x"},
		"add resource template test://{x}: no name": {URITemplate: "test://{x}"},
		"add resource template test://user/{id}: a template with this URI already exists": {
			URITemplate: "test://user/{id}", Name: "x"},
		"add resource template test://{a}/{a}: the variable a occurs twice": {URITemplate: "test://{a}/{a}", Name: "x"},
	} {
		wantError(t, s.AddResourceTemplate(r, readText), want)
	}
	for _, broken := range []string{"test://{", "test://{}", "test://{a b}", "test://{=a}"} {
		if err := s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: broken, Name: "x"}, readText); err == nil {
			t.Errorf("%s was added, want an error", broken)
		}
	}
	wantError(t, s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "x://{a}", Name: "x"}, nil),
		"add resource template x://{a}: no handler")
	other := bare(t, mcpserver.Options{})
	must(t, other.HandleRequest(mcp.MethodReadResource,
		func(context.Context, *mcpserver.Request) (any, error) { return nil, nil }))
	wantError(t, other.AddResource(&mcp.Resource{URI: "test://x", Name: "x"}, readText),
		"add resource test://x: resources/list or a related method already has a handler")
}

func TestAddResourceCopiesResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &mcp.Resource{URI: "test://a", Name: "before", Annotations: &mcp.Annotations{Priority: new(0.5)},
			Size: new(int64(1)), Meta: mcp.Meta(`{"k":1}`)}
		s := bare(t, mcpserver.Options{})
		must(t, s.AddResource(r, readText))
		r.Name, *r.Annotations.Priority, *r.Size = "after", 1, 2
		copy(r.Meta, `{"k":2}`)
		c := speak(t, s, mcp.Version20251125)
		want := `{"resources":[{"_meta":{"k":1},"uri":"test://a","name":"before","annotations":{"priority":0.5},"size":1}]}`
		if got := c.result("resources/list", ""); got != want {
			t.Errorf("the list is %s, want it as it was added: %s", got, want)
		}
		c.bye()
	})
}

func TestAddedFeaturesAreDeclared(t *testing.T) {
	for _, v := range mcp.SupportedVersions() {
		synctest.Test(t, func(t *testing.T) {
			s := library(t)
			must(t, s.AddPrompt(&mcp.Prompt{Name: "p"}, saying(nil, nil)))
			must(t, s.AddCompletion(mcp.CompleteRef{Type: mcp.RefPrompt, Name: "p"}, "a", completing("x")))
			w := serve(t, t.Context(), s)
			if v.Era() == mcp.Modern {
				w.send(asked(1, "server/discover", bothMetas, ""))
			} else {
				w.send(initializeAs(string(v)))
			}
			want := `"capabilities":{"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true}`
			if v >= mcp.Version20250326 {
				want += `,"completions":{}`
			}
			if m := w.reply(t); !strings.Contains(string(m.Result), want+"}") {
				t.Errorf("in %s the result is %s, want it to contain %s", v, m.Result, want)
			}
			must(t, w.finish())
		})
	}
}

func TestServerMayDeclareFeaturesInAdvance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var declared mcp.ResourcesCapability
		s := bare(t, mcpserver.Options{Capabilities: mcp.ServerCapabilities{
			Resources: &declared, Prompts: new(mcp.ListCapability), Completions: mcp.Object{},
		}})
		c := speak(t, s, mcp.Version20251125)
		if declared.Subscribe || declared.ListChanged {
			t.Errorf("the capability of the options has become %+v, want it left alone", declared)
		}
		for method, want := range map[string]string{
			"resources/list": `{"resources":[]}`, "resources/templates/list": `{"resourceTemplates":[]}`,
			"prompts/list": `{"prompts":[]}`,
		} {
			if got := c.result(method, ""); got != want {
				t.Errorf("%s got %s, want %s", method, got, want)
			}
		}
		must(t, s.AddResource(&mcp.Resource{URI: "test://a", Name: "a"}, readText))
		time.Sleep(time.Second)
		if out := c.taken(); len(out) != 1 || decoded(t, out[0]).Method != mcp.NotificationResourceListChanged {
			t.Errorf("the server sent %q, want that the list has changed", out)
		}
		c.bye()
	})
}

func TestResourcesOverHTTP(t *testing.T) {
	w := serveWeb(t, library(t), nil)
	p := w.post(asked(1, "resources/read", bothMetas, `"uri":"test://user/7"`),
		modernHeaders("resources/read", "test://user/7")...)
	if p.status != http.StatusOK || !strings.Contains(p.body, `map[id:7]`) {
		t.Errorf("a read got %d with %s, want the contents", p.status, p.body)
	}
	p = w.post(asked(1, "resources/read", bothMetas, `"uri":"test://user/7"`),
		modernHeaders("resources/read", "test://user/8")...)
	if p.status != http.StatusBadRequest || !strings.Contains(p.body, "-32020") {
		t.Errorf("a read whose header names another URI got %d with %s, want it refused", p.status, p.body)
	}
	p = w.post(asked(1, "resources/read", bothMetas, `"uri":"test://nobody"`),
		modernHeaders("resources/read", "test://nobody")...)
	if !strings.Contains(p.body, `"error":{"code":-32602,"message":"resource not found","data":{"uri":"test://nobody"}}`) {
		t.Errorf("a read of nothing got %d with %s, want an error", p.status, p.body)
	}
}

func TestSpansOfReadsCarryTheURI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		s := bare(t, mcpserver.Options{Telemetry: rec.Telemetry()})
		must(t, s.AddResource(&mcp.Resource{URI: "test://a", Name: "a"}, readText))
		c := speak(t, s, mcp.Version20251125)
		c.result("resources/read", `"uri":"test://a"`)
		for _, a := range rec.Span("resources/read").Attributes() {
			if a.Key == "mcp.resource.uri" && a.Value.AsString() == "test://a" {
				c.bye()
				return
			}
		}
		t.Error("the span has no mcp.resource.uri, want test://a")
		c.bye()
	})
}
