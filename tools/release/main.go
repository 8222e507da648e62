// Command release makes a release of the repository: a commit and tags. In the commit, the modules require each other
// at the version, the constant version.Version is the version and the changelog has the date. Each module that users
// require gets a tag. The command pushes nothing.
//
//	go -C tools run ./release -dry-run v0.1.0   # prints the steps only
//	go -C tools run ./release v0.1.0
//	go -C tools run ./release -notes v0.1.0     # prints its section of the changelog
//
// It relies on git, and on the rules of docs/policies.md. The replace directives of nested modules stay: the go command
// ignores those of a dependency, and in the repository a module is still built with its neighbours.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

func main() {
	dryRun := flag.Bool("dry-run", false, "print the steps without making the release")
	onlyNotes := flag.Bool("notes", false, "print only the changelog section of the version")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go -C tools run ./release [-dry-run|-notes] VERSION, such as v0.1.0")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	do := func() error { return release(".", flag.Arg(0), *dryRun, os.Stdout) }
	if *onlyNotes {
		do = func() error { return printNotes(".", flag.Arg(0), os.Stdout) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release makes the release of the repository around dir, unless it is a dry run, and prints the commands to push it.
func release(dir, version string, dryRun bool, out io.Writer) error {
	root, err := git(dir).line("rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	p, err := newPlan(git(root), version, time.Now().UTC())
	if err != nil {
		return err
	}
	if dryRun {
		p.print(out, "This was a dry run. After a real run, push with:")
		return nil
	}
	if err := p.carryOut(); err != nil {
		return err
	}
	p.print(out, "Nothing was pushed. Review the commit with git show, and then push with:")
	return nil
}

// printNotes prints the section of a version in the changelog of the repository around dir.
func printNotes(dir, version string, out io.Writer) error {
	root, err := git(dir).line("rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(root, changelogName))
	if err != nil {
		return err
	}
	text, err := notes(string(changelog), version)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, text)
	return err
}
