package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	tailHeader = `{"mcpotel_recording":1,"recorded":"2026-11-30T10:00:00Z","server":"s","content":true}` + "\n"
	tailAsked  = `{"session":1,"seq":1,"at_us":1000,"from":"host","kind":"request","method":"tools/call","request":1,` +
		`"name":"a\u001b[31m","bytes":17,"trace_id":"0af7651916cd43dd8448eb211c80319c","params":{"name":"a","b":"\u202e"}}` + "\n"
	tailFailed = `{"session":1,"seq":2,"at_us":3500,"from":"server","kind":"error","method":"tools/call","request":1,` +
		`"name":"a","bytes":2,"took_us":2500,"code":-32602,"error":{}}` + "\n"
	tailTold = `{"session":1,"seq":3,"at_us":4000,"from":"server","kind":"notification",` +
		`"method":"notifications/progress","bytes":9}` + "\n"
	tailEnd = `{"end":true,"entries":3}` + "\n"
)

func TestTailPrintsARecording(t *testing.T) {
	noCollector(t)
	t.Setenv("TZ", "UTC")
	file := filepath.Join(t.TempDir(), "r.ndjson")
	if err := os.WriteFile(file, []byte(tailHeader+tailAsked+tailFailed+tailTold+tailEnd), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := "→ tools/call a�[31m #1 17 B trace 0af7651916cd43dd8448eb211c80319c"
	failed, told := "← tools/call a #1 error -32602 2 B 2.50ms", "← notifications/progress 9 B"
	for name, c := range map[string]struct {
		flags []string
		want  []string
	}{
		"all":        {nil, []string{asked, failed, told}},
		"the last":   {[]string{"-n", "1"}, []string{told}},
		"failures":   {[]string{"--failed"}, []string{failed}},
		"by method":  {[]string{"--only", "notifications/*"}, []string{told}},
		"by tool":    {[]string{"--only", "a"}, []string{failed}},
		"no content": {[]string{"-n", "0"}, nil},
		"content":    {[]string{"--content"}, []string{asked + ` {"name":"a","b":"\u202e"}`, failed + " {}", told}},
	} {
		code, out, stderr := runs(t, append([]string{"tail", file}, c.flags...)...)
		var got []string
		for line := range strings.Lines(out) {
			_, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " 1 ")
			got = append(got, text)
		}
		if code != exitOK || strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: got exit code %d and\n%s\n%s, want\n%s", name, code, strings.Join(got, "\n"), stderr,
				strings.Join(c.want, "\n"))
		}
	}
}

// TestTailFollowsFiles writes a recording in pieces, and then a second one.
func TestTailFollowsFiles(t *testing.T) {
	noCollector(t)
	dir := t.TempDir()
	in, out := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, streams{strings.NewReader(""), out, io.Discard, false}, []string{"tail", dir})
		out.Close()
	}()
	lines := make(chan string)
	go func() {
		defer close(lines)
		text := make([]byte, 1<<16)
		for {
			n, err := in.Read(text)
			if err != nil {
				return
			}
			lines <- string(text[:n])
		}
	}()
	first, err := os.Create(filepath.Join(dir, "1.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	for i, piece := range []string{tailHeader, tailAsked, tailFailed[:20], tailFailed[20:] + tailEnd} {
		if _, err := first.WriteString(piece); err != nil {
			t.Fatal(err)
		}
		if i == 1 || i == 3 {
			if line := <-lines; !strings.Contains(line, "tools/call") {
				t.Errorf("piece %d: got %q", i, line)
			}
		}
	}
	second := filepath.Join(dir, "2.ndjson")
	if err := os.WriteFile(second, []byte(tailHeader+tailTold), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(second, time.Now(), time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if line := <-lines; !strings.Contains(line, "notifications/progress") {
		t.Errorf("the second file: got %q", line)
	}
	cancel()
	if code := <-ended; code != exitOK {
		t.Errorf("interrupted: want exit code 0, got %d", code)
	}
}

func TestTailExplainsMisuse(t *testing.T) {
	noCollector(t)
	dir := t.TempDir()
	other := filepath.Join(dir, "other.txt")
	if err := os.WriteFile(other, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, args := range map[string][]string{
		"no recording: give the PATH":         {"tail"},
		"unexpected argument":                 {"tail", "a", "b"},
		"no such file":                        {"tail", filepath.Join(dir, "none")},
		`"mcpotel_recording" is missing`:      {"tail", other},
		"--only: ":                            {"tail", other, "--only", "[a"},
		"--record needs one server":           {"shell", "--record", filepath.Join(dir, "r"), "--config", configFile(t, "")},
		"--record-content and --record-limit": {"call", "--record-content", "divide", "--", os.Args[0], "serve-demo"},
	} {
		if code, _, stderr := runs(t, args...); code != exitUsage || !strings.Contains(stderr, text) {
			t.Errorf("%v: want exit code %d and %q, got %d and %q", args, exitUsage, text, code, stderr)
		}
	}
}
