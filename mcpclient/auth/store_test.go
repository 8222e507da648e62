package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// sameRecord compares the contents of records, which their own methods hide.
var sameRecord = cmp.Transformer("plain", func(r *auth.Record) string {
	if r == nil {
		return "none"
	}
	data, err := auth.EncodeRecord(r)
	if err != nil {
		panic(err)
	}
	return string(data)
})

func fullRecord() *auth.Record {
	return &auth.Record{
		Credentials: &auth.Credentials{
			Issuer: "https://as.example", ClientID: "id", ClientSecret: "secret",
			SecretExpiry:    time.Unix(2_000_000_000, 0).UTC(),
			TokenAuthMethod: "client_secret_basic", RedirectURIs: []string{"http://127.0.0.1/callback"},
		},
		Token: &auth.Token{
			AccessToken: "access", RefreshToken: "refresh", TokenType: "DPoP", Expiry: time.Unix(1_900_000_000, 5).UTC(),
			Scopes: []string{"a", "b"}, IDToken: "identity",
		},
		RequestedScopes: []string{"a", "b", "c"},
		DPoPKey:         []byte{0, 1, 255},
	}
}

func newFileStore(t *testing.T) (*auth.FileStore, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "parent", "store")
	s, err := auth.NewFileStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// TestTokenStoreImplementations tests both implementations of TokenStore.
func TestTokenStoreImplementations(t *testing.T) {
	for name, make := range map[string]func(t *testing.T) auth.TokenStore{
		"memory": func(*testing.T) auth.TokenStore { return auth.NewMemoryStore() },
		"file":   func(t *testing.T) auth.TokenStore { s, _ := newFileStore(t); return s },
	} {
		t.Run(name, func(t *testing.T) {
			testStore(t, make(t))
			t.Run("concurrently", func(t *testing.T) { testConcurrently(t, make(t)) })
		})
	}
}

