// Command house measures how the repository is built, for those who rebuild it:
//
//	go run ./internal/house            the table: files, functions, types, words
//	go run ./internal/house DIR...     the same of other libraries, for comparison
//	go run ./internal/house trip [-v]  what one warm tools/call crosses; with -v, function by function
//	go run ./internal/house tests      the names of all tests
//	go run ./internal/house api        what the public packages export, those of nested modules included
//
// The library is every Go file of the root module that is no test, without the directories cmd, examples, benchmarks,
// testenv, tools, testsupport and testdata.
//
// The tests of this package hold the repository to what is committed. docs/glossary.md: each of its words is in a name
// of the code. testdata/api.txt: what is exported now, with each signature, field, method and value, so that a change
// of it shows in review; go generate writes it.
// testdata/tests.txt: what was tested when a redesign began; a test that is gone has moved under its name, or stands in
// moved.txt with the tests that hold its promise now. testdata/limits.txt: how many wide lines and vague words a
// directory may have, which only becomes less.
package main

//go:generate go test . -run ^TestTheExportsAreThoseOfTheBaseline$ -update

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/testnames"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	if err := errors.Join(run(out, ".", os.Args[1:]), out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

// run is the command in the repository at root.
func run(out io.Writer, root string, args []string) error {
	switch command := strings.Join(args, " "); command {
	case "trip", "trip -v":
		return trip(out, root, command == "trip -v")
	case "tests":
		names, err := testnames.Of(root)
		return writeLines(out, slices.Sorted(maps.Keys(names)), err)
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
