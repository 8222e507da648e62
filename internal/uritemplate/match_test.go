package uritemplate

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	rfc6570 "github.com/yosida95/uritemplate/v3"
	"pgregory.net/rapid"
)

func parsed(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) *Template {
	t.Helper()
	made, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return made
}

func TestMatchExtractsVariables(t *testing.T) {
	type vars = map[string]string
	for _, tt := range []struct {
		template, uri string
		want          vars // nil for no match
	}{
		{"test://template/{id}/data", "test://template/123/data", vars{"id": "123"}},
		{"test://template/{id}/data", "test://template/a%2Fb/data", vars{"id": "a/b"}},
		{"test://template/{id}/data", "test://template/a%2fb/data", vars{"id": "a/b"}},
		{"test://template/{id}/data", "test://template//data", vars{"id": ""}},
		{"test://template/{id}/data", "test://template/a/b/data", nil},
		{"test://template/{id}/data", "test://template/1/data/", nil},
		{"test://template/{id}/data", "xtest://template/1/data", nil},
		{"test://template/{id}/data", "test://template/1/data\n", nil},
		{"test://{id}", "test://a b", nil},
		{"test://{id}", "test://a%zz", nil},
		{"test://{id}", "test://a%", nil},
		{"test://{id}", "test://%C3%A9%0A", vars{"id": "é\n"}},
		{"test://{id}", "test://é", vars{"id": "é"}},
		{"test://{id}", "test://%é", nil},
		{"file:///docs/café/{name}", "file:///docs/caf%C3%A9/a", vars{"name": "a"}},
		{"file:///docs/café/{name}", "file:///docs/caf%c3%a9/a", vars{"name": "a"}},
		{"file:///docs/café/{name}", "file:///docs/café/a", vars{"name": "a"}},
		{"file:///docs/caf%C3%A9/{name}", "file:///docs/café/a", vars{"name": "a"}},
		{"file:///docs/cafe/{name}", "file:///docs/café/a", nil},
		{"test://{a}.{b}", "test://x.y", vars{"a": "x", "b": "y"}},
		{"file:///{+path}", "file:///a/b,c/d.txt", vars{"path": "a/b,c/d.txt"}},
		{"file:///{+path}", "file:///%2e%2e/x", vars{"path": "../x"}},
		{"file://{/path*}", "file:///a/b%2Fc", vars{"path": "a/b/c"}},
		{"file://{/path*}", "file://", vars{}},
		{"file://{/path}", "file:///a/b", nil},
		{"x://a{.labels*}", "x://a.b.c", vars{"labels": "b.c"}},
		{"x://{list*}", "x://1,2,3", vars{"list": "1,2,3"}},
		{"x://{map*}", "x://a=1,b=2", vars{"map": "a=1,b=2"}},
		{"x://{map}", "x://a=1", nil},
		{"x://{a,b}", "x://1,2", vars{"a": "1", "b": "2"}},
		{"x://{a,b}", "x://1,2,3", vars{"a": "1", "b": "2,3"}},
		{"x://{a,b}", "x://1", vars{"a": "1"}},
		{"x://s{?q,lang}", "x://s?q=foo&lang=en", vars{"q": "foo", "lang": "en"}},
		{"x://s{?q,lang}", "x://s?lang=en", vars{"lang": "en"}},
		{"x://s{?q,lang}", "x://s?q=", vars{"q": ""}},
		{"x://s{?q,lang}", "x://s", vars{}},
		{"x://s{?q,lang}", "x://s?other=1", nil},
		{"x://s{?q,lang}", "x://s?q=1lang=2", nil},
		{"x://s{?q,lang}", "x://s?q=1&q=2", nil},
		{"x://s{?q*}", "x://s?q=1&q=2", vars{"q": "1,2"}},
		{"x://s{?q*,r}", "x://s?q=1&q=2&r=3", vars{"q": "1,2", "r": "3"}},
		{"x://s{;p,q}", "x://s;p;q=1", vars{"p": "", "q": "1"}},
		{"x://s{;p*}", "x://s;p=1;p;p=3", vars{"p": "1,,3"}},
		{"x://s{;p}", "x://s;px", nil},
		{"x://s{;p}{?q}{&r}{#f}", "x://s;p=1?q=2&r=3#4", vars{"p": "1", "q": "2", "r": "3", "f": "4"}},
		{"x://{a:3}", "x://abc", vars{"a": "abc"}},
		{"x://{a:3}", "x://%E2%82%AC%C3%A9%C3%A9", vars{"a": "€éé"}},
		{"x://{a:3}", "x://abcd", nil},
		{"x://{a:3}/{a}", "x://abc/abcdef", vars{"a": "abcdef"}},
		{"x://{a}/{a:3}", "x://abcdef/abc", vars{"a": "abcdef"}},
		{"x://{a}", "x://%FF%C3", vars{"a": "\xff\xc3"}},
		{"x://{a}", "x://%C3\xa9", vars{"a": "é"}},
		{"x://{a}", "x://\U0010F841", nil},
		{"x://{a}", "x://%F4%8F%A1%81", nil},
		{"{a}", "?", nil},
		{"x://none", "x://none", vars{}},
		{"x://none", "x://none/", nil},
		{"x://{id}", "x://" + strings.Repeat("a", MaxURI-4), vars{"id": strings.Repeat("a", MaxURI-4)}},
		{"x://{id}", "x://" + strings.Repeat("a", MaxURI-3), nil},
	} {
		got, ok := parsed(t, tt.template).Match(tt.uri)
		if ok != (tt.want != nil) || !maps.Equal(got, tt.want) {
			t.Errorf("%s holds %.40s for %.80v, %v, want %.80v", tt.template, tt.uri, got, ok, tt.want)
		}
	}
}

func TestInvalidTemplatesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"x://{":          "incomplete expression",
		"x://{}":         "unacceptable variable name",
		"x://{=a}":       "unimplemented operator",
		"x://{a:65}":     "the prefix a:65 is longer than the limit of 64 characters",
		"x://\U0010F8FF": "characters from U+10F800 to U+10F8FF",
		"{a}/{?a}":       "the variable a occurs twice",
		"{a:3,a:3}":      "the variable a:3 occurs twice",
		"x://{?a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q}": "has 17 variables, more than the limit of 16",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

// anyTemplate draws a template with the variables a to d. If lists is true, some of them are exploded; the second
// result has their names.
func anyTemplate(t *rapid.T, lists bool) (text, exploded string) {
	names := []string{"a", "b", "c", "d"}
	text = "x://h"
	for len(names) > 0 {
		n := rapid.IntRange(1, len(names)).Draw(t, "n")
		operator := rapid.SampledFrom([]string{"", "+", "#", ".", "/", ";", "?", "&"}).Draw(t, "operator")
		var specs []string
		for _, name := range names[:n] {
			if lists && rapid.IntRange(0, 3).Draw(t, "exploded") == 0 {
				exploded += name
				name += "*"
			}
			specs = append(specs, name)
		}
		text += rapid.SampledFrom([]string{"", "/", "é", "/m/"}).Draw(t, "literal") +
			"{" + operator + strings.Join(specs, ",") + "}"
		names = names[n:]
	}
	return text, exploded
}

