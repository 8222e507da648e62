package given

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
)

const badMeta, badName, badSource = `{"a bad name":1}`, "no prefix", "javascript:alert(1)"

// structs are the types of package mcp that themselves have a field to check. TestEveryUserFieldIsChecked compares the
// list with the source.
var structs = []any{
	mcp.AudioContent{}, mcp.CallToolParams{}, mcp.CancelledParams{}, mcp.ClientCapabilities{}, mcp.CompleteParams{},
	mcp.CreateMessageParams{}, mcp.ElicitParams{}, mcp.ElicitationCompleteParams{}, mcp.EmbeddedResource{},
	mcp.GetPromptParams{},
	mcp.ImageContent{}, mcp.Implementation{}, mcp.InitializeParams{}, mcp.LegacyTaskStatusParams{},
	mcp.LoggingMessageParams{}, mcp.PageParams{},
	mcp.Params{}, mcp.ProgressParams{}, mcp.Prompt{}, mcp.ReadResourceParams{}, mcp.Resource{}, mcp.ResourceContents{},
	mcp.ResourceTemplate{}, mcp.ResourceUpdatedParams{}, mcp.Result{}, mcp.Root{}, mcp.SamplingMessage{},
	mcp.ServerCapabilities{},
	mcp.SetLevelParams{}, mcp.SubscribeParams{}, mcp.SubscriptionsAcknowledgedParams{}, mcp.SubscriptionsListenParams{},
	mcp.TaskParams{},
	mcp.TaskStatusParams{}, mcp.TextContent{}, mcp.Tool{}, mcp.ToolResultContent{}, mcp.ToolUseContent{},
	mcp.UnsubscribeParams{}, mcp.UpdateTaskParams{},
}

func TestEveryUserFieldIsChecked(t *testing.T) {
	inSource := fieldsInSource(t)
	tested := map[string]bool{}
	for _, v := range structs {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			whole, f := reflect.New(typ), typ.Field(i)
			switch field := whole.Elem().Field(i); {
			case f.Name == "Meta" && f.Type == reflect.TypeFor[mcp.Meta]():
				field.SetBytes([]byte(badMeta))
			case f.Name == "Extensions":
				field.Set(reflect.ValueOf(map[string]mcp.Object{badName: {}}))
			case f.Name == "Icons":
				field.Set(reflect.ValueOf([]mcp.Icon{{Src: "https://example.com/a.png"}, {Src: badSource}}))
			default:
				continue
			}
			tested[typ.Name()+"."+f.Name] = true
			if err := Check(whole.Interface()); err == nil {
				t.Errorf("%s with %s = %v passes, want an error", typ, f.Name, whole.Elem().Field(i))
			}
			if err := Check(whole.Elem().Interface()); err == nil {
				t.Errorf("%s by value passes, want an error", typ)
			}
		}
	}
	if want, got := slices.Sorted(maps.Keys(inSource)), slices.Sorted(maps.Keys(tested)); !slices.Equal(want, got) {
		t.Errorf("package mcp has the fields\n%s, tested are\n%s", want, got)
	}
}

// fieldsInSource returns the fields of exported structs of package mcp that have the name of a checked field.
func fieldsInSource(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../../mcp/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no source of package mcp", err)
	}
	found := map[string]bool{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !spec.Name.IsExported() {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, name := range f.Names {
						if slices.Contains([]string{"Meta", "Extensions", "Icons"}, name.Name) {
							found[spec.Name.Name+"."+name.Name] = true
						}
					}
				}
			}
			return true
		})
	}
	return found
}

func TestNestedValuesAreChecked(t *testing.T) {
	meta, icons := mcp.Meta(badMeta), []mcp.Icon{{Src: badSource}}
	content := mcp.ContentList{mcp.Text("a"), &mcp.ResourceLink{Name: "b", URI: "c:d", Icons: icons}}
	for want, v := range map[string]any{
		"_meta: ":                    &mcp.CallToolResult{Result: mcp.Result{Meta: meta}},
		"content: [1]: icons: [0]: ": &mcp.CallToolResult{Content: content},
		"content: [0]: content: [1]: ": &mcp.CreateMessageResult{
			Content: mcp.SamplingContent{&mcp.ToolResultContent{Content: content}}},
		"content: [0]: resource: _meta": &mcp.CallToolResult{
			Content: mcp.ContentList{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{Meta: meta}}}},
		"messages: [0]: content: _meta": &mcp.GetPromptResult{
			Messages: []*mcp.PromptMessage{{Content: &mcp.TextContent{Meta: meta}}}},
		"messages: [0]: _meta":     &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{{Meta: meta}}},
		"tools: [0]: icons: [0]: ": &mcp.ListToolsResult{Tools: []*mcp.Tool{{Icons: icons}}},
		"contents: [0]: _meta":     &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Meta: meta}}},
		"roots: [0]: _meta":        mcp.ListRootsResult{Roots: []*mcp.Root{{Meta: meta}}},
		"capabilities: extensions: ": &mcp.InitializeResult{
			Capabilities: mcp.ServerCapabilities{Extensions: map[string]mcp.Object{badName: {}}}},
		"serverInfo: icons: [0]: ": mcp.InitializeResult{ServerInfo: mcp.Implementation{Icons: icons}},
	} {
		if err := Check(v); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%T: %v, want an error that begins with %q", v, err, want)
		}
	}
}

