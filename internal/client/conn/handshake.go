package conn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Handshake negotiates a version with the server: see [Introduction]. It runs in the goroutine of its connection and
// reads the connection itself. So no message after the handshake is read before the client is ready for it. The
// requests of the handshake are not in the in-flight table. They have no timeout of their own, and the client never
// cancels them, because the specification forbids that for initialize.
type Handshake struct {
	c       *Conn
	link    *Link
	in      *Reader
	clock   *stopwatch
	waiting []exchange // requests that wait for an answer: the probe, initialize, or both
	held    *Session   // made from a discover result that arrived after initialize was sent
	guessed bool       // the server only seems to belong to the legacy era, so the next attempt probes again
	// fallsBack means that server/discover may fail without an error in telemetry. The client, or the host that the proxy
	// serves, then sends initialize. If initialize fails too, its span and the attempt's span report the failure.
	fallsBack bool
	// early handles messages that arrive before the answer. It reports whether it has handled a message. It may be nil.
	early func(*jsonrpc.Message) bool
}

// exchange is a request of the handshake.
type exchange struct {
	id     jsonrpc.ID
	method string
	op     instrument.Op
}

// answer is the server's answer to an exchange.
type answer struct {
	method string
	msg    jsonrpc.Message
	err    *mcp.Error    // the server's error; nil for a result
	failed *failure      // why there is no answer
	op     instrument.Op // operation of the request; already ended, unless the answer is a result
}

// probeFor probes the server. If there is a legacy version to fall back to, the probe takes at most a quarter of
// InitTimeout.
func (h *Handshake) probeFor(ctx context.Context) (*Session, error) {
	limited := ctx
	if len(h.c.Settings.Legacy) > 0 {
		var done func()
		limited, done = h.clock.within(ctx, h.c.Settings.InitTimeout/4)
		defer done()
	}
	s, err := h.probe(limited)
	switch {
	case err == nil || errors.Is(err, errLegacy):
		return s, err
	case ctx.Err() == nil && limited.Err() != nil:
		return nil, errLegacy // no answer to the probe yet; if it arrives during initialize, keepDiscovered keeps it
	case h.probeKilled(err):
		return nil, &failure{event: machine.ProbeLost, err: err}
	}
	return s, err
}

// probeKilled reports whether the server ended the connection without sending anything. Some servers crash if another
// request comes before initialize.
func (h *Handshake) probeKilled(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && h.ended(f) && !h.in.heard && len(h.c.Settings.Legacy) > 0
}

// ended reports whether a reachable server ended the connection. It returns false if the client ended it, for example
// after a timeout.
func (h *Handshake) ended(f *failure) bool {
	return f.event == machine.TransportDown && !f.unreachable() && h.link.Ctx.Err() == nil
}

// send sends a request of the handshake. v is the version for the HTTP header. It is empty for initialize, which
// negotiates the version.
func (h *Handshake) send(ctx context.Context, method string, v mcp.Version, params any, meta *jsonrpc.Constant) error {
	return h.sendEncoded(ctx, method, v, func(id int64, trace *traceContext) ([]byte, error) {
		return encodeRequest(id, method, params, trace.meta(meta))
	})
}

// sendEncoded is like send, but calls encode to encode the request.
func (h *Handshake) sendEncoded(ctx context.Context, method string, v mcp.Version,
	encode func(id int64, trace *traceContext) ([]byte, error)) error {
	ctx, op := h.c.Telemetry.StartRequest(ctx, instrument.Request{Method: method, Beside: true})
	waits := false
	defer func() {
		if !waits {
			op.End(BrokenOff)
		}
	}()
	id := h.c.nextID()
	var peer *instrument.Peer
	if v != "" {
		peer = h.c.peerAt(h.link, v)
	}
	op.Admit(peer, id)
	trace := traceOf(&op)
	frame, err := encode(id, &trace)
	if err == nil {
		o := outgoing{op: &op, Message: transport.Message{
			Data: frame, Kind: transport.KindRequest, ID: id, Method: method, ProtocolVersion: string(v),
		}}
		trace.tell(&o.Message)
		err = h.c.send(ctx, h.link, &o)
	}
	if err != nil {
		op.End(instrument.Result{ErrorType: names.ErrorConnectionLost, Err: err, Told: true})
		return h.gone(ctx, err)
	}
	waits = true
	h.waiting = append(h.waiting, exchange{id: jsonrpc.IntID(id), method: method, op: op})
	return nil
}

// Patience is the time for which the client waits for a closed connection to report the reason.
const Patience = time.Second

// gone waits for the reason why the connection ended and returns it, because the error of Send does not contain it.
func (h *Handshake) gone(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for {
		if _, end := h.in.next(ctx); errors.As(end, new(*failure)) {
			return end
		} else if end != nil {
			return &failure{event: machine.TransportDown, err: err}
		}
	}
}

// notify sends a notification of the handshake.
func (h *Handshake) notify(ctx context.Context, s *Session, method string) error {
	ctx, op := h.c.Telemetry.StartRequest(ctx, instrument.Request{Method: method, Notification: true, Beside: true})
	defer op.End(BrokenOff)
	err := h.c.sendNotice(ctx, s, &op, notice(method, nil), nil) // gone reads the reason, which err lacks
	op.End(err.Result())
	if err != nil {
		return h.gone(ctx, err)
	}
	return nil
}

