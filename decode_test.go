package mcpotel_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// decodesInPlace lists the functions that overwrite or alias the bytes they read, and the files that may call them
// because they own the bytes. All other code calls [mcp.Decode], which does not change the bytes.
var decodesInPlace = map[string][]string{
	"mcp.DecodeInPlace": {
		"internal/client/conn/result.go", // a frame, by Message.Consume
		"benchmarks/decode_test.go",      // also a frame
	},
	"jsonscan.Text": {
		"mcp/decodecontent.go", "mcp/decodeobject.go", // parts of DecodeInPlace
	},
	"jsonscan.Unquote": {
		"internal/jsonrpc/id.go", "internal/mirror/params.go", "internal/otlpsink/weigh.go", // they decode copies
		"internal/instrument/propagate/carrier.go", "internal/schema/decode.go", "mcpproxy/redact.go",
	},
	"jsonscan.Alias": {},
}

func TestOnlyOwnersDecodeBytesInPlace(t *testing.T) {
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || d.IsDir() {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && decodesInPlace[x.Name+"."+s.Sel.Name] != nil {
					name := x.Name + "." + s.Sel.Name
					found[name] = append(found[name], filepath.ToSlash(path))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range decodesInPlace {
		got := slices.DeleteFunc(found[name], func(path string) bool {
			return strings.HasPrefix(path, "internal/jsonscan/") || strings.HasSuffix(path, "_test.go") &&
				!slices.Contains(want, path)
		})
		slices.Sort(got)
		slices.Sort(want)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%s is called in %q, want %q: release the bytes with Message.Consume, or call mcp.Decode", name, got, want)
		}
	}
}
