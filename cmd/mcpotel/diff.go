package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/command/recordingdiff"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/internal/visible"
)

// diff is one run of the command "diff".
type diff struct {
	streams streams
	asJSON  bool
	o       recordingdiff.Options
}

func newDiff(s streams) *cobra.Command {
	d := &diff{streams: s}
	cmd := &cobra.Command{
		Use: "diff A B [flags]", Short: "show the differences between two recordings",
		Long: "\"mcpotel proxy --record FILE\" writes a recording. The command compares the requests of each session:\n" +
			"whether both recordings have them, their outcome and, with --record-content in both, params and results as\n" +
			"values. Requests with the same method and name are paired by equal params, and the rest by position. The\n" +
			"command ignores the parts of messages that vary by the protocol: _meta, ids, cursors, task ids,\n" +
			"and the state and keys of input rounds. The exit code is 1 if anything differs.",
		Example: "mcpotel diff yesterday.ndjson today.ndjson\n" +
			"mcpotel diff yesterday.ndjson today.ndjson --ignore '.structuredContent.days[*].date' --latency 2\n" +
			"mcpotel diff yesterday.ndjson today.ndjson --json",
		Args: cobra.ArbitraryArgs, ValidArgsFunction: completeRecording,
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&d.o.Ignore, "ignore", nil, "ignore the values at this `PATH` of params, results and errors, in "+
		"the notation of the report; [*] matches any element; may be repeated")
	f.Float64Var(&d.o.Latency, "latency", 0, "report a difference if the median duration of a method, tool or prompt "+
		"has grown by more than this `FACTOR` and by more than 1 ms")
	f.BoolVar(&d.asJSON, "json", false, "print the result as JSON, for programs")
	return cmd
}

func (d *diff) run(_ context.Context, args []string) error {
	files, err := openRecordings(args, 2)
	if err != nil {
		return err
	}
	if d.o.Latency != 0 && d.o.Latency < 1 {
		return misuse("--latency must be 1 or more")
	}
	r := recordingdiff.Compare(files[0], files[1], &d.o)
	if d.asJSON {
		err = printJSON(d.streams.out, r)
	} else {
		err = d.print(r)
	}
	if err == nil && !r.Same {
		return &exitError{code: exitTool}
	}
	return err
}

// print prints the report as text, with the verdict in its last line.
func (d *diff) print(r *recordingdiff.Report) error {
	var lines []string
	for _, c := range r.Changes {
		lines = append(lines, fmt.Sprintf("%-13s  %s: %s", c.Kind, request(c), visible.Line(c.Text)))
		for _, w := range c.Where {
			lines = append(lines, "               "+visible.Line(w.String()))
		}
	}
	if r.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", r.More))
	}
	for _, t := range r.Durations {
		if a, b := t.AUS, t.BUS; max(a, b) > 2*min(a, b) && max(a, b) >= 1000 {
			lines = append(lines, fmt.Sprintf("%-13s  %s: %s, and %s before, in the median of %d", "took",
				titled(t.Method, t.Name), micros(b), micros(a), t.Count))
		}
	}
	for _, n := range r.Notes {
		lines = append(lines, "note: "+visible.Line(n))
	}
	verdict := fmt.Sprintf("same: %d requests", r.Compared)
	if !r.Same {
		verdict = fmt.Sprintf("different: %d differences, %d requests compared, %d added, %d missing",
			len(r.Changes)+r.More, r.Compared, r.Added, r.Missing)
	}
	for _, line := range append(lines, verdict) {
		if err := printLine(d.streams.out, line); err != nil {
			return err
		}
	}
	return nil
}

// request describes the request of a change.
func request(c recordingdiff.Change) string {
	text := titled(c.Method, c.Name)
	if c.Session > 0 {
		text = fmt.Sprintf("session %d %s", c.Session, text)
	}
	switch {
	case c.A > 0 && c.B > 0:
		text += fmt.Sprintf(" (%d and %d)", c.A, c.B)
	case c.A+c.B > 0:
		text += fmt.Sprintf(" (%d)", c.A+c.B)
	}
	return text
}

// titled returns the method and the name of a request in one line.
func titled(method, name string) string { return visible.Line(strings.TrimSpace(method + " " + name)) }

func micros(n int64) string { return unit.Duration(time.Duration(n) * time.Microsecond) }
