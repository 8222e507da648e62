// Command unseen says which rows of the telemetry schema no test has seen emitted, and fails if there are any:
//
//	export MCPOTEL_TELEMETRY_SEEN=$(mktemp -d)
//	go test -count=1 ./...
//	go run ./internal/unseen
//
// Rows that only tests with further prerequisites can show stand in [elsewhere], with the test that does; -all asks for
// those too.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/mcpotel/mcpotel/internal/schemacheck"
)

func main() {
	all := flag.Bool("all", false, "ask for rows that only end-to-end tests show, too")
	flag.Parse()
	os.Exit(run(os.Getenv(schemacheck.SeenVariable), *all, os.Stdout))
}

func run(dir string, all bool, out io.Writer) (code int) {
	if dir == "" {
		fmt.Fprintf(out, "%s does not name the directory in which tests left what they saw\n", schemacheck.SeenVariable)
		return 2
	}
	seen, err := schemacheck.ReadSeen(dir)
	if err != nil {
		fmt.Fprintln(out, err)
		return 2
	}
	declared := schemacheck.Declared()
	missing := 0
	for _, row := range declared.Missing(seen) {
		if where, ok := elsewhere[row]; ok && !all {
			fmt.Fprintf(out, "not asked for: %s (%s)\n", row, where)
			continue
		}
		fmt.Fprintf(out, "declared and never emitted: %s\n", row)
		missing++
	}
	fmt.Fprintf(out, "%d of %d rows of the schema were seen\n", len(declared)-len(declared.Missing(seen)), len(declared))
	if missing > 0 {
		return 1
	}
	return 0
}

// elsewhere are rows that tests of other modules show.
var elsewhere = map[string]string{}
