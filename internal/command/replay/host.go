package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// message is a message from the server.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *mcp.Error      `json:"error"`
}

// outcome describes the kind of an answer.
func (m *message) outcome() string {
	var r struct {
		IsError bool `json:"isError"`
	}
	switch {
	case m.Error != nil:
		return fmt.Sprintf("error %d: %s", m.Error.Code, m.Error.Message)
	case json.Unmarshal(m.Result, &r) == nil && r.IsError:
		return "an error of the tool"
	}
	return "a result"
}

// host is the host's end of a connection. It answers the server's requests with the answers of the recorded host.
type host struct {
	conn transport.Conn
	stop context.CancelFunc
	over chan struct{} // closed when read has ended
	why  error         // why read has ended; set before over is closed

	mu      sync.Mutex
	last    int64                    // guarded by mu; id of the latest request
	waiting map[int64]chan<- message // guarded by mu; channels for answers, by request id
	answers map[string][]reply       // guarded by mu; remaining replies to the server's requests, by method, in order
}

// reply is a recorded answer of the host to a request of the server.
type reply struct {
	*recording.Entry
	request string // canonical JSON of the request's params
}

func newHost(conn transport.Conn, steps []Step) *host {
	h := &host{
		conn: conn, over: make(chan struct{}), waiting: map[int64]chan<- message{}, answers: repliesOf(steps),
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.stop = cancel
	go h.read(ctx)
	return h
}

// repliesOf returns the host's answers, by method, in order.
func repliesOf(steps []Step) map[string][]reply {
	all := map[string][]reply{}
	for _, s := range steps {
		requests := map[int]string{} // params of a request, by its number
		for _, step := range s.Steps {
			switch {
			case s.Skip != "" || step.Request == s.Request:
			case step.Kind == recording.Request:
				requests[step.Request] = recording.Text(recording.ValueOf(step.Content))
			case step.Answers() && step.From == recording.HostSide:
				all[step.Method] = append(all[step.Method], reply{step.Entry, requests[step.Request]})
			}
		}
	}
	return all
}

// nextReply removes and returns the answer to a request of the server: the first answer to an equal request, or else
// the first remaining answer of the method. It returns nil if none remains.
func (h *host) nextReply(m *message) *recording.Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := h.answers[m.Method]
	if len(left) == 0 {
		return nil
	}
	request := recording.Text(recording.ValueOf(m.Params))
	i := max(0, slices.IndexFunc(left, func(r reply) bool { return r.request == request }))
	found := left[i].Entry
	copy(left[1:i+1], left[:i])
	h.answers[m.Method] = left[1:]
	return found
}

// close closes the connection and waits for read.
func (h *host) close() error {
	h.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := h.conn.Close(ctx)
	<-h.over
	return err
}

// read reads the server's messages until the connection ends.
func (h *host) read(ctx context.Context) {
	defer close(h.over)
	for {
		f, err := h.conn.Receive(ctx)
		if err != nil {
			h.why = err
			return
		}
		var m message
		if json.Unmarshal(f.Data, &m) != nil {
			continue // ignore invalid messages
		}
		switch {
		case m.Method != "" && m.ID != nil:
			if err := h.answer(ctx, m); err != nil {
				h.why = err
				return
			}
		case m.Method == "":
			h.deliver(m)
		}
	}
}

// deliver sends an answer to the channel of its request.
func (h *host) deliver(m message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.waiting[id]; w != nil {
		delete(h.waiting, id)
		w <- m // never blocks: the channel has a buffer
	}
}

// answer answers a request of the server.
func (h *host) answer(ctx context.Context, m message) error {
	recorded := h.nextReply(&m)
	frame := append([]byte(`{"jsonrpc":"2.0","id":`), m.ID...)
	switch {
	case m.Method == mcp.MethodPing:
		frame = append(frame, `,"result":{}`...)
	case recorded == nil || recorded.Content == nil || recorded.Kind == recording.Cancelled:
		frame = fmt.Appendf(frame, `,"error":{"code":%d,"message":"the recording has no answer to this request"}`,
			mcp.CodeMethodNotFound)
	case recorded.Kind == recording.Error:
		frame = append(append(frame, `,"error":`...), recorded.Content...)
	default:
		frame = append(append(frame, `,"result":`...), recorded.Content...)
	}
	return h.write(ctx, transport.Message{Kind: transport.KindResponse, Data: append(frame, '}')})
}

// request sends a request. Its answer is sent to w.
func (h *host) request(ctx context.Context, method string, params json.RawMessage, w chan<- message) (int64, error) {
	h.mu.Lock()
	h.last++
	id := h.last
	h.waiting[id] = w
	h.mu.Unlock()
	frame := strconv.AppendInt([]byte(`{"jsonrpc":"2.0","id":`), id, 10)
	return id, h.write(ctx, transport.Message{
		Kind: transport.KindRequest, ID: id, Method: method, Data: withParams(frame, method, params),
	})
}

func (h *host) notify(ctx context.Context, method string, params json.RawMessage) error {
	return h.write(ctx, transport.Message{
		Kind: transport.KindNotification, Method: method, Data: withParams([]byte(`{"jsonrpc":"2.0"`), method, params),
	})
}

func withParams(frame []byte, method string, params json.RawMessage) []byte {
	frame = jsonscan.AppendString(append(frame, `,"method":`...), method)
	if params != nil {
		frame = append(append(frame, `,"params":`...), params...)
	}
	return append(frame, '}')
}

// write sends a message, and retries while the transport is busy.
func (h *host) write(ctx context.Context, m transport.Message) error {
	for {
		err := h.conn.Send(ctx, m)
		if !errors.Is(err, transport.ErrBusy) {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
