package conn

import (
	"math"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Settings are the options of the core, with all defaults filled in. The options of package mcpclient describe them. A
// core does not modify its Settings, so several cores may share them.
type Settings struct {
	Modern, Legacy []mcp.Version // newest first
	ClientInfo     mcp.Implementation
	Capabilities   mcp.ClientCapabilities

	RequestTimeout, InitTimeout, StartTimeout, AuthTimeout, CloseTimeout, BackoffMin, BackoffMax, KeepAlive time.Duration

	InitialAttempts       int
	FrameLimit, SendQueue int // in bytes
	SkipOversize          bool
	OnTransition          func(connstate.Transition)
	Introduction          Introduction // nil for the handshakes of the two eras

	Heals       bool // after the first session, the client reconnects without delay, and no failed attempt ends the client
	AnyRequests bool // a server may send requests in any revision

	machine machine.Policy // derived from the other fields; see Complete
}

// Complete validates the settings and derives further values. After that, the settings must not change.
func (s *Settings) Complete() error {
	if s.Introduction == nil {
		s.Introduction = eras{}
	}
	s.machine = s.Policy()
	return s.machine.Validate()
}

// Policy returns the policy of the state machine.
func (s *Settings) Policy() machine.Policy {
	p := machine.Defaults()
	p.InitTimeout, p.StartTimeout = s.InitTimeout, s.StartTimeout
	p.AuthTimeout, p.CloseTimeout = s.AuthTimeout, s.CloseTimeout
	p.BackoffMin, p.BackoffMax = s.BackoffMin, s.BackoffMax
	p.InitialAttempts = max(0, s.InitialAttempts)
	p.AtOnce = s.Heals
	return p
}

// Declarable returns an error if the client's capabilities or identity cannot be encoded.
func (s *Settings) Declarable() error {
	_, err := ModernEra{}.requestMeta(s, s.Newest())
	return err
}

// Inflight returns the configuration of the in-flight table. The lifetime of a tombstone is longer than any possible
// delay of an answer: the default timeout of calls plus the time for a reconnection.
func (s *Settings) Inflight() inflight.Config {
	const margin = 5 * time.Second
	t := inflight.Defaults()
	t.TTL = margin
	for _, d := range []time.Duration{max(0, s.RequestTimeout), s.InitTimeout, s.BackoffMax} {
		t.TTL += min(d, math.MaxInt64-t.TTL) // the timeout may be infinite
	}
	return t
}

// Newest returns the newest version that the client supports.
func (s *Settings) Newest() mcp.Version {
	if len(s.Modern) > 0 {
		return s.Modern[0]
	}
	return s.Legacy[0]
}
