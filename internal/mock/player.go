package mock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/within"
	"github.com/mcpotel/mcpotel/mcp"
)

// player replays a session to a host.
type player struct {
	m      *mock
	host   relay.Peer
	s      *session
	repeat bool
	ctx    context.Context // ends when the host disconnects
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // goroutines of reactions

	mu   sync.Mutex
	used map[*reaction]bool            // guarded by mu; reactions that were replayed
	live map[*recording.Reaction]*call // guarded by mu; running reactions to requests of the host
}

func newPlayer(m *mock, host relay.Peer, s *session, repeat bool) *player {
	p := &player{
		m: m, host: host, s: s, repeat: repeat, used: map[*reaction]bool{}, live: map[*recording.Reaction]*call{},
	}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	return p
}

// next returns the first unused reaction to an equal message.
func (p *player) next(m relay.Message) (*reaction, *refusal) {
	equal := p.s.equal(m, p.m.wild)
	if len(equal) == 0 {
		return nil, p.s.unknown(m, p.m.wild)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range equal {
		if !p.used[t] {
			p.used[t] = true
			return t, nil
		}
	}
	switch {
	case m.Method == mcp.MethodGetTask:
		return equal[len(equal)-1], nil // the number of polls varies
	case !p.repeat:
		return nil, refuse(mcp.CodeInvalidParams, true, "the recording contains this %s only %d times",
			m.Method, len(equal))
	}
	for _, t := range equal[1:] {
		delete(p.used, t)
	}
	return equal[0], nil
}

// call is a running reaction.
type call struct {
	*reaction
	p      *player
	ctx    context.Context // context of the host's message
	id     json.RawMessage // id of the host's request, as the host wrote it
	token  json.RawMessage // progress token; nil for none
	answer relay.Answer
	over   bool                   // the request is answered, or the message is a notification
	wanted mcp.SubscriptionFilter // filter of a subscription
	asks   map[int]*ask           // requests to the host, by recorded number
}

// ask is a request to the host.
type ask struct {
	cancel   context.CancelCauseFunc
	answered chan struct{} // closed when the host has answered
}

// begin registers a running reaction.
func (p *player) begin(ctx context.Context, t *reaction, m relay.Message, answer relay.Answer) *call {
	meta, _ := mcp.Object(m.Params).Lookup("_meta")
	token, _ := mcp.Object(meta).Lookup("progressToken")
	c := &call{
		reaction: t, p: p, ctx: ctx, id: bytes.Clone(m.ID), token: bytes.Clone(token), answer: answer, asks: map[int]*ask{},
		over: t.Kind == recording.Notification,
	}
	if m.Method == mcp.MethodSubscriptionsListen {
		c.wanted = filterOf(m.Params)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live[t.Reaction] = c
	return c
}

// play replays the reaction to a message of the host. It runs in the caller's goroutine until the first step that has
// to wait.
func (p *player) play(ctx context.Context, t *reaction, m relay.Message, answer relay.Answer) {
	c := p.begin(ctx, t, m, answer)
	before := t.At()
	for i, s := range t.Steps {
		if p.m.o.Speed > 0 || s.From == recording.HostSide {
			p.tasks.Go(func() { c.rest(i, before) })
			return
		}
		c.do(s)
	}
	if !c.over {
		p.tasks.Go(func() { c.rest(len(t.Steps), before) }) // the recording has no answer: wait until the host gives up
		return
	}
	c.finish()
}

// rest replays the steps from i on, each at its time.
func (c *call) rest(i int, before time.Duration) {
	for _, s := range c.Steps[i:] {
		if !c.wait(s, before) {
			break
		}
		before = s.At()
		c.do(s)
	}
	if !c.over {
		<-c.life().Done()
	}
	c.finish()
}

// life returns the context that bounds the reaction.
func (c *call) life() context.Context {
	if c.over {
		return c.p.ctx
	}
	return c.ctx
}

// finish ends the reaction, and answers the request if it has no answer yet.
func (c *call) finish() {
	if !c.over {
		c.over = true
		c.answer(nil, context.Cause(c.ctx))
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.p.live[c.Reaction] == c {
		delete(c.p.live, c.Reaction)
	}
}

// wait waits until a step is due. It returns false if the host no longer waits for the answer.
func (c *call) wait(s recording.Step, before time.Duration) bool {
	life := c.life()
	if s.From == recording.HostSide {
		a := c.asks[s.Request]
		if a == nil {
			<-life.Done() // the host has cancelled its request
			return false
		}
		select {
		case <-a.answered:
			return true
		case <-life.Done():
			return false
		}
	}
	if c.p.m.o.Speed <= 0 {
		return life.Err() == nil
	}
	elapsed := time.NewTimer(time.Duration(float64(s.At()-before) / c.p.m.o.Speed))
	defer elapsed.Stop()
	select {
	case <-elapsed.C:
		return true
	case <-life.Done():
		return false
	}
}

// do replays a step of the server.
func (c *call) do(s recording.Step) {
	switch {
	case s.From == recording.HostSide: // wait has waited for it
	case s.Kind == recording.Notification:
		if ctx, params, ok := c.addressed(s); ok {
			_ = c.p.host.Notify(ctx, relay.Message{Method: s.Method, Params: params}) // fails only if the host has disconnected
		}
	case s.Kind == recording.Request:
		c.ask(s)
	case s.Kind == recording.Cancelled:
		if a := c.asks[s.Request]; a != nil {
			var why struct{ Reason string }
			_, _ = mcp.Decode(s.Content, &why) // the reason is optional
			a.cancel(errors.New(why.Reason))
		}
	case s.Request == c.Request:
		c.conclude(s)
	}
}

// conclude answers the request of the host.
func (c *call) conclude(s recording.Step) {
	c.over = true
	if s.Kind == recording.Result {
		c.answer(recording.Replace(s.Content, c.id, "_meta", mcp.MetaSubscriptionID), nil)
		return
	}
	e := &mcp.Error{Code: s.Code}
	_, _ = mcp.Object(s.Content).Decode("message", &e.Message) // ignores invalid members
	c.answer(nil, &relay.Error{Object: s.Content, Server: e})
}

// addressed returns the context and the params of a message to the host, with the host's own progress token or
// subscription id. ok is false if the host has no such subscription.
func (c *call) addressed(s recording.Step) (ctx context.Context, params json.RawMessage, ok bool) {
	by := c
	if s.By != nil {
		c.p.mu.Lock()
		by = c.p.subscriber(s)
		c.p.mu.Unlock()
		if by == nil {
			return nil, nil, false
		}
	}
	params = s.Content
	if by.Token != nil && by.token != nil {
		params = recording.Replace(params, by.token, "progressToken")
	}
	if by.Method == mcp.MethodSubscriptionsListen {
		params = recording.Replace(params, by.id, "_meta", mcp.MetaSubscriptionID)
	}
	if by == c && c.over {
		return within.Values(c.p.ctx, c.ctx), params, true
	}
	return by.ctx, params, true
}

// ask sends the host a recorded request, and compares the answer with the recorded one.
func (c *call) ask(s recording.Step) {
	ctx, params, ok := c.addressed(s)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	a := &ask{cancel, make(chan struct{})}
	c.asks[s.Request] = a
	recorded := c.answerTo(s)
	c.p.host.Request(ctx, relay.Message{Method: s.Method, Params: params}, func(result json.RawMessage, err error) {
		if recorded != nil {
			c.p.m.compareAnswer(recorded, result, err)
		}
		close(a.answered)
		cancel(nil)
	})
}

// answerTo returns the host's recorded answer, or nil.
func (c *call) answerTo(asked recording.Step) *recording.Entry {
	for _, s := range c.Steps {
		if s.From == recording.HostSide && s.Request == asked.Request && s.Answers() {
			return s.Entry
		}
	}
	return nil
}