func testStore(t *testing.T, s auth.TokenStore) {
	ctx := t.Context()
	key := auth.StoreKey{Resource: "https://mcp.example/mcp", Issuer: "https://as.example", Client: "c"}
	want := func(when string, key auth.StoreKey, want *auth.Record) {
		t.Helper()
		got, err := s.Load(ctx, key)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if diff := cmp.Diff(want, got, sameRecord); diff != "" {
			t.Errorf("%s: record, want - got +:\n%s", when, diff)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want("before anything was saved", key, nil)
	do(s.Delete(ctx, key))

	r := fullRecord()
	do(s.Save(ctx, key, r))
	r.Token.AccessToken, r.Token.Scopes[0], r.DPoPKey[0], r.Credentials.RedirectURIs[0] = "changed", "changed", 9,
		"changed"
	want("after the saved record was changed", key, fullRecord())
	got, err := s.Load(ctx, key)
	do(err)
	got.Token.Scopes[0], got.RequestedScopes[0], got.Credentials.ClientID = "changed", "changed", "changed"
	want("after a loaded record was changed", key, fullRecord())
	for _, other := range []auth.StoreKey{
		{Resource: key.Resource, Issuer: key.Issuer}, {Resource: key.Resource, Client: key.Client}, {},
		{Resource: key.Resource + key.Issuer, Client: key.Client},
		{Resource: key.Issuer, Issuer: key.Resource, Client: key.Client},
	} {
		want("under another key", other, nil)
	}

	do(s.Save(ctx, key, &auth.Record{Token: &auth.Token{AccessToken: "only"}}))
	want("after it was replaced", key, &auth.Record{Token: &auth.Token{AccessToken: "only"}})
	do(s.Save(ctx, key, nil))
	want("after nothing was saved", key, nil)
	do(s.Save(ctx, key, fullRecord()))
	do(s.Delete(ctx, key))
	want("after it was deleted", key, nil)
}

// testConcurrently checks that every loaded record was saved as a whole.
func testConcurrently(t *testing.T, s auth.TokenStore) {
	key := auth.StoreKey{Resource: "r"}
	var tasks sync.WaitGroup
	for g := range 4 {
		tasks.Go(func() {
			for i := range 20 {
				text := strings.Repeat(fmt.Sprint(g), 1000+i)
				if err := s.Save(t.Context(), key,
					&auth.Record{Token: &auth.Token{AccessToken: text, RefreshToken: text}}); err != nil {
					t.Error(err)
				}
				r, err := s.Load(t.Context(), key)
				if err != nil || r == nil || r.Token.AccessToken != r.Token.RefreshToken {
					t.Errorf("loaded a record that was never saved: %v, %v", r, err)
				}
			}
		})
	}
	tasks.Wait()
}

func TestRecordsRoundTripThroughEncoding(t *testing.T) {
	text := rapid.String()
	rapid.Check(t, func(t *rapid.T) {
		r := &auth.Record{RequestedScopes: rapid.SliceOfN(text, 1, 3).Draw(t, "scopes"),
			DPoPKey: rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "key")}
		if rapid.Bool().Draw(t, "token") {
			r.Token = &auth.Token{
				AccessToken: text.Draw(t, "access"), RefreshToken: text.Draw(t, "refresh"),
				Expiry: time.Unix(rapid.Int64Range(0, 1<<34).Draw(t, "expiry"), 0).UTC(),
			}
		}
		if rapid.Bool().Draw(t, "credentials") {
			r.Credentials = &auth.Credentials{ClientID: text.Draw(t, "id"), ClientSecret: text.Draw(t, "secret")}
		}
		data, err := auth.EncodeRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := auth.DecodeRecord(data)
		if err != nil {
			t.Fatal(err)
		}
		if got.Token != nil && (got.Token.AccessToken != r.Token.AccessToken || !got.Token.Expiry.Equal(r.Token.Expiry)) {
			t.Fatalf("the token changed from %q to %q", r.Token.AccessToken, got.Token.AccessToken)
		}
		if diff := cmp.Diff(r, got, sameRecord); diff != "" {
			t.Fatalf("record, want - got +:\n%s", diff)
		}
	})
}

func TestDecodeRecordErrorsContainNoText(t *testing.T) {
	for name, data := range map[string]string{
		"no JSON":         `{"token":{"access_token":"hush`,
		"nothing":         ``,
		"another type":    `{"format":1,"token":{"access_token":["hush"]}}`,
		"no time":         `{"format":1,"token":{"expiry":"hush"}}`,
		"no base64":       `{"format":1,"dpop_key":"hush!"}`,
		"another format":  `{"format":2,"token":"hush"}`,
		"no format":       `{"token":{"access_token":"hush"}}`,
		"a number so big": `{"format":1e999}`,
	} {
		r, err := auth.DecodeRecord([]byte(data))
		if err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, %v, want an error without any text of the data", name, r, err)
		}
	}
	if _, err := auth.EncodeRecord(nil); err == nil {
		t.Error("EncodeRecord(nil) succeeded, want an error")
	}
}

func TestOnlyTheUserCanReadTheFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions depend on the user's profile")
	}
	s, dir := newFileStore(t)
	key := auth.StoreKey{Resource: "https://mcp.example/../../etc/passwd", Issuer: "https://as.example"}
	if err := s.Save(t.Context(), key, fullRecord()); err != nil {
		t.Fatal(err)
	}
	checkMode(t, dir, fs.ModeDir|0o700)
	names := list(t, dir)
	if len(names) != 1 || len(names[0]) != 64+len(".json") || strings.Contains(names[0], "mcp") {
		t.Fatalf("files are %q, want one file named after a hash", names)
	}
	checkMode(t, filepath.Join(dir, names[0]), 0o600)
}

func checkMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != want {
		t.Errorf("mode of %s is %v, want %v", filepath.Base(path), info.Mode(), want)
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestFileStoreRejectsADirectoryOpenToOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions depend on the user's profile")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := auth.NewFileStore(dir); err == nil || !strings.Contains(err.Error(), "0750, want 0700") {
		t.Errorf("error is %v, want an error with the mode", err)
	}
	for _, bad := range []string{"", filepath.Join(dir, "file", "store")} {
		_ = os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)
		if _, err := auth.NewFileStore(bad); err == nil {
			t.Errorf("NewFileStore(%q) succeeded, want an error", bad)
		}
	}
}

