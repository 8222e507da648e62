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

// mocking is what "mcpotel mock" is told by its flags.
type mocking struct {
	streams streams
	listen  string
	speed   float64
	repeat  bool
}

func newMock(s streams) *cobra.Command {
	m := &mocking{streams: s}
	cmd := &cobra.Command{
		Use: "mock FILE [flags]", Short: "be the server of a recording, for tests",
		Long: "A recording is what \"mcpotel proxy --record FILE --record-content\" writes. Put this command where a\n" +
			"host starts its server: a request that equals a recorded one is answered as that was, byte for byte. The\n" +
			"params are compared as values, without _meta. Any other request is answered with an error that says what\n" +
			"differs; it is on standard error as well, and the exit code is 1. Each connection is one session of the\n" +
			"recording, in their order and then from the first one again.",
		Example: "mcpotel mock session.ndjson\n" +
			"mcpotel mock session.ndjson --listen localhost:8080 --repeat\n" +
			"mcpotel tools -- mcpotel mock session.ndjson",
		Args: cobra.ArbitraryArgs, ValidArgsFunction: completeRecording,
		RunE: func(cmd *cobra.Command, args []string) error { return m.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&m.listen, "listen", "", "wait for hosts over HTTP at `HOST:PORT`, under /mcp, and not for one on "+
		"standard input. Without HOST it is on loopback; port 0 is one that is free")
	f.Float64Var(&m.speed, "speed", 0, "send what was recorded in this `FACTOR` of its speed: 1 is as it was. Unless it "+
		"is given, nothing is waited for")
	f.BoolVar(&m.repeat, "repeat", false, "begin anew with a request that was asked for as often as it was recorded")
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
		return misuse("--speed is not negative")
	}
	var problems atomic.Int64
	s, err := mock.New(file[0], &mock.Options{Speed: m.speed, Repeat: m.repeat, Problem: func(text string) {
		problems.Add(1)
		_ = printLine(m.streams.err, visible.Line("mcpotel: "+text)) // the host gets it as well
	}})
	if err != nil {
		return misuse("%s: %w", args[0], err)
	}
	if m.listen != "" {
		at := site{address: m.listen, risk: "read what was recorded"}
		err = serveHTTP(ctx, s, at, m.streams.out, m.streams.err)
	} else {
		err = s.ServeStdio(ctx)
	}
	if n := problems.Load(); n > 0 {
		return &exitError{exitTool, fmt.Errorf("%d of what the hosts have said differs from the recording", n)}
	}
	return interrupted(ctx, err)
}

// openRecordings reads the files that arguments name, of which there are so many.
func openRecordings(args []string, n int) ([]*recording.File, error) {
	switch {
	case len(args) < n && n == 1:
		return nil, misuse(`which recording? "mcpotel proxy --record FILE" writes one`)
	case len(args) < n:
		return nil, misuse(`which %d recordings? "mcpotel proxy --record FILE" writes one`, n)
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
