package specification

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/tools/testnames"
)

var update = flag.Bool("update", false, "write docs/conformance.md anew")

// root is the repository's root directory.
const root = "../.."

func table(t *testing.T) (pages []Page, files map[string]string) {
	t.Helper()
	pages, err := Pages("statements")
	if err != nil {
		t.Fatal(err)
	}
	if files, err = testnames.Of(root); err != nil {
		t.Fatal(err)
	}
	return pages, files
}

func TestPageMatchesTheStatements(t *testing.T) {
	pages, files := table(t)
	const file = root + "/docs/conformance.md"
	want := document(pages, files)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is not what the statements say (%v); run go -C tools generate ./specification", file, err)
	}
}

// Each duty of client and server has an existing test, or the table has the reason why there is no test. Subtests exist
// only for scenarios of the conformance suite.
func TestEveryStatementHasATestOrAReason(t *testing.T) {
	pages, files := table(t)
	var scenarios strings.Builder
	for _, name := range []string{"scenarios_test.go", "serverscenarios_test.go"} {
		text, err := os.ReadFile(filepath.Join(root, "testenv/conformance", name))
		if err != nil {
			t.Fatal(err)
		}
		scenarios.WriteString(string(text))
	}
	if len(pages) < 40 {
		t.Fatalf("want the statements of at least 40 pages, got %d", len(pages))
	}
	for i := range pages {
		for j := range pages[i].Statements {
			s := &pages[i].Statements[j]
			if roles[s.Who] == "" {
				t.Errorf("%s: %q is not one of the roles: %s", &pages[i], s.Who, s.Text)
			}
			if len(s.Tests) == 0 && s.Why == "" {
				t.Errorf("%s: no test and no reason: %s", &pages[i], s.Text)
			}
			for _, test := range s.Tests {
				if files[function(test)] == "" {
					t.Errorf("%s: there is no %s: %s", &pages[i], test, s.Text)
				}
				if scenario := strings.TrimPrefix(test, function(test)); scenario != "" &&
					!strings.Contains(scenarios.String(), `"`+scenario[1:]+`"`) {
					t.Errorf("%s: the conformance suite runs no %s: %s", &pages[i], scenario[1:], s.Text)
				}
			}
		}
	}
}

// Beside a checkout of the specification (MCPOTEL_SPEC names its schema directory), the statements equal those of its
// pages.
func TestStatementsMatchTheSpecification(t *testing.T) {
	schema := os.Getenv("MCPOTEL_SPEC")
	if schema == "" {
		t.Skip("MCPOTEL_SPEC does not name the schema directory of a checkout of the specification")
	}
	want, err := Extract(os.DirFS(filepath.Join(schema, "../docs/specification")))
	if err != nil {
		t.Fatal(err)
	}
	reference, err := ExtractSchema(os.DirFS(schema))
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, reference...)
	pages, _ := table(t)
	type key struct{ page, text string }
	have, said := map[key]bool{}, map[key]bool{}
	for i := range pages {
		if extensions[pages[i].Path] != "" {
			continue
		}
		for j := range pages[i].Statements {
			have[key{pages[i].String(), pages[i].Statements[j].Text}] = true
		}
	}
	for i := range want {
		for j := range want[i].Statements {
			k := key{want[i].String(), want[i].Statements[j].Text}
			if !have[k] {
				t.Errorf("%s lacks, under %q: %s", want[i].file(), want[i].Statements[j].Section, k.text)
			}
			said[k] = true
		}
	}
	for k := range have {
		if !said[k] {
			t.Errorf("%s does not say: %s", k.page, k.text)
		}
	}
}