// await returns the next answer to a request of the handshake. It counts answers that match no request, and handles
// other messages as usual.
func (h *Handshake) await(ctx context.Context) (answer, error) {
	for {
		msg, err := h.in.next(ctx)
		if failed, ok := errors.AsType[*exchangeError](err); ok {
			if a, ok := h.answerTo(jsonrpc.IntID(failed.request)); ok {
				a.failed = failed.inHandshake()
				a.op.End(instrument.Result{
					ErrorType: a.failed.ErrorType(), Kind: string(KindTransport), Err: a.failed,
					Expected: h.mayFail(a.method) && a.failed.suggestsLegacy(), Told: true,
				})
				return a, nil
			}
			continue
		}
		if err != nil {
			return answer{}, err
		}
		if msg.Kind == jsonrpc.Result || msg.Kind == jsonrpc.Error {
			if a, ok := h.answerTo(msg.ID); ok {
				a.msg = msg
				h.settle(&a)
				return a, nil
			}
			h.c.note(h.link, fmt.Errorf("the server sent an answer with the ID %s, which matches no request; "+
				"an answer must repeat the numeric ID of its request", Excerpt(string(msg.ID.AppendJSON(nil)), MaxShown)))
		}
		if h.early != nil && h.early(&msg) {
			continue
		}
		if !h.c.route(h.in, &msg, nil) {
			return answer{}, errHungUp
		}
	}
}

// answerTo removes the waiting request with this ID and returns an answer that contains only the request's method and
// operation.
func (h *Handshake) answerTo(id jsonrpc.ID) (answer, bool) {
	i := slices.IndexFunc(h.waiting, func(x exchange) bool { return x.id == id })
	if i < 0 {
		return answer{}, false
	}
	x := h.waiting[i]
	h.waiting = slices.Delete(h.waiting, i, i+1)
	return answer{method: x.method, op: x.op}, true
}

// settle decodes an error answer and ends the request's operation. For a result, the operation ends when the result is
// decoded.
func (h *Handshake) settle(a *answer) {
	a.op.Received(a.msg.Size())
	if a.msg.Kind != jsonrpc.Error {
		return
	}
	var err error
	if a.err, err = DecodeError(&a.msg); err != nil {
		h.c.Refused(&a.msg, err)
		a.err = &mcp.Error{Code: mcp.CodeInternalError, Message: err.Error()}
	}
	a.err = brief(a.err)
	result := (&Fault{Kind: KindJSONRPC, Op: a.method, Server: a.err}).Result()
	result.Expected = h.mayFail(a.method) && a.err.Code != mcp.CodeHeaderMismatch &&
		a.err.Code != mcp.CodeMissingClientCapability
	result.Told = true
	a.op.End(result)
}

// mayFail reports whether a failure of this method is expected, because it is the probe's method and there is a
// fallback.
func (h *Handshake) mayFail(method string) bool { return method == mcp.MethodDiscover && h.fallsBack }

// decode decodes the result of a handshake request into to, and ends the operation of the request.
func (h *Handshake) decode(a *answer, to any) error {
	err := checkIntroduction(a.msg.Middle())
	if err == nil {
		err = DecodeResult(&a.msg, to)
	}
	if err == nil {
		if r, ok := to.(*mcp.InitializeResult); ok && slices.Contains(h.c.Settings.Legacy, r.ProtocolVersion) {
			a.op.Meet(h.c.peerAt(h.link, r.ProtocolVersion))
		}
		h.c.DropIcons(a.method, to)
		a.op.End(instrument.Result{ResultType: ResultTypeOf(to)})
		return nil
	}
	return h.unusable(a, err)
}

// unusable counts an invalid result as a violation, and returns the error for the handshake.
func (h *Handshake) unusable(a *answer, err error) error {
	v := h.c.Refused(&a.msg, err)
	result := (&Fault{Kind: KindProtocol, Op: a.method, Cause: v}).Result()
	result.Told = true
	a.op.End(result)
	err = fmt.Errorf("the answer to %s is invalid: %w", a.method, v)
	h.c.note(h.link, err)
	return err
}

// keepDiscovered keeps a usable answer to the probe, in case initialize fails.
func (h *Handshake) keepDiscovered(a answer) {
	if a.err == nil && a.failed == nil && len(h.c.Settings.Modern) > 0 {
		h.held, _ = h.discovered(&a)
	}
}

// abandon ends the operations of requests that still wait for an answer at the end of the handshake.
func (h *Handshake) abandon(err error) {
	f, _ := errors.AsType[*failure](err)
	for i := range h.waiting {
		x := &h.waiting[i]
		// The failure of the probe is expected if the client now has a session, or if the next attempt sends initialize
		// instead of a probe.
		dealtWith := err == nil || f != nil && f.event == machine.ProbeLost
		x.op.End(instrument.Result{
			ErrorType: handshakeErrorType(err), Err: err, Expected: dealtWith && h.mayFail(x.method), Told: true,
		})
	}
	h.waiting = nil
}

// handshakeErrorType returns the attribute error.type of a handshake request without an answer: the connection was
// lost, another answer came first, or the time ran out.
func handshakeErrorType(err error) string {
	if failure, ok := errors.AsType[*usercode.Failure](err); ok {
		return failure.ErrorType()
	}
	if f, ok := errors.AsType[*failure](err); ok && (f.event == machine.TransportDown || f.event == machine.ProbeLost) {
		return names.ErrorConnectionLost
	}
	return names.ErrorTimeout
}

// encodeRequest encodes a request. params is a struct of package mcp.
func encodeRequest(id int64, method string, params any, meta jsonrpc.Meta) ([]byte, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	return jsonrpc.AppendRequest(nil, jsonrpc.IntID(id), method, meta, raw)
}
