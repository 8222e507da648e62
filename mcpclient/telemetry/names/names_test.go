package names_test

import (
	"flag"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

var update = flag.Bool("update", false, "rewrite the comments of the constants from the schema")

// row is the value and the comment that a row of the schema requires of its constant.
type row struct{ value, comment string }

// rows returns the rows of the schema by the name of the constant that each requires.
func rows() map[string]row {
	all := map[string]row{}
	add := func(prefix, name, brief string) {
		var comment strings.Builder
		for line := range strings.SplitSeq(wrapped(brief, 110), "\n") {
			comment.WriteString("// " + line + "\n")
		}
		all[prefix+inOneWord(name)] = row{strings.TrimSuffix(name, "{name}"), comment.String()}
	}
	for _, m := range schema.Current.Metrics {
		add("Metric", m.Name, m.Brief+" In "+m.Unit+".")
	}
	for _, a := range schema.Current.Attributes {
		add("Key", a.Key, a.Brief)
	}
	for _, e := range schema.Current.Events {
		add("Event", e.Name, e.Brief)
	}
	return all
}

// sources returns the source files of the package.
func sources(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

// written is a constant of this package, as written in its file.
type written struct {
	name, value, comment string
	from, to             int // lines of the comment
}

// constants returns the constants of a file whose names begin with one of the prefixes.
func constants(t *testing.T, source []byte, prefixes ...string) (all []written) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	offset := func(p token.Pos) int { return files.Position(p).Offset }
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(spec.Names[0].Name, p) }) {
			return true
		}
		value := constant.MakeFromLiteral(spec.Values[0].(*ast.BasicLit).Value, token.STRING, 0)
		c := written{name: spec.Names[0].Name, value: constant.StringVal(value), from: offset(spec.Pos()),
			to: offset(spec.Pos())}
		if spec.Doc != nil {
			c.from = offset(spec.Doc.Pos())
			for _, line := range spec.Doc.List {
				c.comment += line.Text + "\n"
			}
		}
		all = append(all, c)
		return true
	})
	return all
}

// TestConstantsMatchSchema compares the names, which are written by hand, with the rows that refer to them, and the
// comments, which -update writes, with the descriptions of the rows.
func TestConstantsMatchSchema(t *testing.T) {
	missing := rows()
	for _, file := range sources(t) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		after := string(source)
		for _, c := range slices.Backward(constants(t, source, "Metric", "Key", "Event")) {
			want, ok := missing[c.name]
			delete(missing, c.name)
			switch {
			case !ok:
				t.Errorf("%s: %s has the name of a schema constant, but the schema has no row for %q", file, c.name, c.value)
			case c.value != want.value:
				t.Errorf("%s: %s is %q, want %q", file, c.name, c.value, want.value)
			case c.comment != want.comment && !*update:
				t.Errorf("%s: the comment of %s differs from its row; run go generate ./...; got\n%swant\n%s",
					file, c.name, c.comment, want.comment)
			case c.comment != want.comment:
				after = after[:c.from] + strings.ReplaceAll(want.comment, "\n", "\n\t") + after[c.to:]
			}
		}
		if after != string(source) {
			if err := os.WriteFile(file, []byte(after), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, want := range missing {
		t.Errorf("a row of the schema has no constant; add %s = %q", name, want.value)
	}
}

// TestWordsMatchSchemaEnumerations compares the words with the enumerations, in both directions.
func TestWordsMatchSchemaEnumerations(t *testing.T) {
	source, err := os.ReadFile("words.go")
	if err != nil {
		t.Fatal(err)
	}
	for prefix, key := range map[string]string{
		"Drop": names.KeyMCPClientDropReason, "Retry": names.KeyMCPClientRetryReason,
		"Stream": names.KeyMCPClientStreamKind, "Auth": names.KeyMCPClientAuthStep,
		"Definition": names.KeyMCPClientToolDefinitionPart, "Loop": names.KeyMCPClientLoopKind,
		"Change": names.KeyMCPClientToolChangeKind, "Policy": names.KeyMCPServerPolicyDecision,
		"Fault": names.KeyMCPClientFaultKind,
	} {
		i := slices.IndexFunc(schema.Current.Attributes, func(a schema.Attribute) bool { return a.Key == key })
		var got []string
		for _, c := range constants(t, source, prefix) {
			got = append(got, c.value)
		}
		if want := schema.Current.Attributes[i].Enum; !slices.Equal(got, want) {
			t.Errorf("the words of %s: got %q, want %q", key, got, want)
		}
	}
}

// TestEachSpanNameHasRow compares the names of spans with the rows that begin with them.
func TestEachSpanNameHasRow(t *testing.T) {
	source, err := os.ReadFile("spans.go")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, c := range constants(t, source, "Span") {
		if want := "Span" + inOneWord(c.value); c.name != want {
			t.Errorf("%q has the constant %s, want %s", c.value, c.name, want)
		}
		got[c.value] = true
	}
	for _, s := range schema.Current.Spans {
		own, _, _ := strings.Cut(s.NameForm, " ")
		if !strings.HasPrefix(own, "{") && !got[own] {
			t.Errorf("span %s has no constant, although it is not named after its method", own)
		}
		delete(got, own)
	}
	for name := range got {
		t.Errorf("span %s has a constant but no row", name)
	}
}

// initials are the words that Go writes in capitals.
var initials = map[string]string{
	"mcp": "MCP", "ai": "AI", "id": "ID", "uri": "URI", "pid": "PID", "rpc": "RPC", "jsonrpc": "JSONRPC", "mrtr": "MRTR",
}

// inOneWord converts a name to a part of an identifier: mcp_client.corr_id becomes MCPClientCorrID. It omits the
// placeholder at the end of a key.
func inOneWord(name string) string {
	var b strings.Builder
	name = strings.TrimSuffix(name, ".{name}")
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' }) {
		if capitals, ok := initials[word]; ok {
			b.WriteString(capitals)
		} else {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// wrapped breaks a text into lines of at most this many bytes.
func wrapped(text string, width int) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}