// TestTemplatesMatchTheirExpansions expands any template by any values with another implementation.
func TestTemplatesMatchTheirExpansions(t *testing.T) {
	value := rapid.StringMatching(`[a-z0-9é _~/,.%=&?#-]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		text, exploded := anyTemplate(t, true)
		values := rfc6570.Values{}
		for _, name := range []string{"a", "b", "c", "d"} {
			switch given := rapid.IntRange(0, 3).Draw(t, "given"); {
			case given == 0:
			case strings.Contains(exploded, name):
				values[name] = rfc6570.List(rapid.SliceOfN(value, 1, 3).Draw(t, name)...)
			default:
				values[name] = rfc6570.String(value.Draw(t, name))
			}
		}
		expanded, err := rfc6570.MustNew(text).Expand(values)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := parsed(t, text).Match(expanded); !ok {
			t.Fatalf("%s does not match %s", text, expanded)
		}
	})
}

// TestMatchedURIsAreExpansions matches templates without lists against random URIs. If a template matches, its
// expansion with the matched values gives the same URI.
func TestMatchedURIsAreExpansions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, _ := anyTemplate(t, false)
		uri := "x://h" + rapid.StringMatching(`([/;?&#.,m]|[abcd]=?|%41|x){0,12}`).Draw(t, "uri")
		found, ok := parsed(t, text).Match(uri)
		if !ok {
			return
		}
		values := rfc6570.Values{}
		for name, value := range found {
			values[name] = rfc6570.String(value)
		}
		expanded, err := rfc6570.MustNew(text).Expand(values)
		if err != nil {
			t.Fatal(err)
		}
		got, err := url.PathUnescape(expanded)
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := url.PathUnescape(uri); got != want {
			t.Fatalf("%s matches %s with %v, whose expansion is %s", text, uri, found, expanded)
		}
	})
}

// TestMatchFindsExpandedValues expands templates with one value for each variable, and checks that Match finds the same
// values. Every template has separators between its variables. The implementation that expands writes é as %E9, so no
// value contains é.
func TestMatchFindsExpandedValues(t *testing.T) {
	templates := []string{
		"x://h/{a}/{b}", "x://h/{a}/m/{+b}", "x://h{/a,b}", "x://h{.a}/{b}", "x://h{?a,b}", "x://h{;a}{?b}", "x://h/{a}{#b}",
		"x://h/{a}?k=1{&b}", "x://é{a}/ü{b}",
	}
	value := rapid.StringMatching(`[a-z0-9 _~/,.%=&?#-]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(templates).Draw(t, "template")
		want := map[string]string{"a": value.Draw(t, "a"), "b": value.Draw(t, "b")}
		uri, err := rfc6570.MustNew(text).Expand(rfc6570.Values{"a": rfc6570.String(want["a"]),
			"b": rfc6570.String(want["b"])})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := parsed(t, text).Match(uri); !ok || !maps.Equal(got, want) {
			t.Fatalf("%s holds %s for %q, %v, want %q", text, uri, got, ok, want)
		}
	})
}

// FuzzTemplates checks that matching any URI against any template does not panic.
func FuzzTemplates(f *testing.F) {
	f.Add("x://{a}/{b:2}{?c*,d}{&e}", "x://1/23?c=4&c=5&d=&e=6")
	f.Add("{+a}{/b*}{.c}{;d}{#e}", "p/q/r.s;d=1#%41,")
	f.Add("x://{a,b,c}{x:9}", "x://1,2,3,%C3%A9")
	f.Add("{0}{1}{2}", "Î")
	f.Fuzz(func(t *testing.T, text, uri string) {
		if len(text) > 200 || len(uri) > 200 {
			return
		}
		made, err := Parse(text)
		if err != nil {
			return
		}
		values, _ := made.Match(uri)
		for name := range values {
			if !made.Has(name) {
				t.Errorf("%q holds %q with %s, which is none of its variables", text, uri, name)
			}
		}
	})
}

var hostile = []string{"{+a}", "{a}{b}{c}{d}", "{a,b,c,d,e,f}", "{+a}/{+b}/{+c}", "{/a*}{?b*,c,d}", "{a:64}{b:64}",
	"{?a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p}", "{#a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p}"}

// BenchmarkMatch matches long URIs of one repeated character against templates that can match them in many ways.
func BenchmarkMatch(b *testing.B) {
	for _, text := range append(hostile, "/docs/{id}") {
		made, err := Parse("x://" + text + "!")
		if err != nil {
			b.Fatal(err)
		}
		for _, fill := range []string{",", "a", "%41", "/docs/1"} {
			uri := "x://" + strings.Repeat(fill, max(1, (MaxURI-4)/len(fill)))
			b.Run(fmt.Sprintf("%s/%s", strings.NewReplacer("/", "|").Replace(text), fill[:1]), func(b *testing.B) {
				for b.Loop() {
					made.Match(uri)
				}
			})
		}
	}
}
