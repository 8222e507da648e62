package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/mock"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/visible"
)

// mocking holds the flags of "mcpotel mock".
type mocking struct {
	streams streams
	listen  string
	speed   float64
	repeat  bool
}

func newMock(s streams) *cobra.Command {
	m := &mocking{streams: s}
	cmd := &cobra.Command{
		Use: "mock FILE [flags]", Short: "replace a server with its recording, for tests",
		Long: "\"mcpotel proxy --record FILE --record-content\" writes a recording. Give this command to a host instead\n" +
			"of its server: a request that equals a recorded request gets the recorded answer, byte for byte. The\n" +
			"params are compared as values, without _meta. The answer to any other request is an error with the\n" +
			"difference, which is printed to standard error as well; the exit code is then 1. Each connection gets one\n" +
			"session of the recording, in order; after the last session comes the first.",
		Example: "mcpotel mock session.ndjson\n" +
			"mcpotel mock session.ndjson --listen localhost:8080 --repeat\n" +
			"mcpotel tools -- mcpotel mock session.ndjson",
		Args: cobra.ArbitraryArgs, ValidArgsFunction: completeRecording,
		RunE: func(cmd *cobra.Command, args []string) error { return m.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&m.listen, "listen", "", "serve hosts over HTTP at `HOST:PORT`, under /mcp, instead of one host on "+
		"standard input. Without HOST it listens on loopback; port 0 selects a free port")
	f.Float64Var(&m.speed, "speed", 0, "send the recorded messages at this `FACTOR` of the recorded speed. By "+
		"default there are no delays")
	f.BoolVar(&m.repeat, "repeat", false, "after the last recorded answer to a request, start again with its first")
	return cmd
}

// completeRecording completes the names of files.
func completeRecording(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func (m *mocking) run(ctx context.Context, args []string) error {
	file, err := openRecordings(args, 1)
	if err != nil {
		return err
	}
	if m.speed < 0 {
		return misuse("--speed must not be negative")
	}
	var problems atomic.Int64
	s, err := mock.New(file[0], &mock.Options{Speed: m.speed, Repeat: m.repeat, Problem: func(text string) {
		problems.Add(1)
		_ = printLine(m.streams.err, visible.Line("mcpotel: "+text)) // the host gets the text in the error as well
	}})
	if err != nil {
		return misuse("%s: %w", args[0], err)
	}
	if m.listen != "" {
		at := site{address: m.listen, risk: "read the recorded messages"}
		err = serveHTTP(ctx, s, at, m.streams.out, m.streams.err)
	} else {
		err = s.ServeStdio(ctx)
	}
	if n := problems.Load(); n > 0 {
		return &exitError{exitTool, fmt.Errorf("%d messages of the hosts differ from the recording", n)}
	}
	return interrupted(ctx, err)
}

// openRecordings reads the recordings that the n arguments name.
func openRecordings(args []string, n int) ([]*recording.File, error) {
	switch {
	case len(args) < n && n == 1:
		return nil, misuse(`the recording is missing; "mcpotel proxy --record FILE" writes a recording`)
	case len(args) < n:
		return nil, misuse(`want %d recordings; "mcpotel proxy --record FILE" writes a recording`, n)
	case len(args) > n:
		return nil, misuse("unexpected argument %q", args[n])
	}
	var all []*recording.File
	for _, path := range args {
		f, err := recording.Open(path)
		if err != nil {
			return nil, misuse("%w", err)
		}
		all = append(all, f)
	}
	return all, nil
}
