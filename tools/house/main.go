// Command house measures the structure of the repository:
//
//	go -C tools run ./house            the table: files, functions, types, words
//	go -C tools run ./house DIR...     the same of other libraries, for comparison
//	go -C tools run ./house trip [-v]  functions and files that one warm tools/call crosses; -v lists them
//	go -C tools run ./house api        the exported API of the public packages, nested modules included
//
// The library is every Go file of the root module except tests, without the directories cmd, examples, benchmarks,
// testenv, tools, testsupport and testdata.
//
// The tests of this package compare the pages with the code: links, names of tests and of telemetry, and
// testdata/api.txt, which has the exported API with each signature, field, method and value. Reviews see its changes;
// go generate writes it.
package main

//go:generate go test . -run ^TestExportsMatchTheBaseline$ -update

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

// run runs the command in the repository at root.
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

// writeLines writes the lines, unless there is an error.
func writeLines(out io.Writer, lines []string, err error) error {
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
	return err
}
