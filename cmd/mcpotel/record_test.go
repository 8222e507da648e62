package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordingIsServedReplayedAndCompared runs all commands for recordings on one file.
func TestRecordingIsServedReplayedAndCompared(t *testing.T) {
	noCollector(t)
	t.Setenv(asCommand, "1")
	dir := t.TempDir()
	file, now := filepath.Join(dir, "session.ndjson"), filepath.Join(dir, "now.ndjson")
	server := demoServerCommand(t)
	self := server[1]
	does := func(want int, text string, args ...string) {
		t.Helper()
		code, out, stderr := runs(t, args...)
		if code != want || !strings.Contains(out+stderr, text) {
			t.Errorf("%v: got exit code %d and %q, %q; want %d and %q", args, code, out, stderr, want, text)
		}
	}
	divide := []string{"call", "divide", "a=6", "b=3", "--", self}
	does(exitOK, `{"quotient":2}`, append(append(divide, "proxy", "--record", file, "--record-content"), server...)...)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v; want a file that only its owner can read", info, err)
	}
	does(exitOK, `{"quotient":2}`, append(divide, "mock", file)...)
	does(exitTool, "differs in .arguments.b: 4, not 3", "call", "divide", "a=6", "b=4", "--", self, "mock", file)
	does(exitOK, "skip       session 1  tools/call divide: the tool is not read-only",
		append([]string{"replay", file}, server...)...)
	does(exitOK, "tools/call divide: a result",
		append([]string{"replay", file, "--run", "--allow-tool", "div*", "--record", now}, server...)...)
	does(exitOK, "same: 3 requests", "diff", file, now)
	does(exitOK, `"same": true`, "diff", file, now, "--json")
	own := filepath.Join(dir, "own.ndjson")
	does(exitOK, `{"quotient":2}`, append([]string{"call", "divide", "a=6", "b=3", "--record", own, "--record-content"}, server...)...)
	does(exitOK, "same: 3 requests", "diff", file, own)
	does(exitOK, `{"quotient":2}`, append(divide, "mock", own)...)

	for _, version := range eras {
		session := filepath.Join(dir, version)
		demo := []string{"call", "divide", "a=6", "b=3", "--pin-version", version}
		does(exitOK, `{"quotient":2}`, append(append(append(demo, "--", self), "proxy", "--record", session,
			"--record-content"), server...)...)
		url, stop := servesBy(t, "mock", session, "--listen", "0")
		for range 2 { // each run gets the next session; hosts without sessions get the same session again
			does(exitOK, `{"quotient":2}`, append(demo, "--url", url)...)
		}
		if code := stop(); code != exitOK {
			t.Errorf("the mock of %s ended with exit code %d", version, code)
		}
	}

	each := filepath.Join(dir, "each")
	if err := os.Mkdir(each, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		does(exitOK, `{"quotient":2}`, append(append(divide, "proxy", "--record", each), server...)...)
	}
	if all, err := filepath.Glob(filepath.Join(each, "*.ndjson")); err != nil || len(all) != 2 {
		t.Errorf("got %q, %v; want a file for each run", all, err)
	}
	short := filepath.Join(dir, "short.ndjson")
	does(exitOK, `{"quotient":2}`, append(append(divide, "proxy", "--record", short), server...)...)
	does(exitOK, "params and results were not compared", "diff", short, file)
	does(exitUsage, "the recording has no content; record again with --record-content", "mock", short)
	does(exitUsage, "the recording has no content", append([]string{"replay", short}, server...)...)
}

func TestMisuseOfRecordingsIsExplained(t *testing.T) {
	noCollector(t)
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no file: --record-content and --record-limit need --record FILE",
			[]string{"proxy", "--record-content", "--", "x"}},
		{"--record-limit must be between 1 and 1024", []string{"proxy", "--record", "x", "--record-limit",
			"2000", "--", "x"}},
		{"there already exists; remove it, give another name", []string{"proxy", "--record", there, "--", "x"}},
		{"not a directory", []string{"proxy", "--record", there + "/x", "--", "x"}},
		{"the recording is missing", []string{"mock"}},
		{`unexpected argument "b"`, []string{"mock", there, "b"}},
		{"no such file or directory", []string{"mock", there + "x"}},
		{"line 1: not a recording", []string{"mock", there}},
		{"want 2 recordings", []string{"diff", there}},
		{"line 1: not a recording", []string{"replay", there, "--allow-tool", "[", "--", "x"}},
	} {
		code, out, stderr := runs(t, c.args...)
		if code != exitUsage || out != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: got exit code %d and %q, want %q", c.args, code, stderr, c.want)
		}
	}
}
