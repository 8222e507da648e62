package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The guard compares this tree with an older commit, in the same run. It measures each row in turns, with the binary of
// the commit and with the binary of this tree, and only this project's client and server. It fails if a figure has
// become worse by more than the factor worst. Two statistics must agree: the median of the ratios of the turns, and the
// ratio of the best turns. They must agree again in three longer tries, because other work on the machine rarely
// disturbs the same binary in every try.
const worst = 1.1

// guarded are the figures that the guard compares.
var guarded = []string{cpu, allocs, peak, perClient}

// turns are the tries of one row: n is the number of turns, and each is the duration of each benchmark. After the first
// try, the guard measures only the benchmarks that are worse.
var turns = []struct {
	n    int
	each string
}{{3, "200ms"}, {5, "500ms"}, {9, "1s"}, {15, "1s"}}

// guard compares the work tree at root with a commit.
func guard(ctx context.Context, out io.Writer, root, commit string) error {
	tmp, err := os.MkdirTemp("", "compare")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	old := filepath.Join(tmp, "old")
	if err := extract(ctx, root, commit, old); err != nil {
		return err
	}
	before := &binaryOf{path: filepath.Join(tmp, "old.test"), dir: filepath.Join(old, "benchmarks")}
	now := &binaryOf{path: filepath.Join(tmp, "now.test"), dir: filepath.Join(root, "benchmarks")}
	for _, b := range []*binaryOf{before, now} {
		if err := b.build(ctx); err != nil {
			return err
		}
	}
	var failed []string
	done := map[string]bool{}
	for _, r := range rows {
		pattern := neededBy([]*row{{cases: r.cases[:1], other: r.other}}, r.who()) // the case that the table shows
		if done[pattern] || r.cases[0] == "Start" {
			continue // another row has the same cases, or the module of this command has them
		}
		done[pattern] = true
		worse, err := compareRow(ctx, out, r, pattern, before, now)
		if err != nil {
			return fmt.Errorf("%s: %w", r.title, err)
		}
		failed = append(failed, worse...)
	}
	if len(failed) > 0 {
		return fmt.Errorf("worse than %s by more than %.0f %%:\n%s", commit, 100*(worst-1), strings.Join(failed, "\n"))
	}
	return nil
}

// compareRow measures a row in turns. While a figure is worse, it tries again with more and longer turns.
func compareRow(ctx context.Context, out io.Writer, r *row, pattern string, before, now *binaryOf) ([]string, error) {
	for i, t := range turns {
		pairs, err := measurePairs(ctx, plan{benchtime: t.each, bench: pattern}, t.n, before, now)
		if err != nil {
			return nil, err
		}
		var worse, again []string
		for _, name := range slices.Sorted(maps.Keys(pairs)) {
			for _, unit := range guarded {
				p := pairs[name][unit]
				if p == nil {
					continue
				}
				median, best := p.now.over(p.before).median(), p.now.least()/p.before.least()
				line := fmt.Sprintf("%s, %s: %s → %s, %s (best %s)", name, unit,
					quantity(p.before.median(), unit), quantity(p.now.median(), unit), multiple(median), multiple(best))
				fmt.Fprintln(out, line)
				if min(median, best) > worst {
					worse, again = append(worse, line), append(again, exactly(name))
				}
			}
		}
		if len(worse) == 0 || i == len(turns)-1 {
			return worse, nil
		}
		fmt.Fprintf(out, "%s: again, with longer turns\n", r.title)
		pattern = strings.Join(again, "|")
	}
	return nil, nil
}

// exactly returns a pattern for -bench that only one benchmark matches.
func exactly(name string) string {
	elements := strings.Split("Benchmark"+name, "/")
	for i, e := range elements {
		elements[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return strings.Join(elements, "/")
}

// pair is a figure of a benchmark before and now, in turns.
type pair struct{ before, now series }

// measurePairs runs benchmarks with both binaries in n turns, and returns the guarded figures by name and unit. It
// omits benchmarks that the older binary does not have.
func measurePairs(ctx context.Context, p plan, n int, before, now *binaryOf) (map[string]map[string]*pair, error) {
	pairs := map[string]map[string]*pair{}
	for turn := range n {
		order := []*binaryOf{before, now}
		if turn%2 == 1 {
			slices.Reverse(order)
		}
		for _, b := range order {
			lines, err := b.run(ctx, p)
			if err != nil {
				return nil, err
			}
			m, err := parse(append([]byte("pass: 1\n"), lines...))
			if err != nil {
				if b == before && errors.Is(err, errNoBenchmark) {
					return nil, nil
				}
				return nil, err
			}
			for _, c := range m.cases {
				for f, s := range c.figures {
					if !slices.Contains(guarded, f.unit) {
						continue
					}
					name := c.name + "/peer=" + f.peer
					if pairs[name] == nil {
						pairs[name] = map[string]*pair{}
					}
					if pairs[name][f.unit] == nil {
						pairs[name][f.unit] = &pair{}
					}
					if at := pairs[name][f.unit]; b == before {
						at.before = append(at.before, s[0])
					} else {
						at.now = append(at.now, s[0])
					}
				}
			}
		}
	}
	for name, units := range pairs {
		for unit, p := range units {
			if len(p.before) == 0 || len(p.now) == 0 || math.IsNaN(p.now.over(p.before).median()) {
				delete(pairs[name], unit)
			}
		}
	}
	return pairs, nil
}

// extract writes the files of a commit into a directory.
func extract(ctx context.Context, root, commit, dir string) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	archive := filepath.Join(dir, "archive.tar")
	for _, cmd := range []*exec.Cmd{
		exec.CommandContext(ctx, "git", "-C", root, "archive", "-o", archive, commit),
		exec.CommandContext(ctx, "tar", "-xf", archive, "-C", dir),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("files of commit %q: %w: %s; in a shallow clone, run git fetch --unshallow first", commit, err,
				bytes.TrimSpace(out))
		}
	}
	return os.Remove(archive)
}
