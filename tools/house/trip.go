package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// traveller is the program with both ends of the conversation.
const traveller = "tools/house/traveller"

// routes are the conversations whose warm call is measured.
var routes = []struct{ name, transport, version string }{
	{"stdio, 2026-07-28", "stdio", "2026-07-28"},
	{"stdio, 2025-11-25", "stdio", "2025-11-25"},
	{"Streamable HTTP, 2026-07-28", "http", "2026-07-28"},
	{"Streamable HTTP, 2025-11-25", "http", "2025-11-25"},
}

var ends = []string{"client", "server"}

// trip writes the number of functions and files of the repository that one warm tools/call crosses at each end; with
// each, also their names.
func trip(out io.Writer, root string, each bool) (err error) {
	dir, err := os.MkdirTemp("", "house")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := filepath.Join(dir, "traveller")
	if err := buildCovered(root, traveller, program); err != nil {
		return err
	}
	var details strings.Builder
	fmt.Fprint(out, "| one warm tools/call | client | server |\n|---|--:|--:|\n")
	for i, r := range routes {
		counters := filepath.Join(dir, fmt.Sprint(i))
		walk := exec.Command(program, "-out", counters, "-transport", r.transport, "-version", r.version)
		walk.Env = append(os.Environ(), "GOCOVERDIR="+dir) // for the counters of the whole process
		if _, err := output(walk, root); err != nil {
			return err
		}
		fmt.Fprintf(out, "| %s |", r.name)
		for _, end := range ends {
			crossed, err := crossedIn(filepath.Join(counters, end))
			if err != nil {
				return err
			}
			fmt.Fprintf(out, " %d functions in %d files |", len(crossed), len(byFile(crossed)))
			fmt.Fprintf(&details, "\n## %s, %s\n%s", r.name, end, list(crossed))
		}
		fmt.Fprintln(out)
	}
	if each {
		fmt.Fprint(out, &details)
	}
	return nil
}

// buildCovered builds a program of the module tools with counters in all packages of this repository.
func buildCovered(root, pkg, program string) error {
	_, err := output(exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg="+module+"/...", "-o", program,
		path.Join(module, pkg)), filepath.Join(root, "tools"))
	return err
}

// A function is a crossed function. Function literals count for the function around them; functions without a statement
// have no counter. The line distinguishes methods of the same name of generic types.
type function struct {
	file string
	line int
	name string
}

// crossedIn returns the functions that most rounds crossed, in the order of the source; each round has its directory
// below dir. Functions of few rounds, such as a timer's tick, are not part of the trip. Functions that about half of
// the rounds cross make the results of two trips differ by a function or two.
func crossedIn(dir string) ([]function, error) {
	rounds, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	times := map[function]int{}
	for _, round := range rounds {
		text, err := output(exec.Command("go", "tool", "covdata", "func", "-i="+filepath.Join(dir, round.Name())), ".")
		if err != nil {
			return nil, err
		}
		for _, f := range counted(text) {
			times[f]++
		}
	}
	maps.DeleteFunc(times, func(_ function, n int) bool { return 2*n <= len(rounds) })
	return slices.SortedFunc(maps.Keys(times), func(a, b function) int {
		return cmp.Or(strings.Compare(a.file, b.file), a.line-b.line)
	}), nil
}

// counted parses the output of go tool covdata func, without the program itself: file:line: function percent.
func counted(text string) (crossed []function) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 || f[2] == "0.0%" || strings.HasPrefix(f[0], "total") {
			continue
		}
		file, at, _ := strings.Cut(f[0], ":")
		if !strings.HasPrefix(file, path.Join(module, traveller)+"/") {
			line, _ := strconv.Atoi(strings.TrimSuffix(at, ":"))
			crossed = append(crossed, function{strings.TrimPrefix(file, module+"/"), line, f[1]})
		}
	}
	return crossed
}

func byFile(functions []function) map[string][]string {
	names := map[string][]string{}
	for _, f := range functions {
		names[f.file] = append(names[f.file], f.name)
	}
	return names
}

// list writes the functions by file and package.
func list(functions []function) string {
	var b strings.Builder
	files := byFile(functions)
	in := ""
	for _, file := range slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return slices.Compare([]string{path.Dir(a), a}, []string{path.Dir(b), b})
	}) {
		if dir := path.Dir(file); dir != in {
			fmt.Fprintf(&b, "\n%s\n", dir)
			in = dir
		}
		fmt.Fprintf(&b, "- %s: %s\n", path.Base(file), strings.Join(files[file], ", "))
	}
	return b.String()
}
