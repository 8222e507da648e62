package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// waitFor shows on a terminal, second after second, that a server is starting, and the last line that its process has
// written to standard error: npx may be installing it. started ends that.
func (c *console) waitFor(m *mcpclient.Member) (started func()) {
	if !c.terminal {
		return func() {}
	}
	w := &waiting{console: c, name: m.Name, begun: time.Now(), stop: make(chan struct{})}
	if stdio, ok := m.Transport.(transport.Stdio); ok && stdio.Stderr == nil {
		stdio.Stderr = w.hear
		m.Transport = stdio
	}
	w.shown.Go(w.show)
	return func() {
		close(w.stop)
		w.shown.Wait()
		c.clear()
	}
}

// waiting is what is known of a server that is starting.
type waiting struct {
	console *console
	name    string
	begun   time.Time
	stop    chan struct{}
	shown   sync.WaitGroup

	mu   sync.Mutex
	last string // guarded by mu
}

// hear takes a line of the server's standard error.
func (w *waiting) hear(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = line
}

// soon is how long a server may take to start before anything is shown.
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
	text := fmt.Sprintf("waiting for %s to start, %.0f s", w.name, time.Since(w.begun).Seconds())
	if w.last != "" {
		text += "; it says: " + w.last
	}
	return visible.FirstLine(text)
}
