package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/command/doctor"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

func TestDoctorExitCodeAndOutput(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	noCollector(t)
	url, _ := serves(t, "0")
	for name, tc := range map[string]struct {
		args        []string
		code        int
		out, stderr string
	}{
		"a good command": {[]string{"--", self, "serve-demo"}, exitOK,
			" of mcpotel-demo-server in the trace of the client", ""},
		"a good URL":         {[]string{"--url", url}, exitOK, "ok       transport      Streamable HTTP", ""},
		"an unknown command": {[]string{"--", "no-such-command"}, exitConnection, "fail     executable     no-such-comm", ""},
		"skipped checks":     {[]string{"--", "no-such-command"}, exitConnection, "  skipped  start, stdout, hand", ""},
		"an unreachable URL": {[]string{"--url", "http://127.0.0.1:1/mcp"}, exitConnection, "fail     tcp            nothing",
			""},
		"an unreachable Collector": {[]string{"--otlp", "http://127.0.0.1:1", "--url", url}, exitTool,
			"fail     collector      nothing listens at 127.0.0.1:1", ""},
		"verbose output":           {[]string{"-v", "--url", url}, exitOK, "", "mcp_client.connection.transition"},
		"no server":                {nil, exitUsage, "", "no server: give"},
		"an argument":              {[]string{"fast", "--url", url}, exitUsage, "", "unexpected argument"},
		"no time limit":            {[]string{"--timeout", "0", "--url", url}, exitUsage, "", "--timeout must be above"},
		"a flag of other commands": {[]string{"--trace", "--url", url}, exitUsage, "", "unknown flag"},
		"an unknown version":       {[]string{"--pin-version", "1", "--url", url}, exitUsage, "", "unknown protocol version"},
		"a missing file": {[]string{"--config", filepath.Join(t.TempDir(), "none.json")}, exitUsage, "",
			"none.json"},
	} {
		t.Run(name, func(t *testing.T) {
			noCollector(t) // an earlier run has set variables
			code, out, stderr := runs(t, append([]string{"doctor"}, tc.args...)...)
			if code != tc.code || !strings.Contains(out, tc.out) || !strings.Contains(stderr, tc.stderr) {
				t.Errorf("want exit code %d, %q and %q, got %d:\n%s%s", tc.code, tc.out, tc.stderr, code, out, stderr)
			}
			if code == exitUsage && out != "" {
				t.Errorf("want nothing on standard output, got %q", out)
			}
		})
	}
}

// TestTheDoctorExaminesAFile checks the JSON format that docs/doctor.md documents.
func TestTheDoctorExaminesAFile(t *testing.T) {
	noCollector(t)
	sink, err := otlpsink.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(context.Background())
	file := configFile(t, `, "gone": {"command": "/no/such/path"}`)
	noCollector(t) // the server at the URL has set variables
	code, out, stderr := runs(t, "doctor", "--config", file, "--json", "--otlp", "http://"+sink.Endpoint())
	var d struct {
		Verdict doctor.Verdict
		Servers []struct {
			Server    string
			Verdict   doctor.Verdict
			Connected bool
			Seconds   float64
			Checks    []doctor.Check
		}
		Pipeline []doctor.Check
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	if code != exitConnection || d.Verdict != doctor.Fail || len(d.Servers) != 3 || len(d.Pipeline) != 2 {
		t.Fatalf("want exit code 3 and three servers, got %d: %s", code, out)
	}
	for _, s := range d.Servers {
		gone := s.Server == "gone"
		if s.Connected == gone || (s.Verdict == doctor.Fail) != gone || s.Seconds < 0 || len(s.Checks) == 0 {
			t.Errorf("want all servers except gone to be usable, got %+v", s)
		}
	}
	if d.Pipeline[0].Verdict != doctor.OK || len(sink.Snapshot().SpansNamed("tools/list")) == 0 {
		t.Errorf("want the client's spans at the Collector, got %+v", d.Pipeline)
	}
}

// TestDoctorEscapesControlCharacters uses a server that writes terminal control sequences.
func TestDoctorEscapesControlCharacters(t *testing.T) {
	noCollector(t)
	const script = `printf '\033]0;title\007oh\n'; printf 'a\033[31m\n' >&2; exit 1`
	_, out, stderr := runs(t, "doctor", "--timeout", "2s", "--", "sh", "-c", script)
	for _, text := range []string{out, stderr} {
		if strings.ContainsAny(text, "\x1b\x07\u009b") {
			t.Errorf("want no control characters, got %q", text)
		}
	}
	if !strings.Contains(out, `1 line is not JSON`) && !strings.Contains(out, "lines are not JSON") {
		t.Errorf("want a message about the line, got:\n%s", out)
	}
}
