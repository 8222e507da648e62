package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// auditFiles returns the flags of an audit in new files, and the path of the audit file.
func auditFiles(t *testing.T) (flags []string, file string) {
	t.Helper()
	dir := t.TempDir()
	key, file := filepath.Join(dir, "key"), filepath.Join(dir, "audit.jsonl")
	if err := os.WriteFile(key, []byte("a key for the tests, of 32 bytes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--audit", file, "--audit-key", key}, file
}

// auditedCalls returns the events and outcomes of the calls in a file, and the head of the last one.
func auditedCalls(t *testing.T, file string) (calls []string, head string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		if event := m["event"].(string); strings.HasSuffix(event, ".call") {
			call, _ := m[strings.TrimSuffix(event, "call")+"outcome"].(string)
			if decision, ok := m["mcp_server.policy.decision"]; ok {
				call += " " + decision.(string)
			}
			sequence, _ := json.Marshal(m["sequence"])
			calls, head = append(calls, event+" "+call), string(sequence)+":"+m["hash"].(string)
		}
	}
	return calls, head
}

func TestCallsThroughEveryCommandAreAudited(t *testing.T) {
	noCollector(t)
	t.Setenv(asCommand, "1")
	server := demoServerCommand(t)
	self := server[1]
	for _, c := range []struct {
		name string
		args func(flags []string) []string
		code int
		want []string
	}{
		{"call", func(flags []string) []string {
			return slices.Concat([]string{"call", "divide", "a=6", "b=3"}, flags, server)
		}, exitOK, []string{"mcp_client.audit.call ran"}},
		{"a tool that fails", func(flags []string) []string {
			return slices.Concat([]string{"call", "divide", "a=6", "b=0"}, flags, server)
		}, exitTool, []string{"mcp_client.audit.call ran"}},
		{"a proxy", func(flags []string) []string {
			return slices.Concat([]string{"call", "divide", "a=6", "b=3", "--", self, "proxy"}, flags, server)
		}, exitOK, []string{"mcp_server.audit.call ran"}},
		{"a proxy that denies", func(flags []string) []string {
			return slices.Concat([]string{"call", "divide", `{"a":6,"b":3}`, "--", self, "proxy", "--deny-tool", "divide"},
				flags, server)
		}, exitTool, []string{"mcp_server.audit.call did_not_run denied"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			flags, file := auditFiles(t)
			for range 2 { // the second process continues the file
				if code, out, stderr := runs(t, c.args(flags)...); code != c.code {
					t.Fatalf("got exit code %d, want %d: %s%s", code, c.code, out, stderr)
				}
			}
			calls, head := auditedCalls(t, file)
			if want := slices.Repeat(c.want, 2); !slices.Equal(calls, want) {
				t.Errorf("got the records %q, want %q", calls, want)
			}
			code, out, stderr := runs(t, "audit", "verify", "--head", head, file)
			if code != exitOK || !strings.HasPrefix(out, "unbroken: calls: 2, from ") || strings.Contains(out, ";") {
				t.Errorf("verify: got %d, %s%s", code, out, stderr)
			}
		})
	}
}

func TestAuditVerifyReportsBrokenChains(t *testing.T) {
	noCollector(t)
	flags, file := auditFiles(t)
	for range 2 {
		if code, _, stderr := runs(t, slices.Concat([]string{"call", "divide", "a=6", "b=3"}, flags,
			demoServerCommand(t))...); code != exitOK {
			t.Fatal(stderr)
		}
	}
	_, head := auditedCalls(t, file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, c := range []struct {
		name string
		text []byte
		args []string
		code int
		want string
	}{
		{"unchanged", text, nil, exitOK, "give an exported --head to detect removed lines at the end"},
		{"changed", bytes.Replace(text, []byte(`"ran"`), []byte(`"did"`), 1), nil, exitTool, "broken: line 2: "},
		{"removed", bytes.Join(slices.Delete(slices.Clone(lines), 1, 2), nil), nil, exitTool, "broken: line 2: "},
		{"cut", bytes.Join(lines[:3], nil), []string{"--head", head}, exitTool, "broken: the file ends with sequence 3"},
		{"cut, without a head", bytes.Join(lines[:3], nil), nil, exitOK, "unbroken: calls: 1"},
		{"crashed", text[:len(text)-10], nil, exitOK, "incomplete last line"},
		{"empty", nil, nil, exitOK, "unbroken: the file is empty"},
		{"another head", text, []string{"--head", "2:" + strings.Repeat("0", 64)}, exitTool, "broken: line 2: "},
		{"no head", text, []string{"--head", "2"}, exitUsage, "want SEQUENCE:HASH"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			if err := os.WriteFile(path, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
			code, out, stderr := runs(t, slices.Concat([]string{"audit", "verify"}, c.args, []string{path})...)
			if code != c.code || !strings.Contains(out+stderr, c.want) {
				t.Errorf("got %d, %s%s; want %d and %q", code, out, stderr, c.code, c.want)
			}
		})
	}
}

func TestMisuseOfAuditIsExplained(t *testing.T) {
	noCollector(t)
	flags, file := auditFiles(t)
	dir := filepath.Dir(file)
	short, large := filepath.Join(dir, "short"), filepath.Join(dir, "large")
	for path, size := range map[string]int{short: 15, large: maxKey + 1} {
		if err := os.WriteFile(path, bytes.Repeat([]byte("k"), size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(flags ...string) []string {
		return slices.Concat([]string{"call", "divide", "a=6", "b=3"}, flags, demoServerCommand(t))
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--audit needs a key", call("--audit", file)},
		{"the key has 15 bytes", call("--audit-key", short)},
		{"larger than 4 KiB", call("--audit-key", large)},
		{filepath.Join(dir, "none"), call("--audit-key", filepath.Join(dir, "none"))},
		{"the end of the file is not an audit record", call("--audit", large, "--audit-key", flags[3])},
		{"want verify", []string{"audit"}},
		{"want the path of one audit file", []string{"audit", "verify"}},
		{filepath.Join(dir, "none"), []string{"audit", "verify", filepath.Join(dir, "none")}},
	} {
		if code, _, stderr := runs(t, c.args...); code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: got %d and %q, want %d and %q", c.args, code, stderr, exitUsage, c.want)
		}
	}
}
