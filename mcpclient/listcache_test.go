package mcpclient

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestFingerprintCoversEverythingListsDependOn(t *testing.T) {
	t.Setenv("FINGERPRINT", "a")
	stdio := func(change func(*transport.Stdio)) string {
		s := transport.Stdio{Command: "npx", Args: []string{"-y", "x"}, Env: []string{"A=1", "B=2"}, Dir: "/w"}
		change(&s)
		return fingerprint(s, &Options{})
	}
	web := func(change func(*transport.HTTP)) string {
		h := &transport.HTTP{URL: "http://x/mcp", Header: http.Header{"K": {"v"}}}
		change(h)
		return fingerprint(h, &Options{})
	}
	declares := func(o *Options) string { return fingerprint(transport.Stdio{Command: "npx", Env: []string{}}, o) }
	sums := map[string]string{
		"stdio":        stdio(func(*transport.Stdio) {}),
		"command":      stdio(func(s *transport.Stdio) { s.Command = "uvx" }),
		"args":         stdio(func(s *transport.Stdio) { s.Args = []string{"-y", "y"} }),
		"args joined":  stdio(func(s *transport.Stdio) { s.Args = []string{"-y x"} }),
		"env value":    stdio(func(s *transport.Stdio) { s.Env = []string{"A=1", "B=3"} }),
		"env name":     stdio(func(s *transport.Stdio) { s.Env = []string{"A=1", "C=2"} }),
		"no env":       stdio(func(s *transport.Stdio) { s.Env = []string{} }),
		"own env":      stdio(func(s *transport.Stdio) { s.Env = nil }),
		"dir":          stdio(func(s *transport.Stdio) { s.Dir = "/v" }),
		"own dir":      stdio(func(s *transport.Stdio) { s.Dir = "" }),
		"web":          web(func(*transport.HTTP) {}),
		"url":          web(func(h *transport.HTTP) { h.URL = "http://y/mcp" }),
		"header":       web(func(h *transport.HTTP) { h.Header = http.Header{"K": {"w"}} }),
		"mode":         web(func(h *transport.HTTP) { h.Mode = transport.ModeSSE }),
		"plain":        declares(&Options{}),
		"versions":     declares(&Options{Versions: []mcp.Version{mcp.Version20251125}}),
		"capabilities": declares(&Options{Capabilities: mcp.ClientCapabilities{Roots: &mcp.RootsCapability{}}}),
		"features":     declares(&Options{Features: []Feature{UseTasks(nil)}}),
	}
	t.Setenv("FINGERPRINT", "b")
	sums["another own env"] = stdio(func(s *transport.Stdio) { s.Env = nil })
	seen := map[string]string{}
	for name, sum := range sums {
		if other, twice := seen[sum]; twice || len(sum) != 64 {
			t.Errorf("%s and %s: got the fingerprint %q, want different ones", name, other, sum)
		}
		seen[sum] = name
	}
	same := stdio(func(s *transport.Stdio) { s.Env = []string{"B=1", "A=1", "B=2"} })
	if want := sums["stdio"]; same != want {
		t.Errorf("the same environment in another order: got %s, want %s", same, want)
	}
	for name, sum := range map[string]string{
		"authorizer":   web(func(h *transport.HTTP) { h.Authorizer = struct{ transport.Authorizer }{} }),
		"own client":   web(func(h *transport.HTTP) { h.Client = &http.Client{} }),
		"another kind": fingerprint(struct{ transport.Transport }{}, &Options{}),
	} {
		if sum != "" {
			t.Errorf("%s: got %s, want no fingerprint", name, sum)
		}
	}
}

func newTestCache(t *testing.T) *listCache {
	return &listCache{dir: filepath.Join(t.TempDir(), "new", "lists"), fingerprint: strings.Repeat("ab", 32)}
}

var someLists = lists{
	mcp.MethodListTools: json.RawMessage(`[{"name":"a","inputSchema":{"type":"object"},"x":1}]`),
}

func TestListsSurviveInFileOfTheirOwner(t *testing.T) {
	c := newTestCache(t)
	if got, err := c.load(); got != nil || err != nil {
		t.Errorf("before the first save: got %v, %v, want nothing", got, err)
	}
	if err := c.save(t.Context(), someLists); err != nil {
		t.Fatal(err)
	}
	again := &listCache{dir: c.dir, fingerprint: c.fingerprint}
	got, err := again.load()
	if diff := cmp.Diff(someLists, got); err != nil || diff != "" {
		t.Errorf("got %v (-want +got):\n%s", err, diff)
	}
	info, err := os.Stat(c.path())
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want the mode 0600", info, err)
	}
	if len(got.tools()) != 1 {
		t.Errorf("got the tools %v, want a", got.tools())
	}
}

