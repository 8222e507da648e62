package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// faultyLimit is the frame limit of clients of a faulty server.
const faultyLimit = 2000

// faulty is a server that follows a plan, and the transport to it.
type faulty struct {
	transport.Transport
	plan
	answers sync.WaitGroup // answers that the server will still send

	mu        sync.Mutex
	dials     int             // guarded by mu
	peer      *transport.Peer // the latest connection; guarded by mu
	received  map[int]int     // how often the server got each call; guarded by mu
	ids       map[string]bool // IDs of the received requests; guarded by mu
	cancelled map[string]int  // how often the server got a cancellation, by request; guarded by mu
	busy      map[int]int     // how often the transport will still be busy, by call; guarded by mu
	refused   map[int]int     // how often the server will still be busy, by call; guarded by mu
	gone      map[int]bool    // calls at which the server will forget the session; guarded by mu
	broken    []string        // how the client violated the protocol; guarded by mu
}

func newFaulty(p plan) *faulty {
	f := &faulty{plan: p, received: map[int]int{}, ids: map[string]bool{}, cancelled: map[string]int{},
		busy: map[int]int{}, refused: map[int]int{}, gone: map[int]bool{}}
	for i, c := range p.Calls {
		f.busy[i], f.refused[i], f.gone[i] = c.Busy, c.Refused, c.Gone
	}
	f.Transport = transport.InMemory(f.accept)
	return f
}

// fate returns the fate of the nth connection, counted from 1.
func (f *faulty) fate(n int) fate {
	if n > len(f.Dials) {
		return fares
	}
	return f.Dials[n-1]
}

func (f *faulty) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	f.mu.Lock()
	f.dials++
	n := f.dials
	f.mu.Unlock()
	if f.fate(n) == unopened {
		return nil, errors.New("not opened")
	}
	c, err := f.Transport.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if !f.Streams {
		return newInterruptibleConn(faultyConn{c, f}, &interruptible{}), nil
	}
	return faultyConn{c, f}, nil
}

// faultyConn is a connection that is busy when the plan requires it.
type faultyConn struct {
	transport.Conn
	f *faulty
}

func (c faultyConn) Send(ctx context.Context, m transport.Message) error {
	if m.Method == "custom/call" && c.f.isBusy(m.Data) {
		return transport.ErrBusy
	}
	return c.Conn.Send(ctx, m)
}

func (c faultyConn) Receive(ctx context.Context) (transport.Frame, error) {
	return onStream(c.Conn.Receive(ctx))
}

// understood is the part of a frame that a faulty server reads.
type understood struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Call      int
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
}

func parse(frame []byte) (r understood) {
	if err := json.Unmarshal(frame, &r); err != nil {
		panic(fmt.Sprintf("the client sent %q: %v", frame, err))
	}
	return r
}

func (f *faulty) isBusy(frame []byte) bool {
	i := parse(frame).Params.Call
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy[i]--
	return f.busy[i] >= 0
}

// got returns how often a call has reached the server.
func (f *faulty) got(i int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.received[i]
}

// problems returns the client's violations of the protocol.
func (f *faulty) problems() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, n := range f.cancelled {
		if n > 1 || !f.ids[id] {
			f.broken = append(f.broken, fmt.Sprintf("request %s was cancelled %d times and sent %v", id, n, f.ids[id]))
		}
	}
	return f.broken
}

// accept is the server's end of one connection.
func (f *faulty) accept(ctx context.Context, p *transport.Peer) {
	f.mu.Lock()
	f.peer = p
	fate := f.fate(f.dials)
	f.mu.Unlock()
	for {
		frame, err := p.Receive(ctx)
		if err != nil || fate == dies {
			return
		}
		if fate != silent {
			f.handle(ctx, p, parse(frame))
		}
	}
}

