package machine

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Policy holds the numbers a machine goes by. It must be valid; see [Policy.Validate].
type Policy struct {
	// InitTimeout bounds the opening of a connection, and once more its negotiation.
	InitTimeout time.Duration

	// StartTimeout takes the place of InitTimeout in the first attempt as long as the server is a process that has not
	// said anything yet: it is starting. What follows has InitTimeout.
	StartTimeout time.Duration

	// AuthTimeout takes the place of InitTimeout while the handshake waits for an authorization; what follows has
	// InitTimeout again.
	AuthTimeout time.Duration

	// WaitMax is the longest backoff that a server can ask for.
	WaitMax time.Duration

	// BackoffMin is the delay before the second attempt to connect. Each further one waits twice as long as the one
	// before it, up to BackoffMax. A session brings the delay back to BackoffMin when it answers a call of the user, or
	// has lasted for BackoffMax.
	BackoffMin, BackoffMax time.Duration

	// BackoffJitter is the part of a delay, from 0 to 1, by which chance makes it shorter or longer.
	BackoffJitter float64

	// AtOnce lets the first attempt to connect follow the loss of a session without a delay, unless the session before
	// was lost like that and none has proved itself since.
	AtOnce bool

	// CloseTimeout bounds the time a stop takes.
	CloseTimeout time.Duration

	// InitialAttempts is the number of attempts after which a client that was never ready gives up. Zero means that it
	// never does.
	InitialAttempts int
}

// Defaults returns the policy of a client whose user asked for nothing else.
func Defaults() Policy {
	return Policy{
		InitTimeout:   10 * time.Second,
		StartTimeout:  time.Minute,
		AuthTimeout:   5 * time.Minute,
		WaitMax:       10 * time.Minute,
		BackoffMin:    time.Second,
		BackoffMax:    30 * time.Second,
		BackoffJitter: 0.5,
		CloseTimeout:  100 * time.Millisecond,
	}
}

// longest is the longest delay that can be doubled, by jitter, without overflow.
const longest = time.Duration(math.MaxInt64 / 2)

// Validate returns what is wrong with p, all of it, or nil, in the names of the client's options.
func (p Policy) Validate() error {
	return errors.Join(
		positive("InitTimeout", p.InitTimeout),
		positive("StartTimeout", p.StartTimeout),
		positive("AuthTimeout", p.AuthTimeout),
		check(p.WaitMax >= 0, "WaitMax %v is negative", p.WaitMax),
		positive("BackoffMin", p.BackoffMin),
		positive("CloseTimeout", p.CloseTimeout),
		check(p.BackoffMax >= p.BackoffMin, "BackoffMax %v is below BackoffMin %v", p.BackoffMax, p.BackoffMin),
		check(p.BackoffMax <= longest, "BackoffMax %v is above %v", p.BackoffMax, longest),
		check(p.BackoffJitter >= 0 && p.BackoffJitter <= 1, "BackoffJitter %v is not between 0 and 1", p.BackoffJitter),
		check(p.InitialAttempts >= 0, "InitialAttempts %d is negative", p.InitialAttempts),
	)
}

func positive(name string, d time.Duration) error {
	return check(d > 0, "%s %v is not positive", name, d)
}

func check(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// spread returns d made shorter or longer by chance; r is uniform in [0,1).
func (p Policy) spread(d time.Duration, r float64) time.Duration {
	return time.Duration(float64(d) * (1 + (r-0.5)*2*p.BackoffJitter))
}

// wait returns how long a backoff lasts: as long as its turn and chance say, and as long as the server asks, if that is
// longer. What a server asks it asks all its clients: so that they do not come back at once, each waits longer by
// chance, by up to the jitter of what was asked or of BackoffMax, whichever is less.
func (p Policy) wait(delay, asked time.Duration, r float64) time.Duration {
	asked = min(asked, p.WaitMax)
	later := float64(min(asked, p.BackoffMax)) * p.BackoffJitter * r
	return max(p.spread(delay, r), min(asked+time.Duration(later), p.WaitMax))
}

// lasted reports whether a session that was ready for so long has proved itself without an answer.
func (p Policy) lasted(d time.Duration) bool { return d >= p.BackoffMax }

// longer returns the delay that follows d.
func (p Policy) longer(d time.Duration) time.Duration {
	if d > p.BackoffMax-d {
		return p.BackoffMax
	}
	return 2 * d
}
