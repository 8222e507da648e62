package mcpproxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Transport returns a transport that records the messages between a client and its server, without a proxy: the client
// is the host of the recording, and each connection is a session. A recorder can be used once. Transport returns an
// error if a proxy or another client uses the recorder already.
func (r *Recorder) Transport(t transport.Transport) (transport.Transport, error) {
	if err := r.begin(t.Name(), nil); err != nil {
		return nil, err
	}
	return &recordedTransport{t, r}, nil
}

type recordedTransport struct {
	transport.Transport
	recorder *Recorder
}

func (t *recordedTransport) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	c, err := t.Transport.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &recordedConn{Conn: c, tape: t.recorder.tape(), open: map[openRequest]outcome{}}, nil
}

// The bounds of the requests whose answers a connection can still record: their number, and the bytes of their ids.
// Answers to other requests are missing in the recording.
const (
	maxOpen   = 4096
	maxOpenID = 1 << 10
)

// recordedConn is a connection whose messages are recorded.
type recordedConn struct {
	transport.Conn
	tape *tape

	mu   sync.Mutex
	open map[openRequest]outcome // requests without an answer; guarded by mu
}

type openRequest struct {
	from recording.Side
	id   jsonrpc.ID
}

// outcome records the outcome of a request.
type outcome = func(context.Context, json.RawMessage, error)

func (c *recordedConn) Send(ctx context.Context, m transport.Message) error {
	parsed, invalid := jsonrpc.Parse(m.Data)
	request := invalid == nil && parsed.Kind == jsonrpc.Request
	if request {
		c.record(recording.HostSide, &parsed) // before the answer
	}
	err := c.Conn.Send(ctx, m)
	switch {
	case err != nil && request:
		c.cancelled(parsed.ID, err)
	case err == nil && !request && invalid == nil:
		c.record(recording.HostSide, &parsed)
	}
	return err
}

func (c *recordedConn) Cancel(id int64, notice transport.Message) {
	c.cancelled(jsonrpc.IntID(id), errors.New(noticeReason(notice.Data)))
	c.Conn.Cancel(id, notice)
}

func (c *recordedConn) Receive(ctx context.Context) (transport.Frame, error) {
	f, err := c.Conn.Receive(ctx)
	if err == nil && f.Err == nil {
		if parsed, err := jsonrpc.Parse(f.Data); err == nil {
			c.record(recording.ServerSide, &parsed)
		}
	}
	return f, err
}

// record records a message of one side. It omits a message that is not valid JSON.
func (c *recordedConn) record(from recording.Side, m *jsonrpc.Message) {
	middle, ok := compacted(m.Middle())
	if !ok {
		return
	}
	switch m.Kind {
	case jsonrpc.Request:
		out := c.tape.request(traced(middle), from, relay.Message{ID: m.ID.AppendJSON(nil), Method: m.Method, Params: middle})
		c.mu.Lock()
		defer c.mu.Unlock()
		if id, _ := m.ID.Text(); len(c.open) < maxOpen && len(id) <= maxOpenID {
			c.open[openRequest{from, m.ID}] = out
		}
	case jsonrpc.Notification:
		if m.Method == mcp.NotificationCancelled && c.cancelledBy(from, middle) {
			return
		}
		c.tape.told(traced(middle), from, relay.Message{Method: m.Method, Params: middle})
	case jsonrpc.Result:
		if out := c.take(other(from), m.ID); out != nil {
			out(context.Background(), middle, nil)
		}
	case jsonrpc.Error:
		if out := c.take(other(from), m.ID); out != nil {
			e := &relay.Error{Object: middle, Server: new(mcp.Error)}
			_ = json.Unmarshal(middle, e.Server) // members that cannot be decoded are zero
			out(context.Background(), nil, e)
		}
	}
}

// take removes a request that was open, and returns its outcome; nil if there is none.
func (c *recordedConn) take(from recording.Side, id jsonrpc.ID) outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.open[openRequest{from, id}]
	delete(c.open, openRequest{from, id})
	return out
}

// cancelled records that a request of the client was cancelled, or not sent.
func (c *recordedConn) cancelled(id jsonrpc.ID, why error) {
	if out := c.take(recording.HostSide, id); out != nil {
		cancel(out, why)
	}
}

// cancelledBy records that one side has cancelled its request. It reports false if no such request is open.
func (c *recordedConn) cancelledBy(from recording.Side, params json.RawMessage) bool {
	var p struct {
		RequestID jsonrpc.ID `json:"requestId"`
		Reason    string     `json:"reason"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	out := c.take(from, p.RequestID)
	if out == nil {
		return false
	}
	cancel(out, errors.New(p.Reason))
	return true
}

func cancel(out outcome, why error) {
	ctx, end := context.WithCancelCause(context.Background())
	end(why)
	out(ctx, nil, why)
}

// noticeReason returns the reason in a notifications/cancelled; a general reason without a notice.
func noticeReason(frame []byte) string {
	var p struct{ Params struct{ Reason string } }
	_ = json.Unmarshal(frame, &p) // a frame that is not JSON has no reason
	return cmp.Or(p.Params.Reason, "the client cancelled the request")
}

// other returns the other side.
func other(s recording.Side) recording.Side {
	if s == recording.HostSide {
		return recording.ServerSide
	}
	return recording.HostSide
}

// compacted returns JSON in one line. It reports false for invalid JSON. Empty input is valid.
func compacted(raw []byte) (json.RawMessage, bool) {
	if len(raw) == 0 {
		return nil, true
	}
	if bytes.ContainsAny(raw, "\r\n") {
		var b bytes.Buffer
		err := json.Compact(&b, raw)
		return b.Bytes(), err == nil
	}
	return raw, json.Valid(raw)
}

// traced returns a context with the span that params name in _meta.
func traced(params json.RawMessage) context.Context {
	var meta struct {
		Traceparent string `json:"traceparent"`
	}
	if _, err := mcp.Object(params).Decode("_meta", &meta); err != nil || meta.Traceparent == "" {
		return context.Background()
	}
	span := propagation.TraceContext{}.Extract(context.Background(),
		propagation.MapCarrier{"traceparent": meta.Traceparent})
	return trace.ContextWithSpanContext(context.Background(), trace.SpanContextFromContext(span))
}
