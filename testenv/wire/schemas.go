package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcpotel/mcpotel/mcp"
)

// Environment is the variable with the directory of the schemas: schema/ of the specification's repository, with one
// directory for each revision.
const Environment = "MCPOTEL_SPEC"

// Schemas are the schemas of all revisions. They are safe for concurrent use.
type Schemas struct {
	of map[mcp.Version]*revision
}

// Load reads the schemas of every revision that package mcp supports.
func Load(dir string) (*Schemas, error) {
	s := &Schemas{of: map[mcp.Version]*revision{}}
	for _, v := range mcp.SupportedVersions() {
		text, err := os.ReadFile(filepath.Join(dir, string(v), "schema.json"))
		if err != nil {
			return nil, err
		}
		if s.of[v], err = newRevision(v, text); err != nil {
			return nil, fmt.Errorf("schema of %s: %w", v, err)
		}
	}
	return s, nil
}

// Check validates a value against the definition with this name.
func (s *Schemas) Check(v mcp.Version, name string, value json.RawMessage) error {
	r := s.of[v]
	if r == nil {
		return fmt.Errorf("no schema of revision %q", v)
	}
	return r.check(name, value)
}

// revision is one parsed schema.json.
type revision struct {
	key         string // key of the definitions in the file
	definitions map[string]any
	requests    map[string]string // name of the definition by method
	errors      map[int64]string  // name of the definition by error code

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved // guarded by mu; by the name of the definition
}

func newRevision(v mcp.Version, text []byte) (*revision, error) {
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	r := &revision{
		key: "$defs", requests: map[string]string{}, errors: map[int64]string{}, resolved: map[string]*jsonschema.Resolved{},
	}
	if _, old := whole["definitions"]; old {
		r.key = "definitions"
	}
	r.definitions, _ = whole[r.key].(map[string]any)
	if len(r.definitions) == 0 {
		return nil, errors.New("no definitions")
	}
	mend(v, r.definitions)
	for name, d := range r.definitions {
		if method, ok := at(d, "properties", "method", "const").(string); ok {
			r.requests[method] = name
		}
		for _, part := range list(at(d, "properties", "error", "allOf")) {
			if code, ok := at(part, "properties", "code", "const").(float64); ok {
				r.errors[int64(code)] = name
			}
		}
	}
	forbidUnknown(r.definitions)
	return r, nil
}

// mend corrects known errors in published schemas: the generator wrote integer instead of number for the bounds and the
// default of a form's number, until this was noticed, and still does for the numbers in the answer.
func mend(v mcp.Version, definitions map[string]any) {
	walk(at(definitions, "ElicitResult", "properties", "content"), func(o map[string]any) {
		if types := list(o["type"]); slices.Contains(types, any("integer")) {
			o["type"] = append(slices.Clone(types), "number")
		}
	})
	if v != mcp.Version20250618 && v != mcp.Version20251125 {
		return
	}
	for _, member := range []string{"minimum", "maximum", "default"} {
		if p, ok := at(definitions, "NumberSchema", "properties", member).(map[string]any); ok {
			p["type"] = "number"
		}
	}
}

// has reports whether there is a definition with this name.
func (r *revision) has(name string) bool { _, ok := r.definitions[name]; return ok }

func (r *revision) check(name string, value json.RawMessage) error {
	schema, err := r.resolve(name)
	if err != nil {
		return err
	}
	var instance any
	if err := json.Unmarshal(value, &instance); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := schema.Validate(instance); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (r *revision) resolve(name string) (*jsonschema.Resolved, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.resolved[name]; s != nil {
		return s, nil
	}
	if !r.has(name) {
		return nil, fmt.Errorf("the schema does not define %s", name)
	}
	text, err := json.Marshal(map[string]any{"$ref": "#/" + r.key + "/" + name, r.key: r.definitions})
	if err != nil {
		return nil, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r.resolved[name] = resolved
	return resolved, nil
}

// at returns the value under these names in nested objects, or nil.
func at(v any, names ...string) any {
	for _, name := range names {
		o, _ := v.(map[string]any)
		v = o[name]
	}
	return v
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}

// forbidUnknown makes objects reject unknown members where the schema does not decide this. It does not change
// definitions that are parts of others through allOf, because each of them has only some of the members; the envelopes
// of messages; _meta, which is open, and which the params of every message may have even if their definition does not
// mention it; and the schemas of tools.
func forbidUnknown(definitions map[string]any) {
	parts := map[string]bool{}
	walk(definitions, func(o map[string]any) {
		for _, part := range list(o["allOf"]) {
			if ref, ok := at(part, "$ref").(string); ok {
				parts[ref[strings.LastIndexByte(ref, '/')+1:]] = true
			}
		}
	})
	for name, d := range definitions {
		switch o, _ := d.(map[string]any); {
		case parts[name], strings.HasSuffix(name, "MetaObject"), at(o, "allOf") != nil:
		case at(o, "properties", "method") != nil:
			params, _ := at(o, "properties", "params").(map[string]any)
			if members, ok := params["properties"].(map[string]any); ok && members["_meta"] == nil {
				members["_meta"] = map[string]any{}
			}
			forbidIn(params)
		default:
			forbidIn(o)
		}
	}
}

// forbidIn makes v and all objects in v reject unknown members.
func forbidIn(v any) {
	switch v := v.(type) {
	case map[string]any:
		_, objects := v["properties"].(map[string]any)
		_, said := v["additionalProperties"]
		if objects && !said && v["type"] == "object" && v["allOf"] == nil {
			v["additionalProperties"] = false
		}
		for name, member := range v {
			if !slices.Contains(open, name) {
				forbidIn(member)
			}
		}
	case []any:
		for _, element := range v {
			forbidIn(element)
		}
	}
}

// open are the names of members with any contents.
var open = []string{"allOf", "_meta", "inputSchema", "outputSchema"}

// walk calls f with every object in v.
func walk(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(v)
		for _, member := range v {
			walk(member, f)
		}
	case []any:
		for _, element := range v {
			walk(element, f)
		}
	}
}
