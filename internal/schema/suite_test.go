package schema

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// suiteGroup is a group of the official JSON Schema Test Suite.
type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// suiteDir returns the directory of the suite in the library's test data.
func suiteDir(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").
		Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata")
	if _, serr := os.Stat(dir); err != nil || serr != nil {
		t.Fatalf("the suite is not in the module cache: %v, %v", err, serr)
	}
	return dir
}

// TestOfficialSuite checks all verdicts of the official suite, except for schemas that refer to another document, which
// Compile must reject.
func TestOfficialSuite(t *testing.T) {
	dir := suiteDir(t)
	for _, c := range []struct {
		dir, dialect string
		verdicts     int // minimum number of verdicts
		remote       int // number of groups rejected for references to other documents
	}{
		{"draft2020-12", "https://json-schema.org/draft/2020-12/schema", 1050, 22},
		{"draft7", "http://json-schema.org/draft-07/schema#", 880, 13},
	} {
		t.Run(c.dir, func(t *testing.T) {
			verdicts, remote := 0, 0
			for _, g := range readSuite(t, filepath.Join(dir, c.dir)) {
				s, err := Compile(withDialect(t, g.Schema, c.dialect))
				if errors.Is(err, ErrRef) && strings.Contains(err.Error(), "outside the schema") {
					remote++
					continue
				}
				if err != nil {
					t.Errorf("%s: compile: %v", g.Description, err)
					continue
				}
				for _, tt := range g.Tests {
					err := s.Validate(t.Context(), tt.Data)
					if got := err == nil; got != tt.Valid {
						t.Errorf("%s: %s: want valid %v, got %v", g.Description, tt.Description, tt.Valid, err)
					}
					checkProblems(t, s, tt.Data, err)
					verdicts++
				}
			}
			if verdicts < c.verdicts || remote != c.remote {
				t.Errorf("want at least %d verdicts and %d refused groups, got %d and %d", c.verdicts, c.remote, verdicts, remote)
			}
		})
	}
}

func readSuite(t *testing.T, dir string) (groups []suiteGroup) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("want files in the suite, got %d, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var g []suiteGroup
		if err := json.Unmarshal(data, &g); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		groups = append(groups, g...)
	}
	return groups
}

// withDialect adds $schema to a schema without it.
func withDialect(t *testing.T, raw json.RawMessage, dialect string) json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m["$schema"] != nil {
		return raw
	}
	m["$schema"] = json.RawMessage(`"` + dialect + `"`)
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// checkProblems checks the invariants of every error of Validate: it has one to eight problems, and their pointers are
// valid.
func checkProblems(t *testing.T, s *Schema, instance []byte, err error) {
	t.Helper()
	ve, ok := errors.AsType[*ValidationError](err)
	if !ok {
		return
	}
	if n := len(ve.Problems); n < 1 || n > maxProblems {
		t.Errorf("schema %s, instance %s: want 1 to %d problems, got %d", s.Raw(), instance, maxProblems, n)
	}
	for _, p := range ve.Problems {
		if !leads(t, instance, p.Instance) || !leads(t, s.Raw(), p.Schema) {
			t.Errorf("schema %s, instance %s: want pointers that lead somewhere, got %+v", s.Raw(), instance, p)
		}
		if p.Message == "" || len(p.Message) > maxText+len("…") {
			t.Errorf("schema %s, instance %s: want a short message, got %+v", s.Raw(), instance, p)
		}
	}
}

// leads reports whether the JSON Pointer leads to a value in the text. A truncated name matches anything.
func leads(t *testing.T, raw []byte, pointer string) bool {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if pointer == "" {
		return true
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for part := range strings.SplitSeq(pointer[1:], "/") {
		part = unescape.Replace(part)
		if strings.HasSuffix(part, "…") {
			return true
		}
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[part]
			if !ok {
				return false
			}
			v = next
		case []any:
			var i int
			if json.Unmarshal([]byte(part), &i) != nil || i >= len(c) {
				return false
			}
			v = c[i]
		default:
			return false
		}
	}
	return true
}
