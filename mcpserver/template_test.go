package mcpserver

import (
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yosida95/uritemplate/v3"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
)

func compiled(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) *template {
	t.Helper()
	made := &template{ResourceTemplate: &mcp.ResourceTemplate{URITemplate: text}}
	if err := made.compile(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return made
}

func TestTemplatesMatchWhatTheyCanBeExpandedTo(t *testing.T) {
	type vars = map[string]string
	for _, tt := range []struct {
		template, uri string
		want          vars // nil for no match
	}{
		{"test://template/{id}/data", "test://template/123/data", vars{"id": "123"}},
		{"test://template/{id}/data", "test://template/a%2Fb/data", vars{"id": "a/b"}},
		{"test://template/{id}/data", "test://template//data", vars{"id": ""}},
		{"test://template/{id}/data", "test://template/a/b/data", nil},
		{"test://template/{id}/data", "test://template/1/data/", nil},
		{"test://template/{id}/data", "xtest://template/1/data", nil},
		{"test://template/{id}/data", "test://template/1/data\n", nil},
		{"test://{id}", "test://a b", nil},
		{"test://{id}", "test://a%zz", nil},
		{"test://{id}", "test://%C3%A9%0A", vars{"id": "é\n"}},
		{"test://{a}.{b}", "test://x.y", vars{"a": "x", "b": "y"}},
		{"file:///{+path}", "file:///a/b,c/d.txt", vars{"path": "a/b,c/d.txt"}},
		{"file:///{+path}", "file:///%2e%2e/x", vars{"path": "../x"}},
		{"file://{/path*}", "file:///a/b%2Fc", vars{"path": "a/b/c"}},
		{"x://a{.labels*}", "x://a.b.c", vars{"labels": "b.c"}},
		{"x://{list*}", "x://1,2,3", vars{"list": "1,2,3"}},
		{"x://{a,b}", "x://1,2", vars{"a": "1", "b": "2"}},
		{"x://s{?q,lang}", "x://s?q=foo&lang=en", vars{"q": "foo", "lang": "en"}},
		{"x://s{?q,lang}", "x://s?lang=en", vars{"lang": "en"}},
		{"x://s{?q,lang}", "x://s", vars{}},
		{"x://s{?q,lang}", "x://s?other=1", nil},
		{"x://s{?q*}", "x://s?q=1&q=2", vars{"q": "1,2"}},
		{"x://s{;p}{?q}{&r}{#f}", "x://s;p=1?q=2&r=3#4", vars{"p": "1", "q": "2", "r": "3", "f": "4"}},
		{"x://{a:3}", "x://abc", vars{"a": "abc"}},
		{"x://{a:3}/{a}", "x://abc/abcdef", vars{"a": "abcdef"}},
		{"{a}", "?", nil},
		{"x://none", "x://none", vars{}},
		{"x://none", "x://none/", nil},
		{"x://{id}", "x://" + strings.Repeat("a", maxURI-4), vars{"id": strings.Repeat("a", maxURI-4)}},
		{"x://{id}", "x://" + strings.Repeat("a", maxURI-3), nil},
		{"x://{id}", "x://1" + strings.Repeat(",", maxParts), vars{"id": "1" + strings.Repeat(",", maxParts)}},
		{"x://{id}", "x://1" + strings.Repeat(",", maxParts+1), nil},
		{"x://{id*}", "x://1" + strings.Repeat(",", maxParts+1), nil},
		{"x:/{/id*}", "x://1" + strings.Repeat("/", maxParts), nil},
		{"x:/{.id*}", "x:/.1" + strings.Repeat(".", maxParts), nil},
		{"x:/{?id*}", "x:/?id=1" + strings.Repeat("&id=", maxParts+1), nil},
		{"x:/{;id*}", "x:/;id=1" + strings.Repeat(";id=", maxParts+1), nil},
		{"x://{+id}", "x://1" + strings.Repeat("/", 2*maxParts), vars{"id": "1" + strings.Repeat("/", 2*maxParts)}},
		{"x,,://{id}", "x,,://1" + strings.Repeat(",", maxParts), vars{"id": "1" + strings.Repeat(",", maxParts)}},
	} {
		got, ok := compiled(t, tt.template).match(tt.uri)
		if ok != (tt.want != nil) || !maps.Equal(got, tt.want) {
			t.Errorf("%s holds %.40s for %.80v, %v, want %.80v", tt.template, tt.uri, got, ok, tt.want)
		}
	}
}

// TestExpansionsMatchTheirTemplate expands templates with one value for each variable.
func TestExpansionsMatchTheirTemplate(t *testing.T) {
	templates := []string{
		"x://h/{a}/{b}", "x://h/{a}/m/{+b}", "x://h{/a,b}", "x://h{.a}/{b}", "x://h{?a,b}", "x://h{;a}{?b}", "x://h/{a}{#b}",
		"x://h/{a}?k=1{&b}",
	}
	value := rapid.StringMatching(`[a-z0-9 _~/,.%=&?#-]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		made := compiled(t, rapid.SampledFrom(templates).Draw(t, "template"))
		want := map[string]string{"a": value.Draw(t, "a"), "b": value.Draw(t, "b")}
		uri, err := made.parsed.Expand(uritemplate.Values{"a": uritemplate.String(want["a"]),
			"b": uritemplate.String(want["b"])})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := made.match(uri); !ok || !maps.Equal(got, want) {
			t.Fatalf("%s holds %s for %q, %v, want %q", made.URITemplate, uri, got, ok, want)
		}
	})
}

// FuzzTemplates holds any URI against any template: none may bring the server down, and what the quick look sorts out
// must be no match.
func FuzzTemplates(f *testing.F) {
	f.Add("x://{a}/{b:2}{?c*,d}{&e}", "x://1/23?c=4&c=5&d=&e=6")
	f.Add("{+a}{/b*}{.c}{;d}{#e}", "p/q/r.s;d=1#%41,")
	f.Add("x://{a,b,c}{x:9}", "x://1,2,3,%C3%A9")
	f.Add("{0}{1}{2}", "Î")
	f.Fuzz(func(t *testing.T, text, uri string) {
		if len(text) > 200 || len(uri) > 200 {
			return
		}
		made := &template{ResourceTemplate: &mcp.ResourceTemplate{URITemplate: text}}
		if made.compile() != nil {
			return
		}
		values, ok := made.match(uri)
		// which holds any single character for nothing
		if !ok && utf8.RuneCountInString(uri) > 1 && made.parsed.Match(uri) != nil {
			t.Errorf("%q does not hold %q, want it: it can be expanded to that", text, uri)
		}
		for name := range values {
			if !made.has(name) {
				t.Errorf("%q holds %q with %s, which is none of its variables", text, uri, name)
			}
		}
	})
}
