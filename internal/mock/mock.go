package mock

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Options are those of a mock. The zero value of each field means its default.
type Options struct {
	Speed     float64              // what was recorded in a second is sent in a second divided by it; zero means at once
	Repeat    bool                 // what has been asked for as often as it was recorded begins anew
	Problem   func(string)         // hears what differs from the recording; it may be called by any goroutine
	Telemetry *telemetry.Telemetry // nil means none
}

// New returns a server that serves a recording. It is an error if that has no content.
func New(f *recording.File, o *Options) (*mcpserver.Server, error) {
	if !f.Content {
		return nil, errors.New("the recording has no content: record it with --record-content")
	}
	m := &mock{wild: f.Redacted, players: map[relay.Peer]*player{}}
	if o != nil {
		m.o = *o
	}
	for _, reactions := range f.Reactions() {
		if len(reactions) > 0 {
			m.sessions = append(m.sessions, newSession(reactions, f.Redacted))
		}
	}
	if m.sessions == nil {
		return nil, errors.New("the recording has no message of a host")
	}
	if m.o.Telemetry == nil {
		m.o.Telemetry = telemetry.Off()
	}
	return mcpserver.NewRelay(m, &mcpserver.Options{
		Name: cmp.Or(f.Server, "recording"), DrainTimeout: 500 * time.Millisecond, Telemetry: m.o.Telemetry,
	})
}

// mock receives what hosts send.
type mock struct {
	o        Options
	wild     string
	sessions []*session

	mu      sync.Mutex
	players map[relay.Peer]*player // guarded by mu; by host
}

// problem tells of a difference from the recording.
func (m *mock) problem(text string) {
	if m.o.Problem != nil {
		m.o.Problem(text)
	}
}

// ReceiveRequest answers a request as it was answered in the recording.
func (m *mock) ReceiveRequest(ctx context.Context, r relay.Message, from relay.Peer, answer relay.Answer) {
	if r.Method == mcp.MethodPing {
		answer(json.RawMessage("{}"), nil) // how often a host asks is not part of what it does
		return
	}
	p := m.player(from, r)
	t, err := p.take(r)
	if err != nil && r.Method == mcp.MethodSubscriptionsListen && p.s.listens {
		p.listen(ctx, r, answer)
		return
	}
	if err != nil {
		if err.problem {
			m.problem(err.Message)
		}
		answer(nil, &mcp.Error{Code: err.Code, Message: err.Message})
		return
	}
	p.play(ctx, t, r, answer)
}

// ReceiveNotification does what followed an equal notification. One that was not recorded has no answer to differ.
func (m *mock) ReceiveNotification(ctx context.Context, n relay.Message, from relay.Peer) {
	p := m.player(from, n)
	if t, err := p.take(n); err == nil {
		p.play(ctx, t, n, func(json.RawMessage, error) {})
	}
}

// Gone ends what still plays for a host.
func (m *mock) Gone(from relay.Peer) {
	m.mu.Lock()
	p := m.players[from]
	delete(m.players, from)
	m.mu.Unlock()
	if p != nil {
		p.cancel(errors.New("the host has left"))
		p.tasks.Wait()
	}
}

// player returns what plays for a host, which is made with its first message.
func (m *mock) player(from relay.Peer, first relay.Message) *player {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.players[from]
	if p == nil {
		shared := from.(relay.Ender).Shared() // as those of mcpserver are
		p = newPlayer(m, from, m.choose(keyOf(first.Method, first.Params)), m.o.Repeat || shared)
		m.players[from] = p
	}
	return p
}

// choose returns the first session that begins with this message and has not been played, of which each counts anew
// when all have been. If none begins so, it is the first session. mu is held.
func (m *mock) choose(key string) *session {
	for range 2 {
		for _, s := range m.sessions {
			if s.reactions[0].key == key && !s.played {
				s.played = true
				return s
			}
		}
		for _, s := range m.sessions {
			s.played = false
		}
	}
	return m.sessions[0]
}

// refusal is the error for a message that is not in the recording.
type refusal struct {
	mcp.Error
	problem bool // it is worth a word: what a host tries first, to learn what a server is, is not
}

func refuse(code int64, problem bool, format string, args ...any) *refusal {
	return &refusal{mcp.Error{Code: code, Message: fmt.Sprintf(format, args...)}, problem}
}
