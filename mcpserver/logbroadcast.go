package mcpserver

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Log sends a log message that belongs to no request to all legacy clients that want messages of its level. Modern
// clients get only messages that belong to their requests: see [RequestInfo.Log], which also describes data and
// logger.
//
// Log does not wait. For each client, the server queues up to 256 messages of up to 1 MiB in all. When the queue is
// full, the server drops the oldest messages, and reports their number to the client. Over HTTP, the server sends the
// messages when the client listens to the stream of its session. Log does nothing unless the server logs; see
// [Options.Logging].
//
// Log returns an error if the protocol does not have the level, if data cannot be encoded, or if the message is larger
// than 1 MiB.
func (s *Server) Log(level mcp.LoggingLevel, logger string, data any) error {
	if !level.Defined() {
		return errLevel(level)
	}
	s.mu.Lock()
	fleets := maps.Clone(s.fleets)
	s.mu.Unlock()
	conns := slices.DeleteFunc(s.connections(), func(c *connection) bool { return !c.hears(level) })
	if len(conns) == 0 && (len(fleets) == 0 || !s.logging.declared.Load()) { // each session checks the level
		return nil
	}
	frame, err := logFrame(nil, level, logger, data)
	if err != nil {
		return err
	}
	for _, c := range conns {
		c.log(level, frame)
	}
	for h := range fleets {
		h.Web.Log(level, frame)
	}
	return nil
}

// log queues a message that belongs to no request, if the client wants it and no other process sends it.
func (c *connection) log(level mcp.LoggingLevel, frame []byte) {
	if c.hears(level) && !c.IsAway() {
		for range c.logs.add(frame) {
			c.exchange.Peer.Tel.NotificationDropped(mcp.NotificationMessage, names.DropQueueFull)
		}
		c.notices.add(notice{method: mcp.NotificationMessage}, instrument.Ref{})
	}
}

// hears reports whether the client of a session wants messages of a level.
func (c *connection) hears(level mcp.LoggingLevel) bool {
	s, terms := c.exchange.s, c.exchange.Terms
	a := terms.Agreed.Load()
	return a != nil && terms.Confirmed.Load() && a.Declared.Logging != nil && s.logging.declared.Load() &&
		level.Level() >= s.cfg.leastLevel(terms).Level()
}

// tellLogs sends the queued messages. If a message cannot be sent, the client gets the later messages after it
// reconnects.
func (c *connection) tellLogs() {
	for frame := c.logs.next(); frame != nil; frame = c.logs.next() {
		if c.exchange.Peer.SendCounted(c.exchange.Work, c.exchange.Out, mcp.NotificationMessage, frame) != nil {
			if !c.logs.empty() {
				c.notices.add(notice{method: mcp.NotificationMessage}, instrument.Ref{})
			}
			return
		}
	}
}

// maxWaiting is the maximum number of log messages in the queue of one client.
const maxWaiting = 256

// logQueue is the queue of log messages, as frames, for one client.
type logQueue struct {
	mu      sync.Mutex
	frames  [][]byte // guarded by mu; shared with other clients, must not be changed
	bytes   int      // guarded by mu; size of all frames together
	dropped int      // guarded by mu; messages dropped since the client last got a report of drops
}

// add queues a message, and returns the number of older messages that it dropped.
func (q *logQueue) add(frame []byte) (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.frames) > 0 && (len(q.frames) == maxWaiting || q.bytes+len(frame) > maxLogMessage) {
		q.pop()
		dropped++
	}
	q.dropped += dropped
	q.frames = append(q.frames, frame)
	q.bytes += len(frame)
	return dropped
}

// next removes and returns the next message. After a drop, next first returns a report of the dropped messages. It
// returns nil if the queue is empty.
func (q *logQueue) next() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := q.dropped; n > 0 {
		q.dropped = 0
		// a string always encodes
		frame, _ := logFrame(nil, mcp.LevelWarning, "", fmt.Sprintf("log messages dropped: %d", n))
		return frame
	}
	if len(q.frames) == 0 {
		return nil
	}
	return q.pop()
}

func (q *logQueue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.frames) == 0 && q.dropped == 0
}

// pop removes and returns the oldest message. mu is held.
func (q *logQueue) pop() []byte {
	frame := q.frames[0]
	q.frames[0] = nil
	q.frames = q.frames[1:]
	q.bytes -= len(frame)
	return frame
}