func TestUncheckedValuesPass(t *testing.T) {
	for _, v := range []any{
		nil, 1, "a", (*mcp.Tool)(nil), struct{ Meta mcp.Meta }{mcp.Meta(badMeta)}, map[string]any{"_meta": 1},
		mcp.Object(badMeta),
		&mcp.CallToolResult{Content: mcp.ContentList{nil, (*mcp.TextContent)(nil), &mcp.UnknownContent{}}},
		&mcp.CallToolParams{Meta: mcp.Meta(`{"com.example/a":1,"progressToken":2}`),
			Arguments: mcp.Tool{Meta: mcp.Meta(badMeta)}},
		&mcp.ClientCapabilities{Experimental: map[string]mcp.Object{badName: {}}},
	} {
		if err := Check(v); err != nil {
			t.Errorf("%#v: %v, want it to pass", v, err)
		}
	}
}

func TestOtherTypesAreCheckedAsEncoded(t *testing.T) {
	for text, valid := range map[string]bool{
		`{"a":{"_meta":` + badMeta + `},"_meta":{"com.example/a":1}}`: true,
		`{"a":1,"_meta":` + badMeta + `}`:                             false,
		`{"_meta":{"dev.mcp/a":1}}`:                                   false,
		`{"_meta":7}`:                                                 true, // the encoder refuses it
		`{}`:                                                          true,
	} {
		if err := CheckEncoded(map[string]any{}, []byte(text)); (err == nil) != valid {
			t.Errorf("%s: %v, want valid: %v", text, err, valid)
		}
	}
	if err := CheckEncoded(&mcp.CallToolParams{}, []byte(`{"_meta":`+badMeta+`}`)); err != nil {
		t.Errorf("params of package mcp: %v, want them checked as they are, not as they are encoded", err)
	}
}

func TestUnsafeIconsAreDroppedEverywhere(t *testing.T) {
	safe, unsafe := mcp.Icon{Src: "https://example.com/a.png"}, mcp.Icon{Src: badSource}
	some := func() []mcp.Icon { return []mcp.Icon{safe, unsafe, safe, {Src: "file:///etc/passwd"}} }
	for _, v := range []any{
		&mcp.ListToolsResult{Tools: []*mcp.Tool{{Icons: some()}}},
		&mcp.ListPromptsResult{Prompts: []*mcp.Prompt{{Icons: some()}}},
		&mcp.ListResourcesResult{Resources: []*mcp.Resource{{Icons: some()}}},
		&mcp.ListResourceTemplatesResult{ResourceTemplates: []*mcp.ResourceTemplate{{Icons: some()}}},
		&mcp.InitializeResult{ServerInfo: mcp.Implementation{Icons: some()}},
		&mcp.InitializeParams{ClientInfo: mcp.Implementation{Icons: some()}},
		&mcp.CallToolResult{Content: mcp.ContentList{nil, &mcp.ResourceLink{Icons: some()}}},
		&mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Content: &mcp.ResourceLink{Icons: some()}}}},
		&mcp.CreateMessageParams{Tools: []*mcp.Tool{{Icons: some()}}},
	} {
		n, first := DropIcons(v)
		if n != 2 || first == nil || !strings.Contains(first.Error(), "javascript") {
			t.Errorf("%T: %d dropped, the first because %v, want 2 and a word about javascript", v, n, first)
		}
		if err := Check(v); err != nil {
			t.Errorf("%T: %v is left", v, err)
		}
	}
	kept := some()[:1]
	if n, first := DropIcons(&mcp.Implementation{Icons: kept}); n != 0 || first != nil {
		t.Errorf("of a safe icon %d are dropped because %v, want none", n, first)
	}
	shared := some()
	DropIcons(&mcp.Tool{Icons: shared})
	if !reflect.DeepEqual(shared, some()) {
		t.Errorf("the list that others may share has become %v", shared)
	}
	for _, v := range []any{nil, new(int), (*mcp.Tool)(nil), &mcp.CallToolResult{}} {
		if n, _ := DropIcons(v); n != 0 {
			t.Errorf("%d icons dropped from %#v", n, v)
		}
	}
}
