package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// groups are the directories with a row of their own, which counts everything below them.
var groups = []string{"mcpclient", "mcpclient/transport", "mcpclient/telemetry", "mcpserver", "mcp", "internal"}

const head = "| | files | lines | median / p90 / max file | median / p90 / max func | biggest type's methods " +
	"| exported | comments | wider than 120 / 130 | vague words |\n|---|--:|--:|--|--|--:|--:|--:|--:|--:|\n"

// table writes the rows of the library at root and of its groups, or of the given directories instead; then it lists
// the outliers of each library.
func table(out io.Writer, root string, dirs []string) error {
	type row struct {
		name string
		*figures
	}
	var rows, whole []row
	for _, dir := range dirs {
		files, err := library(dir)
		if err != nil {
			return err
		}
		rows = append(rows, row{filepath.Base(dir), count(files)})
	}
	whole = rows
	if len(dirs) == 0 {
		files, err := library(root)
		if err != nil {
			return err
		}
		whole = []row{{"**the library**", count(files)}}
		rows = whole
		for _, dir := range groups {
			rows = append(rows, row{dir, count(below(files, dir))})
		}
	}
	fmt.Fprint(out, head)
	for _, r := range rows {
		fmt.Fprint(out, r.row(r.name))
	}
	for _, r := range whole {
		fmt.Fprintf(out, "\n%s\n\n", r.name)
		fmt.Fprint(out, r.standOut())
	}
	return nil
}

func (n *figures) row(name string) string {
	three := func(sorted []int) string {
		return fmt.Sprintf("%d / %d / %d", quantile(sorted, 0.5), quantile(sorted, 0.9), quantile(sorted, 1))
	}
	biggest := "–"
	if all := n.mostMethods(); len(all) > 0 {
		of := n.methods[all[0]]
		biggest = fmt.Sprintf("%d (%s)", of.exported+of.private, all[0])
	}
	return fmt.Sprintf("| %s | %d | %d | %s | %s | %s | %d | %d %% | %d / %d | %d |\n", name, n.files, n.lines,
		three(n.fileLines),
		three(n.funcLines), biggest, n.exported, (100*n.comments+n.lines/2)/max(n.lines, 1), n.wide120, n.wide130, n.vague)
}

// standOut lists the largest types, and the method names with the most types.
func (n *figures) standOut() string {
	var types, fields, words []string
	for _, name := range first(10, n.mostMethods()) {
		of := n.methods[name]
		types = append(types, fmt.Sprintf("%s %d + %d", name, of.exported, of.private))
	}
	for _, name := range first(10, most(n.fields, func(fields int) int { return fields })) {
		fields = append(fields, fmt.Sprintf("%s %d", name, n.fields[name]))
	}
	for _, name := range first(10, most(n.receivers, func(of []string) int { return len(of) })) {
		words = append(words, fmt.Sprintf("%s %d", name, len(n.receivers[name])))
	}
	return "- directories: " + strings.Join(slices.Sorted(maps.Keys(n.dirs)), ", ") +
		"\n- most methods, exported + private: " + strings.Join(types, ", ") +
		"\n- most fields: " + strings.Join(fields, ", ") +
		"\n- private methods with most receivers: " + strings.Join(words, ", ") + "\n"
}

func (n *figures) mostMethods() []string {
	return most(n.methods, func(of *methods) int { return of.exported + of.private })
}

// most returns the keys in descending order of their sizes.
func most[V any](m map[string]V, size func(V) int) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(size(m[b])-size(m[a]), strings.Compare(a, b))
	})
}

func first(n int, of []string) []string { return of[:min(n, len(of))] }
