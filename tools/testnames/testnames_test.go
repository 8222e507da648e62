package testnames_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpotel/mcpotel/tools/testnames"
)

func TestListCoversAllModulesAndSystems(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": "package a\nfunc TestMain() {}\nfunc TestA() {}\nfunc Testify() {}\nfunc ExampleT_m() {}\n" +
			"func (s suite) TestOfASuite() {}\nfunc Fuzz() {}\n",
		"a.go":                            "package a\nfunc TestInCode() {}\n",
		"below/nested/go.mod":             "module nested\n",
		"below/nested/b_windows_test.go":  "//go:build windows\n\npackage b\nfunc BenchmarkB() {}\n",
		"below/testdata/c_test.go":        "package c\nfunc TestOfTestdata() {}\n",
		"below/node_modules/x/d_test.go":  "no Go",
		"below/.hidden/e_test.go":         "no Go",
		"below/nested/_ignored/f_test.go": "no Go",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := testnames.Of(root)
	want := map[string]string{
		"..TestA": "a_test.go", "..ExampleT_m": "a_test.go", "..Fuzz": "a_test.go",
		"below/nested.BenchmarkB": "below/nested/b_windows_test.go",
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("tests: want %v, got %v, %v", want, got, err)
	}
}
