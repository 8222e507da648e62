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
	"github.com/mcpotel/mcpotel/internal/relay/downstream"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Options configures a mock. The zero value of each field is its default.
type Options struct {
	Speed     float64              // replay speed as a multiple of the recorded speed; zero means without delays
	Repeat    bool                 // after a request was sent as often as recorded, continue with its first answer
	Problem   func(string)         // called for each difference from the recording, from any goroutine; nil for none
	Telemetry *telemetry.Telemetry // nil means none
}

// New returns a server that serves a recording. It returns an error if the recording has no content.
func New(f *recording.File, o *Options) (*mcpserver.Server, error) {
	if !f.Content {
		return nil, errors.New("the recording has no content; record again with --record-content")
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
		return nil, errors.New("the recording has no message from a host")
	}
	if m.o.Telemetry == nil {
		m.o.Telemetry = telemetry.Off()
	}
	s, err := downstream.New(m, &downstream.Options{
		Name: cmp.Or(f.Server, "recording"), DrainTimeout: 500 * time.Millisecond, Telemetry: m.o.Telemetry,
	})
	if err != nil {
		return nil, err
	}
	return s.(*mcpserver.Server), nil
}

// mock receives the messages of all hosts.
type mock struct {
	o        Options
	wild     string
	sessions []*session

	mu      sync.Mutex
	players map[relay.Peer]*player // guarded by mu; by host
}

// problem reports a difference from the recording.
func (m *mock) problem(text string) {
	if m.o.Problem != nil {
		m.o.Problem(text)
	}
}

// ReceiveRequest gives a request its recorded answer.
func (m *mock) ReceiveRequest(ctx context.Context, r relay.Message, from relay.Peer, answer relay.Answer) {
	if r.Method == mcp.MethodPing {
		answer(json.RawMessage("{}"), nil) // pings are not recorded behaviour
		return
	}
	p := m.player(from, r)
	t, err := p.next(r)
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

// ReceiveNotification replays the reaction to an equal notification. It ignores a notification that is not in the
// recording.
func (m *mock) ReceiveNotification(ctx context.Context, n relay.Message, from relay.Peer) {
	p := m.player(from, n)
	if t, err := p.next(n); err == nil {
		p.play(ctx, t, n, func(json.RawMessage, error) {})
	}
}

// Gone stops the reactions of a host that has disconnected.
func (m *mock) Gone(from relay.Peer) {
	m.mu.Lock()
	p := m.players[from]
	delete(m.players, from)
	m.mu.Unlock()
	if p != nil {
		p.cancel(errors.New("the host has disconnected"))
		p.tasks.Wait()
	}
}

// player returns the player of a host, and creates it with the host's first message.
func (m *mock) player(from relay.Peer, first relay.Message) *player {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.players[from]
	if p == nil {
		shared := from.(relay.Ender).Shared() // all peers of package downstream implement Ender
		p = newPlayer(m, from, m.choose(keyOf(first.Method, first.Params)), m.o.Repeat || shared)
		m.players[from] = p
	}
	return p
}

// choose returns the first unplayed session that starts with this message. When all such sessions have been played,
// choose starts again with the first of them. If no session starts with this message, choose returns the first session.
// The caller holds mu.
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
	problem bool // report it; false for requests with which a host probes a server
}

func refuse(code int64, problem bool, format string, args ...any) *refusal {
	return &refusal{mcp.Error{Code: code, Message: fmt.Sprintf(format, args...)}, problem}
}
