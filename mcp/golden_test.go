package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// cmpID makes cmp compare request ids.
var cmpID = cmpopts.EquateComparable(RequestID{})

// wireTypes lists, by name, the types that represent JSON of the protocol. TestGoldenValuesCoverEveryType checks that
// the list is complete.
var wireTypes = func() map[string]reflect.Type {
	byName := map[string]reflect.Type{}
	for _, t := range []reflect.Type{
		of[CallToolParams](), of[CallToolResult](), of[CancelledParams](), of[ClientCapabilities](),
		of[CompleteArgument](), of[CompleteContext](), of[CompleteParams](), of[CompleteRef](), of[CompleteResult](),
		of[Completion](), of[CreateMessageParams](), of[CreateMessageResult](), of[CreateTaskResult](),
		of[DetailedTask](), of[DiscoverResult](), of[ElicitParams](), of[ElicitResult](),
		of[ElicitationCapability](), of[ElicitationCompleteParams](), of[Error](), of[FormSchema](),
		of[GetPromptParams](), of[GetPromptResult](), of[GetTaskResult](), of[Icon](), of[Implementation](),
		of[InitializeParams](), of[InitializeResult](), of[InputRequest](), of[InputRequiredResult](), of[InputRound](),
		of[LegacyCreateTaskResult](), of[LegacyListTasksResult](), of[LegacyTask](), of[LegacyTaskResult](),
		of[LegacyTaskStatusParams](), of[ListCapability](), of[ListPromptsResult](), of[ListResourceTemplatesResult](),
		of[ListResourcesResult](), of[ListRootsResult](), of[ListToolsResult](), of[LoggingMessageParams](),
		of[MissingClientCapabilityData](), of[ModelHint](), of[ModelPreferences](), of[PageParams](), of[Params](),
		of[ProgressParams](), of[Prompt](), of[PromptArgument](), of[PromptMessage](), of[ReadResourceParams](),
		of[ReadResourceResult](), of[RelatedTask](), of[Resource](), of[ResourceContents](), of[ResourceNotFoundData](),
		of[ResourceTemplate](), of[ResourceUpdatedParams](), of[ResourcesCapability](), of[Result](), of[Root](),
		of[RootsCapability](), of[SamplingCapability](), of[SamplingMessage](), of[ServerCapabilities](),
		of[SetLevelParams](),
		of[SubscribeParams](), of[SubscriptionFilter](), of[SubscriptionsAcknowledgedParams](),
		of[SubscriptionsListenParams](), of[Task](), of[TaskMetadata](), of[TaskParams](), of[TaskStatusParams](),
		of[TasksCapability](), of[Tool](), of[ToolAnnotations](), of[ToolChoice](), of[ToolExecution](),
		of[URLElicitationRequiredData](), of[UnsubscribeParams](), of[UnsupportedVersionData](), of[UpdateTaskParams](),
	} {
		byName[t.Name()] = t
	}
	return byName
}()

// partTypes are types that occur only inside other types. The golden values of those other types contain them.
var partTypes = []string{
	"Annotations", "AudioContent", "CacheHint", "EmbeddedResource", "FormField", "FormItems", "FormOption",
	"ImageContent", "TextContent", "ToolResultContent", "ToolUseContent", "UnknownContent",
}

// golden is one line of testdata/golden.txt.
type golden struct {
	name    string // name of the type
	version Version
	text    []byte
	line    int
}

func (g golden) new() any { return reflect.New(wireTypes[g.name]).Interface() }

func goldens(tb testing.TB) []golden {
	tb.Helper()
	file, err := os.Open("testdata/golden.txt")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	var all []golden
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		version, text, found := strings.Cut(rest, " ")
		if !found || wireTypes[name] == nil || !Version(version).Supported() {
			tb.Fatalf("golden.txt:%d: no type, revision and value: %s", n, line)
		}
		all = append(all, golden{name, Version(version), []byte(text), n})
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

// meaning returns a JSON value that can be compared. Its numbers keep their digits.
func meaning(tb testing.TB, text []byte) any {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		tb.Fatalf("not JSON: %v: %s", err, text)
	}
	return canonical(v)
}

// canonical replaces each number with a float if the float is exact, so that 1e2 equals 100.
func canonical(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && f < 1<<53 && f > -1<<53 {
			return f
		}
	case []any:
		for i := range v {
			v[i] = canonical(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = canonical(v[k])
		}
	}
	return v
}

