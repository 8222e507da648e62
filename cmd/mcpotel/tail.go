package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/glob"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/unit"
)

// tail is one run of the command "tail".
type tail struct {
	streams  streams
	path     string
	last     int
	content  bool
	failed   bool
	only     []string
	patterns []*regexp.Regexp
}

func newTail(s streams) *cobra.Command {
	t := tail{streams: s}
	cmd := &cobra.Command{
		Use: "tail [flags] PATH", Short: "print the messages of a recording as they are written",
		Long: "mcpotel tail prints a line for each message of a recording, and waits for more: from " +
			"\"mcpotel proxy --record\", or from inspect, shell or call with --record. PATH is the file; or a directory, " +
			"of which the command prints the newest file, and continues with each newer file. The command ends with the " +
			"recording, unless PATH is a directory.",
		Example: "mcpotel tail session.ndjson\n" +
			"mcpotel tail --content --only 'search_*' recordings/",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.check(args); err != nil {
				return err
			}
			return t.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVarP(&t.last, "lines", "n", 10, "begin with the last `N` messages of the file; -1 means all")
	f.BoolVar(&t.content, "content", false, "also print the params, results and errors, if the recording has them")
	f.BoolVar(&t.failed, "failed", false, "print only errors, tool errors and cancelled requests")
	f.StringArrayVar(&t.only, "only", nil, "print only messages whose method, tool, prompt or URI matches this `PATTERN`, "+
		"such as 'search_*'; may be repeated")
	return cmd
}

func (t *tail) check(args []string) error {
	switch len(args) {
	case 0:
		return misuse("no recording: give the PATH of a file or of a directory")
	case 1:
		t.path = args[0]
	default:
		return misuse("unexpected argument %q", args[1])
	}
	for _, text := range t.only {
		p, err := glob.Compile(text)
		if err != nil {
			return misuse("--only: %v", err)
		}
		t.patterns = append(t.patterns, p)
	}
	return nil
}

// tailInterval is the time between two looks at a file.
const tailInterval = 100 * time.Millisecond

// run prints messages until the recording ends or the command is interrupted.
func (t *tail) run(ctx context.Context) error {
	info, err := os.Stat(t.path)
	if err != nil {
		return misuse("%w", err)
	}
	path := t.path
	tick := time.NewTicker(tailInterval)
	defer tick.Stop()
	var f *followed
	defer func() { f.close() }()
	for first := true; ; first = false {
		if info.IsDir() {
			if path, err = newest(t.path); err != nil {
				return err
			}
		}
		if path != "" && (f == nil || f.path != path) {
			if f != nil { // the end of the file before
				if _, err := t.print(f, first); err != nil {
					return err
				}
			}
			f.close()
			if f, err = follow(path); err != nil {
				return err
			}
			if info.IsDir() {
				_ = printLine(t.streams.err, "mcpotel: "+path)
			}
		}
		if f != nil {
			ended, err := t.print(f, first)
			if err != nil || ended && !info.IsDir() {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// newest returns the recording in a directory that was written last; empty without one.
func newest(dir string) (path string, _ error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var latest time.Time
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && (info.IsDir() || !strings.HasSuffix(e.Name(), ".ndjson")) {
			continue
		}
		if err != nil {
			return "", err
		}
		if info.ModTime().After(latest) {
			latest, path = info.ModTime(), filepath.Join(dir, e.Name())
		}
	}
	return path, nil
}

// print prints the messages that were written since the last call. The first call prints only the last messages.
func (t *tail) print(f *followed, first bool) (ended bool, _ error) {
	var shown []string // in the first call, the last messages so far
	for !ended {
		line, ok, err := f.line()
		if err != nil {
			return false, fmt.Errorf("%s: %w", f.path, err)
		}
		if !ok {
			break
		}
		text, end, err := t.text(f, line)
		if err != nil {
			return false, misuse("%s: line %d: %v", f.path, f.count, err)
		}
		ended = end
		if text == "" {
			continue
		}
		if !first {
			if err := printLine(t.streams.out, text); err != nil {
				return false, err
			}
			continue
		}
		if shown = append(shown, text); t.last >= 0 && len(shown) > t.last {
			shown = shown[1:]
		}
	}
	for _, text := range shown {
		if err := printLine(t.streams.out, text); err != nil {
			return false, err
		}
	}
	return ended, nil
}

// text returns the text for a line of the recording, empty for none, and whether the recording ends with the line.
func (t *tail) text(f *followed, line []byte) (text string, ended bool, err error) {
	if f.count == 1 {
		f.header, err = recording.ParseHeader(line)
		return "", false, err
	}
	e, end, err := recording.ParseLine(line)
	switch {
	case err != nil:
		return "", false, err
	case end != nil && end.Why != "":
		return "the recording has ended: " + end.Why, true, nil
	case end != nil:
		return "", true, nil
	case !t.wants(e):
		return "", false, nil
	}
	return t.line(f.header.Recorded, e), false, nil
}

// wants reports whether the flags select a message.
func (t *tail) wants(e *recording.Entry) bool {
	if t.failed && e.Kind != recording.Error && e.Kind != recording.Cancelled && !e.ToolError {
		return false
	}
	return len(t.patterns) == 0 || slices.ContainsFunc(t.patterns, func(p *regexp.Regexp) bool {
		return p.MatchString(e.Method) || e.Name != "" && p.MatchString(e.Name)
	})
}

// maxTailContent bounds the content in a line, in characters.
const maxTailContent = 2000

// line returns the text for a message.
func (t *tail) line(recorded time.Time, e *recording.Entry) string {
	arrow := "→"
	if e.From == recording.ServerSide {
		arrow = "←"
	}
	words := []string{recorded.Add(e.At()).Local().Format("15:04:05.000"), fmt.Sprint(e.Session), arrow, e.Method}
	if e.Name != "" {
		words = append(words, e.Name)
	}
	if e.Request != 0 {
		words = append(words, fmt.Sprintf("#%d", e.Request))
	}
	switch {
	case e.Kind == recording.Error:
		words = append(words, fmt.Sprintf("error %d", e.Code))
	case e.Kind == recording.Cancelled:
		words = append(words, "cancelled")
	case e.ToolError:
		words = append(words, "tool error")
	}
	words = append(words, unit.Size(int64(e.Bytes)))
	if e.Answers() {
		words = append(words, unit.Duration(e.Took()))
	}
	if e.Kind == recording.Request && e.TraceID != "" {
		words = append(words, "trace "+e.TraceID)
	}
	if t.content && e.Content != nil {
		text := []rune(string(e.Content[:min(len(e.Content), 4*maxTailContent)]))
		if len(text) > maxTailContent {
			text = append(text[:maxTailContent], '…')
		}
		words = append(words, string(text))
	}
	return strings.Join(words, " ")
}

// followed is a recording that another program may be writing.
type followed struct {
	path   string
	file   *os.File
	in     *bufio.Reader
	part   []byte // beginning of a line whose end is not written yet
	count  int    // number of lines read
	header recording.Header
}

func follow(path string) (*followed, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, misuse("%w", err)
	}
	return &followed{path: path, file: file, in: bufio.NewReaderSize(file, 64<<10)}, nil
}

func (f *followed) close() {
	if f != nil {
		_ = f.file.Close() // it was only read
	}
}

// maxTailLine bounds a line, in bytes. The recorder writes shorter lines.
const maxTailLine = 64 << 20

// line returns the next line; false if the line is not written yet.
func (f *followed) line() (line []byte, ok bool, _ error) {
	for {
		piece, err := f.in.ReadSlice('\n')
		if f.part = append(f.part, piece...); len(f.part) > maxTailLine {
			return nil, false, errors.New("a line is longer than " + unit.Size(maxTailLine))
		}
		switch {
		case err == nil:
			line, f.part = f.part, nil
			f.count++
			return line, true, nil
		case errors.Is(err, io.EOF):
			return nil, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}