func (f *faulty) handle(ctx context.Context, p *transport.Peer, r understood) {
	result := ""
	switch r.Method {
	case mcp.MethodDiscover:
		result = discovered
	case mcp.MethodInitialize:
		result = fmt.Sprintf(initialized, mcp.Version20251125)
	case "custom/health":
		result = "{}"
	case mcp.NotificationCancelled:
		f.mu.Lock()
		f.cancelled[string(r.Params.RequestID)]++
		f.mu.Unlock()
	case "custom/call":
		f.called(r)
	}
	if result != "" {
		// an error means that the client has hung up
		_ = p.Send(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result))
	}
}

// called sends the planned answers to a call later, over the connection that is open at that time.
func (f *faulty) called(r understood) {
	i := r.Params.Call
	f.mu.Lock()
	f.ids[string(r.ID)] = true
	f.mu.Unlock()
	if refusal := f.refusal(i, r.ID); refusal != "" {
		f.say(refusal)
		return
	}
	f.mu.Lock()
	f.received[i]++
	f.mu.Unlock()
	for _, a := range f.Calls[i].Answers {
		f.answers.Go(func() {
			time.Sleep(a.Delay / 2)
			if r.Params.Meta.Token != nil && len(f.Calls[i].Answers) == 1 {
				for n := range 2 {
					f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,`+
						`"progress":%d}}`, r.Params.Meta.Token, n+1))
				}
			}
			time.Sleep(a.Delay - a.Delay/2)
			f.say(a.Form.frame(i, r.ID, f.Streams))
		})
	}
}

// refusal returns the server's refusal of call i. It is empty if the server accepts the call.
func (f *faulty) refusal(i int, id json.RawMessage) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.Streams:
	case f.refused[i] > 0:
		f.refused[i]--
		return fmt.Sprintf(`fail %s {"Reason":%d,"Status":503,"Unsent":true,"RetryAfter":%d}`, id, transport.ReasonBusy,
			5*time.Millisecond)
	case f.gone[i] && f.Legacy:
		f.gone[i] = false
		return fmt.Sprintf(`fail %s {"Reason":%d,"Status":404,"Unsent":true}`, id, transport.ReasonSessionGone)
	}
	return ""
}

// frame returns an answer of form a to call i.
func (a form) frame(i int, id json.RawMessage, stream bool) string {
	switch {
	case !stream && a == asForeign:
		return asAnother.onShared(i, id)
	case !stream:
		return a.onShared(i, id)
	}
	if a == asLost {
		return fmt.Sprintf(`fail %s {"Reason":%d}`, id, transport.ReasonLost)
	}
	return fmt.Sprintf("own %s %s", id, a.onShared(i, id))
}

func (a form) onShared(i int, id json.RawMessage) string {
	switch a {
	case asForeign:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s1,"result":{"call":%d}}`, id, i)
	case asError:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, id, i)
	case asGarbage:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"call":%d,,}}`, id, i)
	case asOversize:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"call":%d,"x":"%s"}}`, id, i, strings.Repeat("x", faultyLimit))
	case asAnother:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","result":{"call":%d}}`, id, i)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"call":%d}}`, id, i)
}

// say sends a frame to the latest connection if that is open.
func (f *faulty) say(frame string) {
	f.mu.Lock()
	p := f.peer
	f.mu.Unlock()
	if p != nil {
		_ = p.Send(context.Background(), []byte(frame))
	}
}

// trouble causes the trouble with this name.
func (f *faulty) trouble(what string) {
	switch what {
	case "hang up":
		f.mu.Lock()
		p := f.peer
		f.mu.Unlock()
		if p != nil {
			_ = p.Close()
		}
	case "garbage":
		for _, g := range []string{"Listening on stdio", "{", "[]", "null", `{"jsonrpc":"2.0","id":null,"result":{}}`} {
			f.say(g)
		}
	case "oversize":
		f.say(strings.Repeat("x", faultyLimit+1))
	case "notification":
		for range 5 {
			f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
	case "request":
		f.say(`{"jsonrpc":"2.0","id":"from the server","method":"ping"}`)
	case "stranger":
		f.say(`{"jsonrpc":"2.0","id":987654321,"result":{}}`)
	}
}
