package planfile

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpproxy"
)

const wholePolicy = `
tools:
  allow: ["read_*"]
  deny: ["delete_*"]       # wins
timeout: 30s
timeouts: {"slow_*": 5m}
limit:
  concurrent: 4
  rate: 10/s
redact:
  keys: [password, token]
  patterns: ['sk-[A-Za-z0-9]{20,}']
  with: "[redacted]"
  arguments: true
`

func TestAPolicyIsRead(t *testing.T) {
	want := mcpproxy.Policy{
		AllowTools: []string{"read_*"}, DenyTools: []string{"delete_*"},
		Timeout: 30 * time.Second, Timeouts: map[string]time.Duration{"slow_*": 5 * time.Minute},
		MaxConcurrent: 4, Rate: mcpproxy.Rate{Calls: 10, Per: time.Second},
		Redaction: mcpproxy.Redaction{
			Keys: []string{"password", "token"}, Patterns: []string{`sk-[A-Za-z0-9]{20,}`}, With: "[redacted]", Arguments: true,
		},
	}
	if got, err := Policy([]byte(wholePolicy)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, empty := range []string{"", "# nothing\n", "tools: {}\n"} {
		if got, err := Policy([]byte(empty)); err != nil || !reflect.DeepEqual(got, mcpproxy.Policy{}) {
			t.Errorf("%q: got %+v, %v", empty, got, err)
		}
	}
}

func TestAnAllowListWithoutEntriesAllowsNoTool(t *testing.T) {
	got, err := Policy([]byte("tools:\n  allow: []\n"))
	if err != nil || got.AllowTools == nil || len(got.AllowTools) > 0 {
		t.Errorf("an empty list: got %#v, %v, want an empty list", got.AllowTools, err)
	}
	for text, line := range map[string]string{
		"tools:\n  allow:\n    # - read_*\n":          "line 2: allow has no value",
		"tools:\n  # allow: [a]\ntimeout: 1s\n":       "line 1: tools has no value",
		"tools:\n  allow: ~\n  deny: [a]\n":           "line 2: allow has no value",
		"redact:\n  keys: [a]\n  patterns: null\n":    "line 3: patterns has no value",
		"tools: &x\n  allow: &n\ntimeouts: {a: *n}\n": "has no value",
	} {
		if _, err := Policy([]byte(text)); err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%q: got %v, want %q", text, err, line)
		}
	}
}

func TestPolicyErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"tools:\n  alow: []\n":           "line 2: unknown key alow",
		"timeout: 3s\nx: 1\ny: 2\n":      "line 2: unknown key x; line 3: unknown key y",
		"timeout: 3\n":                   "line 1: not understood: int `3`",
		"timeout: soon\n":                "line 1: not understood: str `soon`",
		"limit:\n  rate: ten\n":          `line 2: "ten" is not a rate such as 10/s, 100/m or 1000/h`,
		"limit:\n  rate: 0/s\n":          `line 2: "0/s" is not a rate such as 10/s, 100/m or 1000/h`,
		"tools: {allow: [a]}\ntools: {}": `line 2: mapping key "tools" already defined at line 1`,
		"tools: [\n":                     "line 1: did not find expected node content",
		"timeout: 1s\n---\ntools: {}\n":  "the file has more than one document",
	} {
		if _, err := Policy([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
