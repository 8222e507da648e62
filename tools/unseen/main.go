// Command unseen lists the rows of the telemetry schema that no test has emitted, and fails if there are any:
//
//	export MCPOTEL_TELEMETRY_SEEN=$(mktemp -d)
//	go test -count=1 ./...
//	go -C tools run ./unseen
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/mcpotel/mcpotel/internal/schemacheck"
)

func main() {
	os.Exit(run(os.Getenv(schemacheck.SeenVariable), os.Stdout))
}

func run(dir string, out io.Writer) (code int) {
	if dir == "" {
		fmt.Fprintf(out, "set %s to the directory where the tests stored the rows\n", schemacheck.SeenVariable)
		return 2
	}
	seen, err := schemacheck.ReadSeen(dir)
	if err != nil {
		fmt.Fprintln(out, err)
		return 2
	}
	declared := schemacheck.Declared()
	missing := declared.Missing(seen)
	for _, row := range missing {
		fmt.Fprintf(out, "declared and never emitted: %s\n", row)
	}
	fmt.Fprintf(out, "tests emitted %d of %d rows of the schema\n", len(declared)-len(missing), len(declared))
	if len(missing) > 0 {
		return 1
	}
	return 0
}
