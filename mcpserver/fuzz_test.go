package mcpserver_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// FuzzConnection sends arbitrary lines to a server. It checks that the server survives, that it answers each
// well-formed request once, and that it answers no line that cannot be a request.
func FuzzConnection(f *testing.F) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var said []string
		for line := range strings.Lines(string(script)) {
			if frame, ok := strings.CutPrefix(line, "> "); ok {
				said = append(said, frame)
			}
		}
		f.Add([]byte(strings.Join(said, "")))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		frames := bytes.Split(input, []byte("\n"))
		var want tally
		for _, frame := range frames {
			want.add(frame)
		}
		synctest.Test(t, func(t *testing.T) {
			w := serve(t, t.Context(), newServer(t, mcpserver.Options{Limits: mcpserver.Limits{Concurrent: 3, Queued: 2}}))
			for _, frame := range frames {
				w.in <- received{frame: bytes.Clone(frame)}
			}
			if err := w.finish(); err != nil {
				t.Fatalf("Serve returned %v, want nil", err)
			}
			want.check(t, w.taken())
		})
	})
}

// tally counts the answers that each id may get.
type tally struct {
	least, most map[jsonrpc.ID]int
	cancelled   bool // a notification has cancelled a request
}

func (a *tally) add(frame []byte) {
	if a.least == nil {
		a.least, a.most = map[jsonrpc.ID]int{}, map[jsonrpc.ID]int{}
	}
	m, err := jsonrpc.Parse(bytes.Clone(frame))
	if err == nil {
		err = m.Check()
	}
	if err == nil {
		a.addMessage(&m)
		return
	}
	v := err.(*jsonrpc.Violation)
	if v.Reason == jsonrpc.BatchFrame {
		a.addBatch(frame)
	}
	if !v.Response {
		a.most[v.ID]++
	}
}

func (a *tally) addMessage(m *jsonrpc.Message) {
	switch {
	case m.Kind == jsonrpc.Request:
		a.least[m.ID]++
		a.most[m.ID]++
	case m.Method == mcp.NotificationCancelled:
		a.cancelled = true
	}
}

// addBatch allows answers to the messages of a batch, which only some sessions support.
func (a *tally) addBatch(frame []byte) {
	elements, err := jsonrpc.Batch(bytes.Clone(frame))
	if err != nil {
		return
	}
	var inner tally
	for e := range elements {
		inner.add(e)
	}
	for id, n := range inner.most {
		a.most[id] += n
	}
	a.cancelled = a.cancelled || inner.cancelled
}

func (a *tally) check(t *testing.T, out []string) {
	got := map[jsonrpc.ID]int{}
	for _, frame := range out {
		all := func(yield func([]byte) bool) { yield([]byte(frame)) }
		if frame[0] == '[' {
			elements, err := jsonrpc.Batch([]byte(frame))
			if err != nil {
				t.Fatalf("the server sent %q, want a batch: %v", frame, err)
			}
			all = elements
		}
		for e := range all {
			m, err := jsonrpc.Parse(e)
			if err == nil {
				err = m.Check()
			}
			if err != nil {
				t.Fatalf("the server sent %q, want a message: %v", e, err)
			}
			switch m.Kind {
			case jsonrpc.Result, jsonrpc.Error:
				got[m.ID]++
			case jsonrpc.Notification:
				if m.Method != mcp.NotificationProgress {
					t.Fatalf("the server sent %q, want no notification but progress", e)
				}
			default:
				t.Fatalf("the server sent %q, want no request", e)
			}
		}
	}
	for id, n := range got {
		if n > a.most[id] {
			t.Fatalf("%d answers to id %q, want %d at most:\n%s", n, id, a.most[id], strings.Join(out, "\n"))
		}
	}
	for id, n := range a.least {
		if got[id] < n && !a.cancelled {
			t.Fatalf("%d answers to id %q, want %d at least:\n%s", got[id], id, n, strings.Join(out, "\n"))
		}
	}
}
