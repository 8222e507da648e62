package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// harbor is a server as another package would write it. The core does not know its methods, notification and question.
type harbor struct {
	exchange *rpc.Exchange
	client   *client
	total    *quota.Limiter
	tides    map[string]string // tide at each place; owned by the goroutine that calls receive
	waiting  *tideCall         // the latest tide/wait
	ended    error             // cause of the context of the latest tide/forever
}

func newHarbor(t *testing.T) *harbor {
	h := &harbor{client: new(client), total: quota.NewLimiter(2), tides: map[string]string{"Bergen": "high"}}
	group := rpc.NewGroup(0)
	h.exchange = &rpc.Exchange{
		Engine: &rpc.Engine{Calls: rpc.NewCalls(2, 0, 1<<20, group, h.total), Group: group, FrameLimit: 1 << 20},
		Peer:   new(rpc.Peer), Server: h, Asks: rpc.NewAsks(), Out: h.client, Work: t.Context(), Life: t.Context(),
	}
	t.Cleanup(func() { rpc.CloseGroup(group) })
	return h
}

// receive passes messages to the server and waits until the server is idle. It returns the frames that the server has
// sent.
func (h *harbor) receive(frames ...string) string {
	for _, frame := range frames {
		h.exchange.Receive([]byte(frame))
	}
	synctest.Wait()
	return h.client.take()
}

func (h *harbor) NewCall() *rpc.Call {
	c := &tideCall{harbor: h}
	c.Handler = c
	return &c.Call
}

func (h *harbor) Notified(m *jsonrpc.Message) error {
	if m.Method == "notifications/tide/turned" {
		clear(h.tides)
	}
	return nil
}

func (h *harbor) Describe(*jsonrpc.Message) instrument.Incoming { return instrument.Incoming{} }
func (h *harbor) Version() mcp.Version                          { return mcp.Version20250326 }
func (h *harbor) Cancellation(reason string) error              { return rpc.Cancellation(reason) }
func (h *harbor) CountRefused(string, rpc.Answer, bool)         {}
func (h *harbor) Elsewhere() rpc.Elsewhere                      { return nil }

// tideCall is a request, and its handler.
type tideCall struct {
	rpc.Call
	harbor *harbor
	method string
	place  string
}

func (c *tideCall) Begin(method string, raw json.RawMessage, _ jsonrpc.Params) {
	place, _ := mcp.Object(raw).Lookup("place")
	c.method, c.place = method, strings.Trim(string(place), `"`)
	c.InOrder = method == "tide/wait"
	if method == "tide/at" {
		c.Inline = true
	}
	if c.place == "" {
		c.Refused = &mcp.Error{Code: mcp.CodeInvalidParams, Message: "no place"}
	}
	c.Start(new(instrument.Incoming))
}

func (c *tideCall) Handle(ctx context.Context) (any, error) {
	switch c.method {
	case "tide/at":
		return c.harbor.tides[c.place], nil
	case "tide/ask":
		q := &rpc.Inquirer{Exchange: c.Exchange, Out: c.Out, Context: c.Context()}
		answer, err := q.Ask(ctx, whereQuestion{})
		return string(answer), err
	case "tide/wait":
		c.Deferred, c.harbor.waiting = true, c
		return nil, nil
	case "tide/forever":
		<-ctx.Done()
		c.harbor.ended = context.Cause(ctx)
		return nil, context.Cause(ctx)
	}
	panic("no such method")
}

func (c *tideCall) Close(error) {}

func (c *tideCall) Encode(dst []byte, result any, err error) (frame, rest []byte, wrong error) {
	if err != nil {
		return rpc.AppendError(dst, c.ID, rpc.WireError(err)), nil, err
	}
	raw, err := json.Marshal(result)
	return jsonrpc.AppendAnswer(dst, c.ID, "result", raw), nil, err
}

func (c *tideCall) Outcome(_ any, err, _ error) instrument.Result { return rpc.ResultOf(err) }
func (c *tideCall) Left(why error) instrument.Result              { return rpc.ResultOf(why) }
func (c *tideCall) About() (string, mcp.Version)                  { return c.method, "" }
func (c *tideCall) Value() any                                    { return c }

