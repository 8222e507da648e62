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

// message is what a server has sent.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *mcp.Error      `json:"error"`
}

// outcome says what a message answers.
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

// host is a host's end of a connection. It answers the server's requests as they were answered in the recording.
type host struct {
	conn transport.Conn
	stop context.CancelFunc
	over chan struct{} // is closed when nothing more comes
	why  error         // set before over is closed

	mu      sync.Mutex
	last    int64                    // guarded by mu; id of a request
	waiting map[int64]chan<- message // guarded by mu; those who wait for an answer, by id
	answers map[string][]reply       // guarded by mu; to the server's requests, by method, in order
}

// reply is the host's answer in the recording to a request of the server.
type reply struct {
	*recording.Entry
	asked string // the request's params, as a value
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

// repliesOf returns what the host answers, by method, in order.
func repliesOf(steps []Step) map[string][]reply {
	all := map[string][]reply{}
	for _, s := range steps {
		asked := map[int]string{} // by the number of a request
		for _, step := range s.Steps {
			switch {
			case s.Skip != "" || step.Request == s.Request:
			case step.Kind == recording.Request:
				asked[step.Request] = recording.Text(recording.ValueOf(step.Content))
			case step.Answers() && step.From == recording.HostSide:
				all[step.Method] = append(all[step.Method], reply{step.Entry, asked[step.Request]})
			}
		}
	}
	return all
}

// reply takes the answer to a request of the server: the first to an equal one, or else the first that is left of the
// method; nil for none.
func (h *host) reply(m *message) *recording.Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := h.answers[m.Method]
	if len(left) == 0 {
		return nil
	}
	asked := recording.Text(recording.ValueOf(m.Params))
	i := max(0, slices.IndexFunc(left, func(r reply) bool { return r.asked == asked }))
	found := left[i].Entry
	copy(left[1:i+1], left[:i])
	h.answers[m.Method] = left[1:]
	return found
}

// close ends the connection.
func (h *host) close() error {
	h.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := h.conn.Close(ctx)
	<-h.over
	return err
}

// read reads what the server sends.
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
			continue // what is no message is no answer
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

// deliver hands an answer to who waits for it.
func (h *host) deliver(m message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.waiting[id]; w != nil {
		delete(h.waiting, id)
		w <- m // it has room
	}
}

// answer answers a request of the server.
func (h *host) answer(ctx context.Context, m message) error {
	recorded := h.reply(&m)
	frame := append([]byte(`{"jsonrpc":"2.0","id":`), m.ID...)
	switch {
	case m.Method == mcp.MethodPing:
		frame = append(frame, `,"result":{}`...)
	case recorded == nil || recorded.Content == nil || recorded.Kind == recording.Cancelled:
		frame = fmt.Appendf(frame, `,"error":{"code":%d,"message":"the recording has no answer to this"}`,
			mcp.CodeMethodNotFound)
	case recorded.Kind == recording.Error:
		frame = append(append(frame, `,"error":`...), recorded.Content...)
	default:
		frame = append(append(frame, `,"result":`...), recorded.Content...)
	}
	return h.write(ctx, transport.Message{Kind: transport.Response, Data: append(frame, '}')})
}

// request sends a request, whose answer goes to w.
func (h *host) request(ctx context.Context, method string, params json.RawMessage, w chan<- message) (int64, error) {
	h.mu.Lock()
	h.last++
	id := h.last
	h.waiting[id] = w
	h.mu.Unlock()
	frame := strconv.AppendInt([]byte(`{"jsonrpc":"2.0","id":`), id, 10)
	return id, h.write(ctx, transport.Message{
		Kind: transport.Request, ID: id, Method: method, Data: withParams(frame, method, params),
	})
}

func (h *host) notify(ctx context.Context, method string, params json.RawMessage) error {
	return h.write(ctx, transport.Message{
		Kind: transport.Notification, Method: method, Data: withParams([]byte(`{"jsonrpc":"2.0"`), method, params),
	})
}

func withParams(frame []byte, method string, params json.RawMessage) []byte {
	frame = jsonscan.AppendString(append(frame, `,"method":`...), method)
	if params != nil {
		frame = append(append(frame, `,"params":`...), params...)
	}
	return append(frame, '}')
}

// write sends a frame when there is room for it.
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
