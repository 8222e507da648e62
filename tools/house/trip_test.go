package main

import (
	"strings"
	"testing"
)

// walk is a module with a traveller: the client crosses two functions in each of three rounds, and a third function in
// one of the rounds; the server crosses three functions in its only round, two of them with the same name.
var walk = map[string]string{
	"go.mod": "module " + module + "\n\ngo 1.26\n",
	"road/road.go": `package road

var steps int

func Always() { func() { below() }() }

func below() { steps++ }

func Once() { steps++ }

func Never() { steps++ }
`,
	"road/served.go": `package road

type T struct{}

type once[T any] struct{ t T }

func (once[T]) do() { steps++ }

func (*T) Serve() {
	once[int]{}.do()
	twice[int]{}.do()
}

type twice[T any] struct{ t T }

func (twice[T]) do() { steps++ }
`,
	"tools/house/traveller/main.go": `package main

import (
	"flag"
	"os"
	"path/filepath"
	"runtime/coverage"

	"` + module + `/road"
)

func main() {
	out := flag.String("out", "", "")
	flag.String("transport", "", "")
	flag.String("version", "", "")
	flag.Parse()
	road.Never()
	for _, round := range []string{"1", "2", "3"} {
		note(*out, "client", round, func() {
			road.Always()
			if round == "2" {
				road.Once()
			}
		})
	}
	note(*out, "server", "1", new(road.T).Serve)
}

func note(out, end, round string, walk func()) {
	coverage.ClearCounters()
	walk()
	dir := filepath.Join(out, end, round)
	os.MkdirAll(dir, 0o700)
	coverage.WriteCountersDir(dir)
	coverage.WriteMetaDir(dir)
}
`,
}

func TestTripCountsFunctionsOfMostRounds(t *testing.T) {
	var out strings.Builder
	if err := run(&out, write(t, walk), []string{"trip", "-v"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| stdio, 2026-07-28 | 2 functions in 1 files | 3 functions in 1 files |\n",
		"| Streamable HTTP, 2025-11-25 | 2 functions in 1 files | 3 functions in 1 files |\n",
		"\n## stdio, 2026-07-28, client\n\nroad\n- road.go: Always, below\n",
		"\n## stdio, 2026-07-28, server\n\nroad\n- served.go: do, *T.Serve, do\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the trip does not say\n%s\ngot\n%s", want, &out)
		}
	}
}

func TestCompilerErrorIsReported(t *testing.T) {
	broken := map[string]string{
		"go.mod":                        walk["go.mod"],
		"tools/house/traveller/main.go": "package main\n\nfunc main() { missing() }\n",
	}
	err := run(new(strings.Builder), write(t, broken), []string{"trip"})
	if err == nil || !strings.Contains(err.Error(), "undefined: missing") {
		t.Errorf("a broken program: want what the compiler says, got %v", err)
	}
}