func TestUnusableCacheFileIsIgnoredWithReason(t *testing.T) {
	text, err := json.Marshal(cacheFile{listCacheFormat, strings.Repeat("ab", 32), someLists})
	if err != nil {
		t.Fatal(err)
	}
	type unusable struct {
		text string
		mode os.FileMode
		want string
	}
	tests := map[string]unusable{
		"cut":            {string(text[:len(text)/2]), 0o600, "unexpected end of JSON input"},
		"empty":          {"", 0o600, "unexpected end of JSON input"},
		"another format": {strings.Replace(string(text), `"format":1`, `"format":2`, 1), 0o600, "its format is 2, want 1"},
		"another server": {strings.Replace(string(text), "abab", "cdcd", 1), 0o600, "it belongs to another server"},
		"no lists":       {strings.Replace(string(text), `"lists"`, `"other"`, 1), 0o600, "it has no lists"},
		"no list": {strings.Replace(string(text), string(someLists[mcp.MethodListTools]), "7", 1), 0o600,
			`its list "tools/list" is invalid`},
		"another list": {strings.Replace(string(text), "tools/list", "tools/call", 1), 0o600, `its list "tools/call" is invalid`},
		"too large":    {string(text) + strings.Repeat(" ", maxCachedLists+4<<10), 0o600, "the limit is 4198400"},
	}
	if runtime.GOOS != "windows" { // which has no such modes
		tests["of all users"] = unusable{string(text), 0o666, "other users may write it"}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newTestCache(t)
			if err := os.MkdirAll(c.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(c.path(), []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(c.path(), test.mode); err != nil {
				t.Fatal(err)
			}
			got, err := c.load()
			if got != nil || err == nil || !strings.Contains(err.Error(), test.want) || !c.isNew(err) || c.isNew(err) {
				t.Errorf("got %v, %v, want no lists and a new error with %q", got, err, test.want)
			}
			if err := c.save(t.Context(), someLists); err != nil {
				t.Fatal(err)
			}
			if got, err := c.load(); len(got) != 1 || err != nil {
				t.Errorf("after the next save: got %v, %v, want the lists", got, err)
			}
		})
	}
}

func TestListsStayInMemoryIfTheFileCannotBeWritten(t *testing.T) {
	c := newTestCache(t)
	if err := os.WriteFile(filepath.Dir(filepath.Dir(c.dir))+"/new", nil, 0o600); err != nil { // a file, not a directory
		t.Fatal(err)
	}
	if err := c.save(t.Context(), someLists); err == nil {
		t.Error("got no error")
	}
	if got, err := c.load(); len(got) != 1 || err != nil {
		t.Errorf("got %v, %v, want the lists", got, err)
	}
}

func TestOldestFilesOfCacheAreRemoved(t *testing.T) {
	dir := t.TempDir()
	const size = maxCacheDir / 4
	for i, name := range []string{"a.json", "b.json", "c.json", "d.json", "e.json", "notes.txt"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(time.Duration(i-100) * time.Hour)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := prune(dir, "a.json"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"a.json", "d.json", "e.json", "notes.txt"}; !slices.Equal(left, want) {
		t.Errorf("got %q, want %q: the new file, the youngest ones and the file of the user", left, want)
	}
}

func TestDifferencesIgnoreOrder(t *testing.T) {
	list := func(items ...string) lists {
		return lists{mcp.MethodListTools: json.RawMessage("[" + strings.Join(items, ",") + "]")}
	}
	for name, test := range map[string]struct {
		a, b lists
		want []string
	}{
		"equal":     {list("1", "2"), list("1", "2"), nil},
		"order":     {list("1", "2"), list("2", "1"), nil},
		"content":   {list("1", "2"), list("1", "3"), []string{mcp.MethodListTools}},
		"twice":     {list("1", "1", "2"), list("1", "2", "2"), []string{mcp.MethodListTools}},
		"unknown":   {nil, list(), []string{mcp.MethodListTools}},
		"a feature": {list(), lists{}, []string{mcp.MethodListTools}},
	} {
		if got := test.a.differences(test.b); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
