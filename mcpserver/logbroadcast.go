package mcpserver

import (
	"fmt"
	"maps"
	"sync"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Log sends a log message that belongs to no request to all legacy clients that want messages of its level. Modern ones
// only get what belongs to a request of theirs: see [RequestInfo.Log], also for data and logger.
//
// It does not wait. For each client, up to 256 messages and 1 MiB of them are kept until they can be sent; then the
// oldest give way, and the client is told how many. Over HTTP, they are sent once the client listens to its session's
// stream. It does nothing unless the server logs; see [Options.Logging].
//
// The error says that the level is none of the protocol's, that data has no encoding or that the message is larger than
// 1 MiB.
func (s *Server) Log(level mcp.LoggingLevel, logger string, data any) error {
	if !level.Defined() {
		return errLevel(level)
	}
	s.mu.Lock()
	conns, fleets := maps.Clone(s.conns), maps.Clone(s.fleets)
	s.mu.Unlock()
	maps.DeleteFunc(conns, func(c *connection, _ struct{}) bool { return !c.hears(level) })
	if len(conns) == 0 && (len(fleets) == 0 || !s.logging.declared.Load()) { // who hears is known where the clients are
		return nil
	}
	frame, err := logFrame(nil, level, logger, data)
	if err != nil {
		return err
	}
	for c := range conns {
		c.log(level, frame)
	}
	for h := range fleets {
		h.web.Log(level, frame)
	}
	return nil
}

// log sends a message that belongs to no request, if the client wants it and no other process sends it.
func (c *connection) log(level mcp.LoggingLevel, frame []byte) {
	if c.hears(level) && !c.away.Load() {
		for range c.logs.add(frame) {
			c.exchange.Peer.Tel.NotificationDropped(mcp.NotificationMessage, names.DropQueueFull)
		}
		c.notices.add(notice{method: mcp.NotificationMessage}, instrument.Ref{})
	}
}

// hears reports whether the client of a session wants messages of a level.
func (c *connection) hears(level mcp.LoggingLevel) bool {
	s, terms := c.exchange.s, c.exchange.terms
	a := terms.agreed.Load()
	return a != nil && terms.confirmed.Load() && a.declared.Logging != nil && s.logging.declared.Load() &&
		level.Level() >= terms.leastLevel(&s.cfg).Level()
}

// tellLogs sends the messages that wait. A client that does not take one gets those behind it when it is back.
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

// maxWaiting is how many log messages wait for one client.
const maxWaiting = 256

// logQueue are log messages, as frames, that one client has yet to be sent.
type logQueue struct {
	mu      sync.Mutex
	frames  [][]byte // guarded by mu; shared with other clients, and not changed
	bytes   int      // guarded by mu; of those
	dropped int      // guarded by mu; since the last one was taken
}

// add keeps a message and returns how many have given way.
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

// next returns the next message, nil if there is none.
func (q *logQueue) next() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := q.dropped; n > 0 {
		q.dropped = 0
		// has an encoding
		frame, _ := logFrame(nil, mcp.LevelWarning, "", fmt.Sprintf("log messages that were dropped: %d", n))
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

// pop takes the oldest message. mu is held.
func (q *logQueue) pop() []byte {
	frame := q.frames[0]
	q.frames[0] = nil
	q.frames = q.frames[1:]
	q.bytes -= len(frame)
	return frame
}
