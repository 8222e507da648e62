//go:build unix

// Command guides runs every command of README.md and docs/guides, as a reader without any installation would:
//
//	go -C tools run ./guides             all pages
//	go -C tools run ./guides PAGE...     these, and the installation of the command
//	go -C tools run ./guides -cold       with empty caches of Go and npm
//
// The home directory is empty, each page has an empty folder, and the checkout is a fresh copy. A module proxy in a
// directory serves that copy as @latest. Without -cold the pages share only the caches: Go's builds and downloads, and
// npm's. Free ports replace the ports of the pages: [withFreePorts]. [blocksOf] describes the comments before blocks.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

func main() {
	cold := flag.Bool("cold", false, "share no cache")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := tryAll(ctx, *cold, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "guides:", err)
		os.Exit(1)
	}
}

// tryAll runs the blocks of the pages in order, or of some of them. The first page always runs, because it installs
// mcpotel.
func tryAll(ctx context.Context, cold bool, only []string) error {
	root, err := output(ctx, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	pages, err := pagesOf(root)
	if err != nil {
		return err
	}
	for _, name := range only {
		if !slices.ContainsFunc(pages, func(p page) bool { return p.name == name }) {
			return fmt.Errorf("no page %s with commands", name)
		}
	}
	s, err := newSandbox(ctx, root, cold)
	if err != nil {
		return err
	}
	defer s.remove()
	for i, p := range pages {
		if i > 0 && len(only) > 0 && !slices.Contains(only, p.name) {
			continue
		}
		began := time.Now()
		ran, left, err := s.try(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Printf("%-34s %2d blocks run, %d not, %.1f s\n", p.name, ran, left, time.Since(began).Seconds())
	}
	return nil
}
