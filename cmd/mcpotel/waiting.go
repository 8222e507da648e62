package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// waitFor shows on a terminal which servers are still starting, and the last line that one of their processes wrote to
// standard error. For example, npx may report that it installs the server. The display updates every second, until all
// servers have started or [waiting.end] is called. The members must not be connected yet.
func (c *console) waitFor(members ...*mcpclient.Member) *waiting {
	w := &waiting{console: c, begun: time.Now(), stop: make(chan struct{})}
	if !c.terminal || len(members) == 0 {
		return w
	}
	for _, m := range members {
		w.starting = append(w.starting, m.Name)
		if stdio, ok := m.Transport.(transport.Stdio); ok && stdio.Stderr == nil {
			name := m.Name
			stdio.Stderr = func(line string) { w.hear(name, line) }
			m.Transport = stdio
		}
	}
	w.shown.Go(w.show)
	return w
}

// waiting holds the state of servers that are starting.
type waiting struct {
	console *console
	begun   time.Time
	stop    chan struct{}
	shown   sync.WaitGroup

	mu       sync.Mutex
	ended    bool     // end was called; guarded by mu
	starting []string // names of servers that are starting; guarded by mu
	speaker  string   // name of the server that wrote last; guarded by mu
	last     string   // last line on standard error; guarded by mu
}

// hear records a line of a server's standard error.
func (w *waiting) hear(name, line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.speaker, w.last = name, line
}

// started records that a server has started or failed.
func (w *waiting) started(name string) {
	w.mu.Lock()
	w.starting = slices.DeleteFunc(w.starting, func(s string) bool { return s == name })
	over := len(w.starting) == 0
	w.mu.Unlock()
	if over {
		w.end()
	}
}

// end stops the display. It may be called more than once.
func (w *waiting) end() {
	w.mu.Lock()
	ended := w.ended
	w.ended = true
	w.mu.Unlock()
	if ended {
		return
	}
	close(w.stop)
	w.shown.Wait()
	w.console.clear()
}

// soon is the delay before the display appears.
const soon = 2 * time.Second

func (w *waiting) show() {
	next := time.NewTimer(soon)
	defer next.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-next.C:
			w.console.status(w.text())
			next.Reset(time.Second)
		}
	}
}

func (w *waiting) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := fmt.Sprintf("waiting for %s to start, %.0f s", strings.Join(w.starting, ", "),
		time.Since(w.begun).Seconds())
	switch {
	case w.last == "":
	case len(w.starting) == 1 && w.speaker == w.starting[0]:
		text += "; it says: " + w.last
	case slices.Contains(w.starting, w.speaker):
		text += "; " + w.speaker + " says: " + w.last
	}
	return visible.FirstLine(text)
}
