package inspectview

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// The bounds of the frames that a Session keeps. The oldest frames are dropped first.
const (
	maxFrames    = 2000
	maxFrameText = 64 << 10 // bytes kept of each frame
	maxFrameRoom = 16 << 20 // bytes kept of all frames
)

// A frame is one message on the wire.
type frame struct {
	Number int
	Conn   int // number of the connection
	Time   time.Time
	Sent   bool   // the client sent the frame
	Size   int64  // size of the whole frame, in bytes
	Text   []byte // the first maxFrameText bytes
	head   head
}

// head are the members of a frame that identify it.
type head struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta struct {
			Traceparent   string          `json:"traceparent"`
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
		ProgressToken json.RawMessage `json:"progressToken"` // token in notifications/progress
		RequestID     json.RawMessage `json:"requestId"`     // id in notifications/cancelled
	} `json:"params"`
}

// Title describes the frame in a few words.
func (f *frame) Title() string {
	if f.head.Method != "" {
		return cut(maxName, f.head.Method)
	}
	return "response"
}

// ID returns the JSON-RPC id; empty for a notification.
func (f *frame) ID() string { return cut(maxName, string(f.head.ID)) }

// Cut returns the number of bytes that are not kept.
func (f *frame) Cut() int64 { return f.Size - int64(len(f.Text)) }

// frames keeps the newest frames of a Session.
type frames struct {
	mu      sync.Mutex
	all     []*frame
	room    int
	counted int
	conns   int // number of connections so far
}

// connection returns the number of a new connection.
func (l *frames) connection() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns++
	return l.conns
}

func (l *frames) add(conn int, sent bool, data []byte) *frame {
	f := &frame{Conn: conn, Time: time.Now(), Sent: sent, Size: int64(len(data))}
	f.Text = append(f.Text, data[:min(len(data), maxFrameText)]...) // the receiver may change the frame in place
	if f.Cut() == 0 {
		_ = json.Unmarshal(f.Text, &f.head) // a frame that is not JSON-RPC has no title
	} else if m, err := jsonrpc.Parse(data); err == nil {
		f.head.ID, _ = json.Marshal(m.ID) // an id can be encoded
		f.head.Method = m.Method
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counted++
	f.Number = l.counted
	l.all = append(l.all, f)
	l.room += len(f.Text)
	drop := 0
	for len(l.all)-drop > maxFrames || l.room > maxFrameRoom {
		l.room -= len(l.all[drop].Text)
		l.all[drop] = nil
		drop++
	}
	l.all = l.all[drop:]
	return f
}

// remove removes a frame that was not sent.
func (l *frames) remove(f *frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.all, f); i >= 0 {
		l.all = slices.Delete(l.all, i, i+1)
		l.room -= len(f.Text)
	}
}

// newest returns the newest n frames, the newest first.
func (l *frames) newest(n int) []*frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []*frame
	for i := len(l.all) - 1; i >= 0 && len(found) < n; i-- {
		found = append(found, l.all[i])
	}
	return found
}

// of returns at most n frames of a trace, the oldest first: requests and notifications with its id, their answers, their
// progress, and their cancellation.
func (l *frames) of(traceID string, n int) []*frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	type key struct {
		conn int
		sent bool // the requesting side sent the frame
		id   string
	}
	asked, tokens := map[key]bool{}, map[key]bool{}
	var found []*frame
	for _, f := range l.all {
		h := &f.head
		id, token := string(h.ID), string(h.Params.ProgressToken)
		mine := false
		switch {
		case len(h.Params.Meta.Traceparent) > 35 && h.Params.Meta.Traceparent[3:35] == traceID:
			mine = true
			if id != "" {
				asked[key{f.Conn, f.Sent, id}] = true
			}
			if token := string(h.Params.Meta.ProgressToken); token != "" {
				tokens[key{conn: f.Conn, id: token}] = true
			}
		case h.Method == "" && id != "":
			mine = asked[key{f.Conn, !f.Sent, id}]
		case token != "":
			mine = tokens[key{conn: f.Conn, id: token}]
		case len(h.Params.RequestID) > 0:
			mine = asked[key{f.Conn, f.Sent, string(h.Params.RequestID)}]
		}
		if mine && len(found) < n {
			found = append(found, f)
		}
	}
	return found
}

// tap is a transport whose frames are kept.
type tap struct {
	transport.Transport
	log *frames
}

func (t *tap) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c, err := t.Transport.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &tappedConn{c, t.log, t.log.connection()}, nil
}

type tappedConn struct {
	transport.Conn
	log    *frames
	number int
}

func (c *tappedConn) Send(ctx context.Context, m transport.Message) error {
	f := c.log.add(c.number, true, m.Data) // before the answer arrives
	err := c.Conn.Send(ctx, m)
	if err != nil {
		c.log.remove(f)
	}
	return err
}

func (c *tappedConn) Cancel(id int64, notice transport.Message) {
	if len(notice.Data) > 0 {
		c.log.add(c.number, true, notice.Data)
	}
	c.Conn.Cancel(id, notice)
}

func (c *tappedConn) Receive(ctx context.Context) (transport.Frame, error) {
	f, err := c.Conn.Receive(ctx)
	if err == nil && f.Err == nil {
		c.log.add(c.number, false, f.Data)
	}
	return f, err
}
