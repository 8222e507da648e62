package doctor

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// maxExcerpt bounds, in bytes, what is kept of a line.
const maxExcerpt = 200

// tap is a transport that notes when its connections open, speak and close, and what is known of them then.
type tap struct {
	transport.Transport

	mu     sync.Mutex
	dials  int                  // guarded by mu
	dialed time.Time            // guarded by mu; when the first Dial was called
	failed error                // guarded by mu; of the last Dial
	spoke  time.Time            // guarded by mu; when the first frame came
	noise  string               // guarded by mu; the first frame that is no JSON
	sse    bool                 // guarded by mu; the stream of HTTP+SSE was opened
	last   transport.Info       // guarded by mu; of the last connection, when it was closed
	end    *transport.ExitError // guarded by mu; of the last process that ended before it was told to
	hangup time.Duration        // guarded by mu; what the last Close took
}

// Dial opens a connection that is watched.
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

// Receive notes the first frame, the first that is no JSON, and how a process has ended.
func (c *tapped) Receive(ctx context.Context) (transport.Frame, error) {
	f, err := c.Conn.Receive(ctx)
	if err != nil {
		if exit := c.Info().Exit; exit != nil {
			c.tap.note(func() { c.tap.end = exit })
		}
		return f, err
	}
	c.tap.note(func() {
		if c.tap.spoke.IsZero() {
			c.tap.spoke = time.Now()
		}
		if c.tap.noise == "" && len(f.Data) > 0 && !json.Valid(f.Data) {
			c.tap.noise = string(f.Data[:min(len(f.Data), maxExcerpt)])
		}
	})
	return f, nil
}

// Close notes how long the server took to end.
func (c *tapped) Close(ctx context.Context) error {
	begun := time.Now()
	err := c.Conn.Close(ctx)
	c.tap.note(func() { c.tap.hangup, c.tap.last = time.Since(begun), c.Info() })
	return err
}
