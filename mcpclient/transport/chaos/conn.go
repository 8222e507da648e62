package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/inlet"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// conn is a connection with faults. Receive applies the plan to the server's frames; delayed frames wait in the inlet.
// Delayed messages of the client wait in the outbox.
type conn struct {
	inlet.Conn
	of  *wrapped
	cfg transport.Config
	out *outbox

	mu         sync.Mutex
	asked      map[int64]request // requests without an answer; guarded by mu
	askedBytes int               // bytes of asked, counted by request.size; guarded by mu
	free       []time.Time       // for each drip rule, the time when all earlier messages have arrived; guarded by mu
	thaw       time.Time         // end of the freeze: no message passes earlier; guarded by mu
}

// request holds the data of a request that the plan needs when the answer arrives.
type request struct {
	method, tool string
	span         trace.Span // span of the call, nil for none
}

// mostAsked bounds the memory for open requests, in bytes: the method and tool names, plus requestOverhead for each
// request. Answers to requests above the bound pass without faults.
const (
	mostAsked       = 1 << 20
	requestOverhead = 256
)

func (r *request) size() int { return len(r.method) + len(r.tool) + requestOverhead }

// Send applies the plan to requests. Other messages are only delayed: during a freeze, or while earlier messages wait.
func (c *conn) Send(ctx context.Context, m transport.Message) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if over := c.Over(); over != nil {
		return errors.Join(transport.ErrClosed, over)
	}
	if c.Full() {
		return transport.ErrBusy
	}
	if m.Kind != transport.KindRequest {
		return c.pass(ctx, m, time.Time{})
	}
	r := request{method: m.Method, span: trace.SpanFromContext(ctx)}
	if m.Method == mcp.MethodCallTool {
		r.tool = toolOf(&m)
	}
	v := c.of.judge(OnRequest, r.method, r.tool)
	tell(ctx, c.cfg.Logger, v.kinds, r)
	if v.hit != nil && c.instead(m.ID, v.hit) {
		return nil
	}
	c.remember(m.ID, r)
	err := c.pass(ctx, m, c.due(&v, len(m.Data)))
	if err != nil {
		c.forget(m.ID)
	}
	return err
}

// toolOf returns the name of the called tool. A proxy sets Message.Name only for HTTP, so toolOf may parse the message.
func toolOf(m *transport.Message) string {
	if m.Name != "" {
		return m.Name
	}
	var call struct{ Params struct{ Name string } }
	_ = json.Unmarshal(m.Data, &call) // on an error the name is empty
	return call.Params.Name
}

// instead applies a fault that replaces a request, and reports whether the request was replaced.
func (c *conn) instead(id int64, r *rule) bool {
	switch r.Kind {
	case Busy:
		c.Deliver(transport.Frame{Request: id, Err: turnedAway(r)})
	case Expire:
		c.Deliver(transport.Frame{Request: id, Err: forgotten(c.Info().SessionID)})
	case Cut, Death:
		if f, over := c.breakOff(r.Kind, id); over == nil {
			c.Deliver(f)
		}
	case Freeze:
		c.freeze(r.Delay)
		return false
	case Drop:
	}
	return true
}

// pass sends a message at time at, or at once if at is in the past and no message waits.
func (c *conn) pass(ctx context.Context, m transport.Message, at time.Time) error {
	c.mu.Lock()
	if at.Before(c.thaw) {
		at = c.thaw
	}
	c.mu.Unlock()
	if now := time.Now(); !at.After(now) {
		if c.out.len() == 0 {
			return c.Conn.Send(ctx, m)
		}
		at = now // queue the message behind the messages that are already due
	}
	return c.out.put(parcel{ctx: context.WithoutCancel(ctx), m: m, at: at})
}

// due returns the time when the delays of a message end, and the zero time for a message without a delay. size is the
// size of the message in bytes.
func (c *conn) due(v *verdict, size int) (at time.Time) {
	if v.delay == 0 && len(v.drips) == 0 {
		return at
	}
	at = time.Now().Add(v.delay)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range v.drips {
		if at.Before(c.free[i]) {
			at = c.free[i]
		}
		at = at.Add(time.Duration(float64(size) / float64(c.of.rules[i].Rate) * float64(time.Second)))
		c.free[i] = at
	}
	return at
}

// freeze stops all messages for d, or forever if d is 0.
func (c *conn) freeze(d time.Duration) {
	if d == 0 {
		d = 100 * 365 * 24 * time.Hour
	}
	until := time.Now().Add(d)
	c.mu.Lock()
	c.thaw = until
	c.mu.Unlock()
	c.Pause(until)
}

// breakOff ends the connection and returns the error. Over HTTP, if id is not 0, it ends only the exchange of request
// id, and returns the frame that replaces the answer and a nil error.
func (c *conn) breakOff(k Kind, id int64) (transport.Frame, error) {
	if c.of.http && id != 0 {
		why := &transport.RequestError{Reason: transport.ReasonLost, Err: ErrInjected}
		return transport.Frame{Request: id, Err: why}, nil
	}
	over := fmt.Errorf("the connection was cut: %w: %w", ErrInjected, io.ErrUnexpectedEOF)
	if k == Death {
		if pid := c.Info().PID; pid != 0 && kill(pid) == nil {
			return transport.Frame{}, errKilled // the connection reports the exit itself
		}
		over = &transport.ExitError{Code: -1, Signal: "SIGKILL", Stderr: []string{ErrInjected.Error()}}
	}
	c.End(over)
	return transport.Frame{}, over
}

// errKilled means that the process was killed, so that the wrapped connection will report the exit.
var errKilled = errors.New("the process was killed")

func kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// remember stores a request until its answer arrives, if there is room.
func (c *conn) remember(id int64, r request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.askedBytes+r.size() <= mostAsked {
		c.forgetLocked(id)
		c.asked[id] = r
		c.askedBytes += r.size()
	}
}

// forget removes an open request and returns it. It returns false if the request is unknown.
func (c *conn) forget(id int64) (request, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.forgetLocked(id)
}

func (c *conn) forgetLocked(id int64) (request, bool) {
	r, ok := c.asked[id]
	if ok {
		delete(c.asked, id)
		c.askedBytes -= r.size()
	}
	return r, ok
}

// Cancel removes a request that was not sent yet. For any other request it sends the notice, behind the messages that
// wait.
func (c *conn) Cancel(id int64, notice transport.Message) {
	c.forget(id)
	if c.out.takeBack(id) {
		return
	}
	c.mu.Lock()
	thaw := c.thaw
	c.mu.Unlock()
	if c.out.len() == 0 && !thaw.After(time.Now()) {
		c.Conn.Cancel(id, notice)
		return
	}
	_ = c.out.put(parcel{m: notice, cancels: id, at: thaw}) // best effort: the caller no longer waits
}

// Info counts delayed messages as queued.
func (c *conn) Info() transport.Info {
	info := c.Conn.Info()
	info.Queued += c.out.len()
	return info
}

// Close drops delayed messages and closes the connection.
func (c *conn) Close(ctx context.Context) error {
	c.out.close()
	return c.Conn.Close(ctx)
}