func TestGoldenValuesRoundTripThroughEveryCodec(t *testing.T) {
	decoders := map[string]func(text []byte, v any) error{
		"Decode": func(text []byte, v any) error {
			n, err := Decode(bytes.Clone(text), v)
			if err == nil && n != len(text) {
				t.Errorf("Decode took %d of %d bytes", n, len(text))
			}
			return err
		},
		"json v1": json.Unmarshal,
		"json v2": func(text []byte, v any) error { return jsonv2.Unmarshal(text, v) },
	}
	encoders := map[string]func(v any) ([]byte, error){
		"AppendParams": func(v any) ([]byte, error) { return AppendParams(nil, v) },
		"AppendResult": func(v any) ([]byte, error) { return AppendResult(nil, v) },
		"json v1":      json.Marshal,
		"json v2":      func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
	}
	for _, g := range goldens(t) {
		want := meaning(t, g.text)
		for decoder, decode := range decoders {
			v := g.new()
			if err := decode(g.text, v); err != nil {
				t.Errorf("golden.txt:%d: %s: %v", g.line, decoder, err)
				continue
			}
			for encoder, encode := range encoders {
				text, err := encode(v)
				if err != nil {
					t.Errorf("golden.txt:%d: %s, then %s: %v", g.line, decoder, encoder, err)
					continue
				}
				if diff := cmp.Diff(want, meaning(t, text)); diff != "" {
					t.Errorf("golden.txt:%d: %s, then %s changes the value (-want +got):\n%s", g.line, decoder, encoder, diff)
				}
			}
		}
	}
}

func TestDecodersAgreeOnGoldenValues(t *testing.T) {
	for _, g := range goldens(t) {
		own, v1, v2 := g.new(), g.new(), g.new()
		if _, err := Decode(bytes.Clone(g.text), own); err != nil {
			t.Fatalf("golden.txt:%d: %v", g.line, err)
		}
		if err := json.Unmarshal(g.text, v1); err != nil {
			t.Fatalf("golden.txt:%d: %v", g.line, err)
		}
		if err := jsonv2.Unmarshal(g.text, v2); err != nil {
			t.Fatalf("golden.txt:%d: %v", g.line, err)
		}
		if diff := cmp.Diff(v2, own, cmpID); diff != "" {
			t.Errorf("golden.txt:%d: Decode differs from json v2 (-v2 +own):\n%s", g.line, diff)
		}
		if diff := cmp.Diff(v2, v1, cmpID); diff != "" {
			t.Errorf("golden.txt:%d: json v1 differs from json v2 (-v2 +v1):\n%s", g.line, diff)
		}
	}
}

func TestGoldenValuesCoverEveryType(t *testing.T) {
	named := slices.Concat(slices.Collect(maps.Keys(wireTypes)), partTypes)
	for _, name := range exportedStructs(t) {
		neverTravels := []string{"Method", "ToolError", "UnreadableTool"}
		if !slices.Contains(named, name) && !slices.Contains(neverTravels, name) {
			t.Errorf("type %s is neither among wireTypes nor among partTypes", name)
		}
	}
	set := map[string]bool{}    // Type.Field that a golden value sets
	fields := map[string]bool{} // Type.Field that exists
	for _, g := range goldens(t) {
		v := g.new()
		if _, err := Decode(bytes.Clone(g.text), v); err != nil {
			t.Fatalf("golden.txt:%d: %v", g.line, err)
		}
		noteFields(reflect.ValueOf(v), fields, set)
	}
	for field := range fields {
		if !set[field] {
			t.Errorf("no golden value sets %s", field)
		}
	}
	for name := range wireTypes {
		if !slices.ContainsFunc(goldens(t), func(g golden) bool { return g.name == name }) {
			t.Errorf("no golden value of type %s", name)
		}
	}
	if least := 300; len(fields) < least {
		t.Errorf("the golden values reach %d fields, want at least %d", len(fields), least)
	}
}

// exportedStructs returns the names of the struct types that this package exports.
func exportedStructs(t *testing.T) (names []string) {
	t.Helper()
	sources, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		if !strings.HasSuffix(source.Name(), ".go") || strings.HasSuffix(source.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if ok && spec.Name.IsExported() {
				if _, ok := spec.Type.(*ast.StructType); ok {
					names = append(names, spec.Name.Name)
				}
			}
			return !ok
		})
	}
	return names
}

// noteFields walks over v. It records the fields of all structs in v, and which of these fields are set.
func noteFields(v reflect.Value, fields, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			noteFields(v.Elem(), fields, set)
		}
	case reflect.Slice:
		for i := range v.Len() {
			noteFields(v.Index(i), fields, set)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			noteFields(v.MapIndex(key), fields, set)
		}
	case reflect.Struct:
		if v.Type().PkgPath() != thisPackage {
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Tag.Get("json") == "-" { // never encoded
				continue
			}
			name := v.Type().Name() + "." + f.Name
			fields[name] = true
			if !v.Field(i).IsZero() {
				set[name] = true
			}
			noteFields(v.Field(i), fields, set)
		}
	}
}

func TestEveryMethodHasGoldenParamsAndResults(t *testing.T) {
	all := goldens(t)
	for m := range Methods() {
		for _, typ := range []reflect.Type{m.Params, m.Result} {
			if typ == nil || typ == of[json.RawMessage]() {
				continue
			}
			if !slices.ContainsFunc(all, func(g golden) bool { return wireTypes[g.name] == typ }) {
				t.Errorf("%s: no golden value of type %s", m.Name, typ)
			}
		}
	}
}