func TestCorruptFileIsReportedAndReplaced(t *testing.T) {
	s, dir := newFileStore(t)
	key := auth.StoreKey{Resource: "r"}
	if err := s.Save(t.Context(), key, fullRecord()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, list(t, dir)[0])
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty":             nil,
		"cut":               whole[:len(whole)/2],
		"of another":        []byte(strings.Replace(string(whole), `"resource": "r"`, `"resource": "x"`, 1)),
		"of a later format": []byte(strings.Replace(string(whole), `"format": 1`, `"format": 99`, 1)),
		"huge":              []byte(strings.Repeat(" ", 2<<20) + string(whole)),
		"zeroes":            make([]byte, 100),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := s.Load(t.Context(), key)
		corrupt, ok := errors.AsType[*auth.CorruptError](err)
		if !ok || corrupt.Path != path || r != nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v, want a CorruptError with the file", name, r, err)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "access\"")) {
			t.Errorf("%s: error %q quotes the file", name, err)
		}
		if err := s.Save(t.Context(), key, fullRecord()); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Load(t.Context(), key); err != nil || r == nil {
			t.Errorf("%s, and saved again: %v, %v, want the record", name, r, err)
		}
	}
	if names := list(t, dir); len(names) != 1 {
		t.Errorf("files are %q, want one", names)
	}
}

func TestUnknownMembersOfAFileAreIgnored(t *testing.T) {
	s, dir := newFileStore(t)
	key := auth.StoreKey{Resource: "r"}
	if err := s.Save(t.Context(), key, fullRecord()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, list(t, dir)[0])
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	doc["new"] = true
	data, _ = json.Marshal(doc)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := s.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fullRecord(), got, sameRecord); diff != "" {
		t.Errorf("record, want - got +:\n%s", diff)
	}
}

func TestFilesOfACrashedProcessAreRemoved(t *testing.T) {
	_, dir := newFileStore(t)
	old, young := filepath.Join(dir, "1.part"), filepath.Join(dir, "2.part")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	if _, err := auth.NewFileStore(dir); err != nil {
		t.Fatal(err)
	}
	if names := list(t, dir); len(names) != 1 || names[0] != "2.part" {
		t.Errorf("files are %q, want only the new file", names)
	}
}

func TestFileStoreHonoursTheContext(t *testing.T) {
	s, dir := newFileStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Load(ctx, auth.StoreKey{})
	for name, err := range map[string]error{
		"Load": err, "Save": s.Save(ctx, auth.StoreKey{}, fullRecord()), "Delete": s.Delete(ctx, auth.StoreKey{}),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error is %v, want the context's cause", name, err)
		}
	}
	if names := list(t, dir); len(names) != 0 {
		t.Errorf("files are %q, want none", names)
	}
}

func TestFileStoreReturnsErrorsOfTheFileSystem(t *testing.T) {
	s, dir := newFileStore(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), auth.StoreKey{}, fullRecord()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Save without the directory: %v, want an error that the directory does not exist", err)
	}
	s, _ = newFileStore(t)
	big := &auth.Record{Token: &auth.Token{AccessToken: strings.Repeat("x", 2<<20)}}
	err := s.Save(t.Context(), auth.StoreKey{}, big)
	if err == nil || !strings.Contains(err.Error(), "exceeds the limit") {
		t.Errorf("Save of 2 MiB: %v, want an error about the limit", err)
	}
}

const storeVariable = "MCPOTEL_TEST_STORE"

// TestProcessesShareAStore runs this test in several processes at once, each of which writes and reads one key.
func TestProcessesShareAStore(t *testing.T) {
	if dir := os.Getenv(storeVariable); dir != "" {
		s, err := auth.NewFileStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		testConcurrently(t, s)
		return
	}
	_, dir := newFileStore(t)
	var tasks sync.WaitGroup
	for range 3 {
		tasks.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcessesShareAStore$")
			cmd.Env = append(os.Environ(), storeVariable+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	tasks.Wait()
	if names := list(t, dir); len(names) != 1 {
		t.Errorf("files are %q, want one", names)
	}
}
