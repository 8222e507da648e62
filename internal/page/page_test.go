package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

var sample = Parse(fstest.MapFS{
	"hello.html": {Data: []byte(`{{define "hello"}}<h1 title="{{.}}">{{cut 40 .}}</h1>{{end}}`)},
}, "*.html")

func serve(t *testing.T, data string, change func(*http.Request)) *http.Response {
	t.Helper()
	r := httptest.NewRequest("GET", "http://localhost/", nil)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	if err := sample.Write(w, r, http.StatusOK, "hello", Page{Title: data, Refresh: time.Second, Data: data}); err != nil {
		t.Fatal(err)
	}
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(b.String(), "\r\n\r\n")
	return text
}

func TestPolicyAllowsOnlyTheStyleAndScriptOfThePage(t *testing.T) {
	r := serve(t, "x", nil)
	policy := r.Header.Get("Content-Security-Policy")
	text := body(t, r)
	for _, element := range []string{"style", "script"} {
		_, rest, _ := strings.Cut(text, "<"+element+">")
		content, _, found := strings.Cut(rest, "</"+element+">")
		if !found || !strings.Contains(policy, "'"+hashOf(content)+"'") {
			t.Errorf("want the hash of the sent <%s>, %s, in the policy, got %s", element, hashOf(content), policy)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("want a policy that begins with default-src 'none' and has no unsafe-…, got %s", policy)
	}
	if strings.Contains(text, " style=") || strings.Contains(text, "src=") {
		t.Errorf("want no style attributes and no external resources, got:\n%s", text)
	}
}

func TestInvisibleCharactersAreMadeVisible(t *testing.T) {
	text := body(t, serve(t, "a\x00\x1b[31m\u202eb\x9b\xff\r\u0085<script>", nil))
	for _, bad := range []string{"\x1b", "\u202e", "\u0085", "<script>a", "\x00", "\xff", "a<script>"} {
		if strings.Contains(text, bad) {
			t.Errorf("want no %q in the page", bad)
		}
	}
	if want := "␛[31m\uFFFDb\uFFFD\uFFFD"; !strings.Contains(text, want) {
		t.Errorf("want %q in the page, got:\n%s", want, text[strings.Index(text, "<main"):strings.Index(text, "</main>")])
	}
}

func TestCutTextStatesItsFullLength(t *testing.T) {
	if got, want := Cut(3, "äöüß!"), "äöü… (9 bytes in all)"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if got := Cut(9, "äöüß!"); got != "äöüß!" {
		t.Errorf("want a text of nine bytes unchanged, got %q", got)
	}
	if got := Cut(5, "äöüß!"); got != "äöüß!" {
		t.Errorf("want a text of five characters unchanged, got %q", got)
	}
	if got := string(shown([]byte("a" + strings.Repeat("\u0301", 1000)))); len(got) > 20 {
		t.Errorf("want few combining marks, got %d bytes", len(got))
	}
}

func TestNamesBreakAfterDots(t *testing.T) {
	if got := strings.Join(parts("mcp_client.corr_id"), "|"); got != "mcp_|client.|corr_|id" {
		t.Errorf("want mcp_|client.|corr_|id, got %s", got)
	}
	if got := parts(strings.Repeat(".", 1000)); len(got) > maxParts+1 || len(strings.Join(got, "")) != 1000 {
		t.Errorf("want the whole name in few parts, got %d", len(got))
	}
}

func TestMatchingETagGetsNotModified(t *testing.T) {
	tag := serve(t, "x", nil).Header.Get("ETag")
	again := serve(t, "x", func(r *http.Request) { r.Header.Set("If-None-Match", tag) })
	if again.StatusCode != http.StatusNotModified || tag == "" {
		t.Errorf("same page, ETag %s: want 304, got %d", tag, again.StatusCode)
	}
	if other := serve(t, "y", func(r *http.Request) {
		r.Header.Set("If-None-Match", tag)
	}); other.StatusCode != http.StatusOK {
		t.Errorf("changed page, ETag %s: want 200, got %d", tag, other.StatusCode)
	}
}

func TestJSONIsServedOnRequest(t *testing.T) {
	for _, tc := range []struct {
		path, accept string
		want         bool
	}{
		{"/", "", false}, {"/x.json", "", true}, {"/", "application/json", true}, {"/", "text/html,application/json", false},
		{"/", "*/*", false},
	} {
		r := httptest.NewRequest("GET", tc.path, nil)
		r.Header.Set("Accept", tc.accept)
		if got := WantsJSON(r); got != tc.want {
			t.Errorf("%s with Accept %q: want %v, got %v", tc.path, tc.accept, tc.want, got)
		}
	}
}

func FuzzShownHasNoInvisibleCharacters(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[2J\u202e\u0301\u0301\u0301\u0301\u0301\xff\x00")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range string(shown([]byte(s))) {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
				t.Errorf("want no %U of %q", r, s)
			}
		}
	})
}

func TestPluralsAreEnglish(t *testing.T) {
	templates := Parse(fstest.MapFS{"x.html": {Data: []byte(
		`{{define "x"}}{{plural 1 "entry"}}, {{plural 2 "older entry"}}, {{plural 2 "span"}}{{end}}`)}}, "x.html")
	w := httptest.NewRecorder()
	if err := templates.Write(w, httptest.NewRequest(http.MethodGet, "/", nil), 200, "x", Page{}); err != nil {
		t.Fatal(err)
	}
	if want := "1 entry, 2 older entries, 2 spans"; !strings.Contains(w.Body.String(), want) {
		t.Errorf("want %q, got %s", want, w.Body)
	}
}
