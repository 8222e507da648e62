package wire

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// specification returns the directory with the schemas.
func specification(t *testing.T) string {
	dir := os.Getenv(Environment)
	if dir == "" {
		t.Skipf("%s does not say where the specification's schemas are", Environment)
	}
	return dir
}

func load(t *testing.T) *Schemas {
	s, err := Load(specification(t))
	if err != nil {
		t.Fatalf("%s: %v", Environment, err)
	}
	return s
}

// Each example in the specification must survive decoding into our types and encoding without a change, and must be
// valid by its own schema in our stricter reading.
func TestEveryExampleRoundTrips(t *testing.T) {
	schemas := load(t)
	pattern := filepath.Join(specification(t), string(mcp.Version20260728), "examples", "*", "*.json")
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != 129 {
		t.Fatalf("want the 129 examples of %s, got %d, %v", mcp.Version20260728, len(files), err)
	}
	for _, file := range files {
		kind := filepath.Base(filepath.Dir(file))
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(kind+"/"+name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fault := schemas.Check(mcp.Version20260728, kind, text)
			if want := faulty[kind+"/"+name]; (fault != nil) != (want != "") ||
				fault != nil && !strings.Contains(fault.Error(), want) {
				t.Errorf("the schema says %v; want %q in it", fault, want)
			}
			back, err := again(kind, text)
			if err != nil {
				t.Fatalf("want it decoded and encoded again, got %v", err)
			}
			if diff := cmp.Diff(value(t, text), value(t, back)); diff != "" {
				t.Errorf("came back differently (-sent +back):\n%s", diff)
			}
		})
	}
}

// faulty are the examples that the specification's own schema rejects, with the reason.
var faulty = map[string]string{
	"ReadResourceResultResponse/read-resource-result-response": `missing properties: ["cacheScope" "ttlMs"]`,
}

// value decodes JSON and removes members that mean the same as their absence: two booleans with the value false, and
// the unused id of a request inside a result.
func value(t *testing.T, text []byte) (v any) {
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	walk(v, func(o map[string]any) {
		for _, name := range []string{"isError", "hasMore"} {
			if o[name] == false {
				delete(o, name)
			}
		}
		if o["method"] == mcp.MethodListRoots && o["jsonrpc"] == nil {
			delete(o, "id")
		}
	})
	return v
}

// again decodes an example of a definition and encodes it. Whole messages go through their envelope.
func again(kind string, text []byte) ([]byte, error) {
	var probe struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
	}
	if err := json.Unmarshal(text, &probe); err != nil {
		return nil, err
	}
	switch {
	case probe.JSONRPC != "":
		return againMessage(kind, text)
	case probe.Method != "": // a request inside a result
		return againInput(text)
	}
	f, ok := forms[kind]
	if !ok {
		return nil, errNoType
	}
	back, err := againAs(f.typ, slices.Concat([]byte(f.before), text, []byte(f.after)))
	if err != nil {
		return nil, err
	}
	return inner(back, f)
}

// inner extracts an example from the surrounding JSON.
func inner(text []byte, f form) ([]byte, error) {
	var outer, bare any
	if err := errors.Join(json.Unmarshal(text, &outer),
		json.Unmarshal([]byte(f.before+"null"+f.after), &bare)); err != nil {
		return nil, err
	}
	return json.Marshal(descend(outer, bare))
}

// descend follows the path to the null in bare.
func descend(outer, bare any) any {
	switch bare := bare.(type) {
	case map[string]any:
		for name, v := range bare {
			if o, ok := outer.(map[string]any); ok && hasNull(v) {
				return descend(o[name], v)
			}
		}
	case []any:
		if o, ok := outer.([]any); ok && len(o) == 1 {
			return descend(o[0], bare[0])
		}
	}
	return outer
}

func hasNull(v any) bool {
	text, err := json.Marshal(v)
	return err == nil && strings.Contains(string(text), "null")
}

// againAs decodes text as a value of a type and encodes the value as a part of a message.
func againAs(typ reflect.Type, text []byte) ([]byte, error) {
	v := reflect.New(typ)
	if _, err := mcp.Decode(slices.Clone(text), v.Interface()); err != nil {
		return nil, err
	}
	return mcp.AppendResult(nil, v.Interface())
}

// againInput is like again, for a request inside a result.
func againInput(text []byte) ([]byte, error) {
	var in mcp.InputRequest
	if _, err := mcp.Decode(slices.Clone(text), &in); err != nil {
		return nil, err
	}
	m, known := mcp.Lookup(in.Method, mcp.Version20260728)
	if !known {
		return nil, errNoType
	}
	if in.Params != nil {
		params, err := againAs(m.Params, in.Params)
		if err != nil {
			return nil, err
		}
		in.Params = params
	}
	return mcp.AppendResult(nil, &in)
}

// againMessage is like again, for a whole message.
func againMessage(kind string, text []byte) ([]byte, error) {
	m, err := jsonrpc.Parse(slices.Clone(text))
	if err != nil {
		return nil, err
	}
	switch m.Kind {
	case jsonrpc.Error:
		e, err := m.Failure()
		if err != nil {
			return nil, err
		}
		return jsonrpc.AppendError(nil, m.ID, &e)
	case jsonrpc.Result:
		f, ok := forms[strings.TrimSuffix(kind, "Response")]
		if !ok {
			return nil, errNoType
		}
		result, err := againAs(f.typ, m.Middle())
		if err != nil {
			return nil, err
		}
		return jsonrpc.AppendResult(nil, m.ID, result)
	}
	known, ok := mcp.Lookup(m.Method, mcp.Version20260728)
	if !ok {
		return nil, errNoType
	}
	var params []byte
	if m.Middle() != nil {
		if params, err = againAs(known.Params, m.Middle()); err != nil {
			return nil, err
		}
	}
	if m.Kind == jsonrpc.Notification {
		return jsonrpc.AppendNotification(nil, m.Method, jsonrpc.Meta{}, params)
	}
	return jsonrpc.AppendRequest(nil, m.ID, m.Method, jsonrpc.Meta{}, params)
}
