package challenge

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type params = map[string]string

func TestParse(t *testing.T) {
	const prm = "https://mcp.example.com/.well-known/oauth-protected-resource"
	tests := map[string]struct {
		fields []string
		want   []Challenge
	}{
		"no field": {nil, nil},
		"empty":    {[]string{"", " , ,, "}, nil},
		"scheme alone": {
			[]string{"Bearer"}, []Challenge{{Scheme: "bearer", Params: params{}}},
		},
		"the specification's example": {
			[]string{`Bearer resource_metadata="` + prm + `", scope="files:read files:write"`},
			[]Challenge{{Scheme: "bearer", Params: params{"resource_metadata": prm, "scope": "files:read files:write"}}},
		},
		"names in any case": {
			[]string{`bEARER Error="invalid_token", REALM=x`},
			[]Challenge{{Scheme: "bearer", Params: params{"error": "invalid_token", "realm": "x"}}},
		},
		"several in one field": {
			[]string{`Basic realm="a, b", DPoP algs="ES256 PS256", error="use_dpop_nonce", Bearer`},
			[]Challenge{
				{Scheme: "basic", Params: params{"realm": "a, b"}},
				{Scheme: "dpop", Params: params{"algs": "ES256 PS256", "error": "use_dpop_nonce"}},
				{Scheme: "bearer", Params: params{}},
			},
		},
		"several fields": {
			[]string{"Negotiate", "Bearer scope=a"},
			[]Challenge{{Scheme: "negotiate", Params: params{}}, {Scheme: "bearer", Params: params{"scope": "a"}}},
		},
		"a challenge ends with its field": {
			[]string{"Bearer", "scope=a"},
			[]Challenge{{Scheme: "bearer", Params: params{}}},
		},
		"token68": {
			[]string{`Negotiate YII+/~._-==, Bearer scope="x"`},
			[]Challenge{
				{Scheme: "negotiate", Token68: "YII+/~._-==", Params: params{}},
				{Scheme: "bearer", Params: params{"scope": "x"}},
			},
		},
		"escapes in quotes": {
			[]string{`Bearer error_description="say \"no\" \\ \x, now"`},
			[]Challenge{{Scheme: "bearer", Params: params{"error_description": `say "no" \ x, now`}}},
		},
		"blanks around =": {
			[]string{"Bearer \t scope = \"a\" ,\terror\t=\tb"},
			[]Challenge{{Scheme: "bearer", Params: params{"scope": "a", "error": "b"}}},
		},
		"URL without quotes": {
			[]string{"Bearer resource_metadata=" + prm + "?a=b, scope=x"},
			[]Challenge{{Scheme: "bearer", Params: params{"resource_metadata": prm + "?a=b", "scope": "x"}}},
		},
		"missing commas": {
			[]string{`Bearer error="invalid_token" resource_metadata="` + prm + `" scope=x`},
			[]Challenge{{Scheme: "bearer", Params: params{"error": "invalid_token", "resource_metadata": prm, "scope": "x"}}},
		},
		"scopes without quotes": {
			[]string{`Bearer scope=a b c, error=x`},
			[]Challenge{{Scheme: "bearer", Params: params{"scope": "a", "error": "x"}}},
		},
		"empty elements": {
			[]string{`,, Bearer ,, scope=a,,, error=b,`},
			[]Challenge{{Scheme: "bearer", Params: params{"scope": "a", "error": "b"}}},
		},
		"a repeated parameter": {
			[]string{`Bearer scope="a", Scope="b"`},
			[]Challenge{{Scheme: "bearer", Params: params{"scope": "a"}}},
		},
		"quote without end": {
			[]string{`Bearer error=x, scope="a, b`},
			[]Challenge{{Scheme: "bearer", Params: params{"error": "x"}}},
		},
		"parameters without a challenge": {
			[]string{`scope=a, "quoted, Bearer x", Bearer error=x`},
			[]Challenge{{Scheme: "bearer", Params: params{"error": "x"}}},
		},
		"an invalid scheme has no parameters": {
			[]string{`Bearer"x" scope=a, error=b, DPoP algs=ES256`},
			[]Challenge{{Scheme: "dpop", Params: params{"algs": "ES256"}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Parse(http.Header{"Www-Authenticate": tt.fields})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Parse(%q), want - got +:\n%s", tt.fields, diff)
			}
		})
	}
}

