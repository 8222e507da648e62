// Command house measures how the repository is built, for those who rebuild it:
//
//	go -C tools run ./house            the table: files, functions, types, words
//	go -C tools run ./house DIR...     the same of other libraries, for comparison
//	go -C tools run ./house trip [-v]  what one warm tools/call crosses; with -v, function by function
//	go -C tools run ./house api        what the public packages export, those of nested modules included
//
// The library is every Go file of the root module that is no test, without the directories cmd, examples, benchmarks,
// testenv, tools, testsupport and testdata.
//
// The tests of this package hold the pages to the code: their links, the tests and the names of telemetry in them, and
// testdata/api.txt, which has what is exported now, with each signature, field, method and value. A change of it shows
// in review; go generate writes it.
package main

//go:generate go test . -run ^TestTheExportsAreThoseOfTheBaseline$ -update

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	if err := errors.Join(run(out, "..", os.Args[1:]), out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

// run is the command in the repository at root.
func run(out io.Writer, root string, args []string) error {
	switch command := strings.Join(args, " "); command {
	case "trip", "trip -v":
		return trip(out, root, command == "trip -v")
	case "api":
		lines, err := api(root)
		return writeLines(out, lines, err)
	}
	return table(out, root, args)
}

// writeLines writes what was found, if there is no error.
func writeLines(out io.Writer, lines []string, err error) error {
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
	return err
}
