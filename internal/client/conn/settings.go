package conn

import (
	"math"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// Settings are the options that the core has to know, with every default filled in. Options of package mcpclient
// say what they mean.
// A core does not change them, and many may share them.
type Settings struct {
	Modern, Legacy []mcp.Version // newest first
	ClientInfo     mcp.Implementation
	Capabilities   mcp.ClientCapabilities

	RequestTimeout, InitTimeout, StartTimeout, AuthTimeout, CloseTimeout, BackoffMin, BackoffMax, KeepAlive time.Duration

	InitialAttempts       int
	FrameLimit, SendQueue int // bytes
	SkipOversize          bool
	WaitForRoom           bool
	OnTransition          func(connstate.Transition)
	Introduction          Introduction // nil for that of the eras

	Heals       bool // once there was a session, the client connects anew at once, and no failed attempt ends it
	AnyRequests bool // a server may send requests in each revision

	machine machine.Policy // what follows of them; see complete
}

// Complete checks the settings, which do not change any more then, and notes what follows of them.
func (s *Settings) Complete() error {
	if s.Introduction == nil {
		s.Introduction = eras{}
	}
	s.machine = s.Policy()
	return s.machine.Validate()
}

// Policy returns the state machine's numbers.
func (s *Settings) Policy() machine.Policy {
	p := machine.Defaults()
	p.InitTimeout, p.StartTimeout = s.InitTimeout, s.StartTimeout
	p.AuthTimeout, p.CloseTimeout = s.AuthTimeout, s.CloseTimeout
	p.BackoffMin, p.BackoffMax = s.BackoffMin, s.BackoffMax
	p.InitialAttempts = max(0, s.InitialAttempts)
	p.AtOnce = s.Heals
	return p
}

// Declarable says why the client's capabilities, or what it says of itself, cannot be sent.
func (s *Settings) Declarable() error {
	_, err := ModernEra{}.requestMeta(s, s.Newest())
	return err
}

// Inflight returns the numbers of the in-flight table. A tombstone outlives all that can delay an answer: the timeout
// of its call, as configured for all calls, and a reconnection.
func (s *Settings) Inflight() inflight.Config {
	const margin = 5 * time.Second
	t := inflight.Defaults()
	t.TTL = margin
	for _, d := range []time.Duration{max(0, s.RequestTimeout), s.InitTimeout, s.BackoffMax} {
		t.TTL += min(d, math.MaxInt64-t.TTL) // which may be for ever
	}
	return t
}

// Newest returns the newest version the client may speak.
func (s *Settings) Newest() mcp.Version {
	if len(s.Modern) > 0 {
		return s.Modern[0]
	}
	return s.Legacy[0]
}