// whereQuestion asks the client where it is.
type whereQuestion struct{}

func (whereQuestion) Method() string                              { return "where" }
func (whereQuestion) Params() json.RawMessage                     { return nil }
func (whereQuestion) Take(context.Context, json.RawMessage) error { return nil }
func (whereQuestion) Meta() mcp.Meta                              { return nil }

// client is a sink that records the frames.
type client struct {
	mu   sync.Mutex
	sent []string
}

func (c *client) add(frame []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if frame != nil {
		c.sent = append(c.sent, string(frame))
	}
	return nil
}

func (c *client) take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Join(c.sent, "\n")
	c.sent = nil
	return all
}

func (c *client) Notify(_ context.Context, frame []byte) error { return c.add(frame) }
func (c *client) Answer(_ context.Context, a rpc.Answer) error { return c.add(a.Whole()) }
func (c *client) Ask(_ context.Context, frame []byte) error    { return c.add(frame) }
func (c *client) Reach() rpc.Reach                             { return rpc.Reach{Asks: true, Read: true} }

func TestCoreServesFeatureOfAnotherPackage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarbor(t)
		for _, step := range []struct{ name, frame, want string }{
			{"a request", `{"jsonrpc":"2.0","id":1,"method":"tide/at","params":{"place":"Bergen"}}`,
				`{"jsonrpc":"2.0","id":1,"result":"high"}`},
			{"a notification", `{"jsonrpc":"2.0","method":"notifications/tide/turned"}`, ""},
			{"the request again", `{"jsonrpc":"2.0","id":1,"method":"tide/at","params":{"place":"Bergen"}}`,
				`{"jsonrpc":"2.0","id":1,"result":""}`},
			{"a refused request", `{"jsonrpc":"2.0","id":2,"method":"tide/at"}`,
				`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no place"}}`},
			{"a batch", `[{"jsonrpc":"2.0","id":3,"method":"tide/at"}]`,
				`[{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no place"}}]`},
			{"a handler that panics", `{"jsonrpc":"2.0","id":4,"method":"tide/none","params":{"place":"Bergen"}}`,
				`{"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"internal error"}}`},
			{"a handler that asks", `{"jsonrpc":"2.0","id":5,"method":"tide/ask","params":{"place":"Bergen"}}`,
				`{"jsonrpc":"2.0","id":1,"method":"where"}`},
			{"the client's answer", `{"jsonrpc":"2.0","id":1,"result":{"at":"sea"}}`,
				`{"jsonrpc":"2.0","id":5,"result":"{\"at\":\"sea\"}"}`},
			{"an endless request", `{"jsonrpc":"2.0","id":6,"method":"tide/forever","params":{"place":"Bergen"}}`, ""},
			{"its cancellation",
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6,"reason":"fog"}}`, ""},
		} {
			if got := h.receive(step.frame); got != step.want {
				t.Errorf("%s: the server sent %s, want %s", step.name, got, step.want)
			}
		}
		if !errors.Is(h.ended, rpc.ErrCancelled) || !strings.Contains(h.ended.Error(), "fog") {
			t.Errorf("the endless request ended because of %v, want the client's reason", h.ended)
		}
	})
}

// A request that is handled in order keeps its place until it is concluded. A refused request has no place.
func TestOrderedRequestKeepsPlaceUntilConcluded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarbor(t)
		if got := h.receive(`{"jsonrpc":"2.0","id":1,"method":"tide/wait","params":{"place":"Bergen"}}`); got != "" {
			t.Errorf("the server sent %s before the request was concluded", got)
		}
		h.receive(`{"jsonrpc":"2.0","id":2,"method":"tide/wait"}`)
		if used := h.total.Usage().Used; used != 1 {
			t.Errorf("%d places are held by one request, want 1", used)
		}
		h.waiting.Conclude("low", nil)
		if got, want := h.client.take(), `{"jsonrpc":"2.0","id":1,"result":"low"}`; got != want {
			t.Errorf("the server sent %s, want %s", got, want)
		}
		if used := h.total.Usage().Used; used != 0 {
			t.Errorf("%d places are held after the last request, want none", used)
		}
	})
}