func TestParseLimitsChallengesAndParameters(t *testing.T) {
	all := Parse(http.Header{"Www-Authenticate": {strings.Repeat("A, ", 1000), "Bearer " + strings.Repeat("a=b, ", 10)}})
	if len(all) != maxChallenges {
		t.Errorf("of 1,001 challenges %d were kept, want %d", len(all), maxChallenges)
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "p%d=1,", i)
	}
	all = Parse(http.Header{"Www-Authenticate": {"Bearer " + many.String()}})
	if n := len(all[0].Params); n != maxParams {
		t.Errorf("of 1,000 parameters %d were kept, want %d", n, maxParams)
	}
}

func TestFindReturnsTheFirstOfAScheme(t *testing.T) {
	all := Parse(http.Header{"Www-Authenticate": {"Basic, Bearer scope=1", "Bearer scope=2"}})
	if c, ok := Find(all, "bearer"); !ok || c.Params["scope"] != "1" {
		t.Errorf("Find(bearer) = %v, %v, want the first one", c, ok)
	}
	if c, ok := Find(all, "dpop"); ok {
		t.Errorf("Find(dpop) = %v, want none", c)
	}
}

// TestEncodedChallengesParse writes random challenges by the grammar of RFC 9110.
func TestEncodedChallengesParse(t *testing.T) {
	token := rapid.StringMatching("[a-z!#$%&'*+.^_`|~-][a-z0-9!#$%&'*+.^_`|~-]{0,8}")
	value := rapid.StringOf(rapid.RuneFrom([]rune("abc \t,=\"\\:/?é")))
	rapid.Check(t, func(t *rapid.T) {
		var want []Challenge
		var field strings.Builder
		for i := range rapid.IntRange(0, 4).Draw(t, "challenges") {
			if i > 0 {
				field.WriteString(rapid.SampledFrom([]string{",", ", ", " ,\t"}).Draw(t, "comma"))
			}
			c := Challenge{Scheme: token.Draw(t, "scheme"), Params: rapid.MapOfN(token, value, 0, 3).Draw(t, "params")}
			field.WriteString(strings.ToUpper(c.Scheme) + " ")
			first := true
			for name, v := range c.Params {
				if !first {
					field.WriteString(", ")
				}
				first = false
				field.WriteString(name + `="` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(v) + `"`)
			}
			want = append(want, c)
		}
		got := Parse(http.Header{"Www-Authenticate": {field.String()}})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Parse(%q), want - got +:\n%s", field.String(), diff)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "Bearer", `Bearer realm="x", scope="a b"`, `Basic abc==, DPoP algs="ES256"`, `a="`, `a b=c d`, "Bearer =,=\"\\",
	} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		all := Parse(http.Header{"Www-Authenticate": {a, b}})
		if len(all) > maxChallenges {
			t.Fatalf("%d challenges, want at most %d", len(all), maxChallenges)
		}
		for _, c := range all {
			if c.Scheme == "" || c.Scheme != strings.ToLower(c.Scheme) || c.Params == nil {
				t.Fatalf("challenge %#v, want a scheme in lower case and parameters that are not nil", c)
			}
			for name, v := range c.Params {
				if name != strings.ToLower(name) || len(name)+len(v) > len(a)+len(b) {
					t.Fatalf("parameter %q=%q, want a name in lower case and no more text than the field has", name, v)
				}
			}
			if again := Parse(http.Header{"Www-Authenticate": {c.Scheme}}); len(again) != 1 {
				t.Fatalf("scheme %q alone is parsed as %v, want the scheme", c.Scheme, again)
			}
		}
		if whole := Parse(http.Header{"Www-Authenticate": {a}}); len(whole) > len(all) {
			t.Fatalf("a field has %d challenges alone, and %d with another field", len(whole), len(all))
		}
	})
}
