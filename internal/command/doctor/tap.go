package doctor

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// maxExcerpt bounds the stored part of a line, in bytes.
const maxExcerpt = 200

// tap is a transport that records the opening, first frames and closing of its connections.
type tap struct {
	transport.Transport

	mu         sync.Mutex
	dials      int                  // guarded by mu
	dialed     time.Time            // guarded by mu; time of the first Dial
	failed     error                // guarded by mu; error of the last Dial
	firstFrame time.Time            // guarded by mu; time of the first frame
	noise      string               // guarded by mu; first frame that is not JSON
	sse        bool                 // guarded by mu; an HTTP+SSE stream was opened
	last       transport.Info       // guarded by mu; state of the last connection when it was closed
	end        *transport.ExitError // guarded by mu; exit of the last process that ended before Close
	closeTime  time.Duration        // guarded by mu; duration of the last Close
}

// Dial opens a recorded connection.
func (t *tap) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	t.mu.Lock()
	if t.dials++; t.dials == 1 {
		t.dialed = time.Now()
	}
	t.mu.Unlock()
	if next := cfg.Stream; next != nil {
		cfg.Stream = func(kind string) func(error) {
			if kind == "sse" {
				t.note(func() { t.sse = true })
			}
			return next(kind)
		}
	}
	c, err := t.Transport.Dial(ctx, cfg)
	t.note(func() { t.failed = err })
	if err != nil {
		return nil, err
	}
	return &tapped{Conn: c, tap: t}, nil
}

func (t *tap) note(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
}

// tapped is a connection of a tap.
type tapped struct {
	transport.Conn
	tap *tap
}

// Receive records the first frame, the first frame that is not JSON, and the exit of a process.
func (c *tapped) Receive(ctx context.Context) (transport.Frame, error) {
	f, err := c.Conn.Receive(ctx)
	if err != nil {
		if exit := c.Info().Exit; exit != nil {
			c.tap.note(func() { c.tap.end = exit })
		}
		return f, err
	}
	c.tap.note(func() {
		if c.tap.firstFrame.IsZero() {
			c.tap.firstFrame = time.Now()
		}
		if c.tap.noise == "" && len(f.Data) > 0 && !json.Valid(f.Data) {
			c.tap.noise = string(f.Data[:min(len(f.Data), maxExcerpt)])
		}
	})
	return f, nil
}

// Close records how long closing took.
func (c *tapped) Close(ctx context.Context) error {
	begun := time.Now()
	err := c.Conn.Close(ctx)
	c.tap.note(func() { c.tap.closeTime, c.tap.last = time.Since(begun), c.Info() })
	return err
}
