package mcp

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listed returns the methods of all revisions in the format of testdata/methods.txt.
func listed() (lines []string) {
	kinds := map[MethodKind]string{KindRequest: "request", KindNotification: "notification", KindInput: "input"}
	for m := range Methods() {
		for _, v := range SupportedVersions() {
			for sender, name := range map[Sender]string{FromClient: "client", FromServer: "server"} {
				if m.In(v) && m.Sender&sender != 0 {
					line := strings.Join([]string{string(v), kinds[m.Kind], name, m.Name, m.Extension}, " ")
					lines = append(lines, strings.TrimSpace(line))
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func TestMethodTableMatchesTheSchemas(t *testing.T) {
	text, err := os.ReadFile("testdata/methods.txt")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			want = append(want, strings.TrimSpace(line))
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, listed()); diff != "" {
		t.Errorf("Methods differs from the schemas (-schema +table):\n%s", diff)
	}
}

func TestLookupIsUnambiguous(t *testing.T) {
	for _, v := range append(SupportedVersions(), "2031-01-01") {
		seen := map[string]bool{}
		for m := range Methods() {
			if !m.In(v) {
				if got, ok := Lookup(m.Name, v); ok && got.First == m.First {
					t.Errorf("Lookup(%q, %s) finds a row that does not hold for that revision", m.Name, v)
				}
				continue
			}
			if seen[m.Name] {
				t.Errorf("%s has two rows for %s, want one", v, m.Name)
			}
			seen[m.Name] = true
			got, ok := Lookup(m.Name, v)
			if !ok || got != m {
				t.Errorf("Lookup(%q, %s) = %+v, %v, want %+v", m.Name, v, got, ok, m)
			}
		}
	}
	if m, ok := Lookup("tools/explode", Version20260728); ok {
		t.Errorf("Lookup of an unknown method finds %+v, want nothing", m)
	}
}

func TestMethodTableIsConsistent(t *testing.T) {
	for m := range Methods() {
		if (m.Result == nil) != (m.Kind == KindNotification) {
			t.Errorf("%s has the result %v; notifications have none, all others have one", m.Name, m.Result)
		}
		if m.Params.Kind() != reflect.Struct {
			t.Errorf("%s has params of kind %v, want a struct", m.Name, m.Params.Kind())
		}
		if m.Last != "" && m.Last < m.First {
			t.Errorf("%s ends with %s before it begins with %s", m.Name, m.Last, m.First)
		}
		if strings.HasPrefix(m.Name, "notifications/") != (m.Kind == KindNotification) {
			t.Errorf("%s is of kind %d, which its name contradicts", m.Name, m.Kind)
		}
	}
}

func TestTargetOfReturnsTheTargetMember(t *testing.T) {
	for m := range Methods() {
		params := reflect.New(m.Params)
		text := []byte(`{"` + m.Target.Member() + `":"the target"}`)
		if err := decodeValue(text, params.Interface()); err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		want := "the target"
		if m.Target == TargetNone {
			want = ""
		}
		if got := TargetOf(params.Interface()); got != want {
			t.Errorf("%s: TargetOf(%T) = %q, want %q", m.Name, params.Interface(), got, want)
		}
	}
}

// TestMetaComesFirst checks a guarantee of AppendParams: code that adds members to _meta requires that _meta comes
// first.
func TestMetaComesFirst(t *testing.T) {
	for m := range Methods() {
		if first := m.Params.Field(0); first.Type != of[Meta]() {
			t.Errorf("%s: the first field of %v is %s, want Meta", m.Name, m.Params, first.Name)
		}
		if m.Result == nil || m.Result == of[json.RawMessage]() || m.Result == of[Result]() {
			continue
		}
		if first := m.Result.Field(0); first.Type != of[Result]() {
			t.Errorf("%s: the first field of %v is %s, want Result", m.Name, m.Result, first.Name)
		}
	}
}
