package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

var update = flag.Bool("update", false, "rewrite what the server says in testdata/transcripts")

// TestTranscripts compares the server with recorded conversations, one file each. Each line starts with
//
//	#    a comment
//	=    options of the server: versions, concurrent, queued, page, timeout, drain; tools=tasks adds tools that run as
//	     tasks, and their ids are replaced by TASK-1 and so on. Messages that tasks send at the same time are sorted;
//	     the states of tasks are omitted, unless the option is tools=news
//	>    a message of the client
//	~    how long the client then waits
//	<    a message that the server has sent until then
//
// After the last line, the client ends the connection.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the conversation differs from %s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// play runs the client of a transcript against a server, and returns the transcript with the current answers.
func play(t *testing.T, script string) (got string) {
	synctest.Test(t, func(t *testing.T) {
		lines := strings.Split(strings.TrimRight(script, "\n"), "\n")
		var b strings.Builder
		var w *wire
		var s *mcpserver.Server
		var tools string
		var tasks aliases
		listen := func() {
			if w != nil {
				for _, frame := range heard(w.taken(), tools) {
					b.WriteString("< " + tasks.hide(frame) + "\n")
				}
			}
		}
		var o mcpserver.Options
		made := newServer
		for i, line := range lines {
			kind, rest, _ := strings.Cut(line, " ")
			switch kind {
			case "=":
				if _, is, ok := strings.Cut(rest, "tools="); ok {
					tools, made = is, newLegacyTaskServer
				} else {
					setOption(t, &o, rest)
				}
			case "<":
				continue
			case ">":
				if w == nil {
					s = made(t, o)
					w = serve(t, t.Context(), s)
				}
				w.in <- received{frame: []byte(tasks.show(rest))}
			case "~":
				d, err := time.ParseDuration(rest)
				if err != nil {
					t.Fatalf("line %d: %v", i+1, err)
				}
				time.Sleep(d)
			}
			b.WriteString(line + "\n")
			synctest.Wait()
			listen()
		}
		if err := w.finish(); err != nil {
			t.Errorf("Serve returned %v, want nil at the end of the conversation", err)
		}
		listen()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown returned %v, want nil: no task is left", err)
		}
		got = b.String()
	})
	return got
}

// aliases are the ids of tasks, in order of appearance.
type aliases []string

var taskID = regexp.MustCompile("[A-Z2-7]{26}")

// hide replaces ids by aliases.
func (a *aliases) hide(frame string) string {
	return taskID.ReplaceAllStringFunc(frame, func(id string) string {
		if !slices.Contains(*a, id) {
			*a = append(*a, id)
		}
		return fmt.Sprint("TASK-", slices.Index(*a, id)+1)
	})
}

// show replaces aliases by ids.
func (a aliases) show(frame string) string {
	for i, id := range a {
		frame = strings.ReplaceAll(frame, fmt.Sprintf("%q", fmt.Sprint("TASK-", i+1)), fmt.Sprintf("%q", id))
	}
	return frame
}

// heard returns the frames that the transcript of a server with these tools contains.
func heard(frames []string, tools string) []string {
	if tools != "" {
		slices.Sort(frames)
	}
	return slices.DeleteFunc(frames, func(f string) bool {
		return tools == "tasks" && strings.Contains(f, mcp.NotificationLegacyTaskStatus)
	})
}

func setOption(t *testing.T, o *mcpserver.Options, line string) {
	for setting := range strings.FieldsSeq(line) {
		name, value, _ := strings.Cut(setting, "=")
		n, _ := strconv.Atoi(value)
		d, _ := time.ParseDuration(value)
		switch name {
		case "versions":
			for v := range strings.SplitSeq(value, ",") {
				o.Versions = append(o.Versions, mcp.Version(v))
			}
		case "concurrent":
			o.Limits.Concurrent = n
		case "queued":
			o.Limits.Queued = n
		case "page":
			o.PageSize = n
		case "timeout":
			o.RequestTimeout = d
		case "drain":
			o.DrainTimeout = d
		default:
			t.Fatalf("no option %s", name)
		}
	}
}

// decoded returns a frame as encoding/json decodes it.
func decoded(t testing.TB, frame string) (m message) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(frame)))
	if err := d.Decode(&m); err != nil {
		t.Fatalf("the server sent %q: %v", frame, err)
	}
	return m
}

type message struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *mcp.Error      `json:"error"`
}

// reply returns the only message that the server has sent.
func (w *wire) reply(t *testing.T) message {
	t.Helper()
	out := w.taken()
	if len(out) != 1 {
		t.Fatalf("the server sent %d frames, want 1: %q", len(out), slices.Clip(out))
	}
	return decoded(t, out[0])
}
