package machine

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Policy holds the parameters of a machine. It must be valid; see [Policy.Validate].
type Policy struct {
	// InitTimeout bounds the opening of a connection, and separately its negotiation.
	InitTimeout time.Duration

	// StartTimeout replaces InitTimeout in the first attempt until the server process has sent its first output. After
	// that, InitTimeout applies.
	StartTimeout time.Duration

	// AuthTimeout replaces InitTimeout while the handshake waits for an authorization. After that, InitTimeout applies
	// again.
	AuthTimeout time.Duration

	// WaitMax is the longest backoff that a server can request.
	WaitMax time.Duration

	// BackoffMin is the delay before the second attempt to connect. Each further delay is twice as long, up to BackoffMax.
	// The delay returns to BackoffMin when a session answers a call of the user, or has lasted for BackoffMax.
	BackoffMin, BackoffMax time.Duration

	// BackoffJitter, from 0 to 1, is the fraction by which a delay varies at random.
	BackoffJitter float64

	// AtOnce removes the delay before the first attempt to connect after the loss of a session. It applies only if that
	// session has answered a call of the user, has lasted for BackoffMax, or followed neither a failed attempt nor another
	// loss.
	AtOnce bool

	// CloseTimeout bounds the closing of the client.
	CloseTimeout time.Duration

	// InitialAttempts is the number of attempts after which a client that was never ready gives up. Zero means that it
	// never gives up.
	InitialAttempts int
}

// Defaults returns the default policy of a client.
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

// longest is the longest delay that jitter can double without overflow.
const longest = time.Duration(math.MaxInt64 / 2)

// Validate returns all errors in p, joined, or nil. Their texts use the names of the client's options.
func (p Policy) Validate() error {
	return errors.Join(
		positive("Timeouts.Init", p.InitTimeout),
		positive("Timeouts.Start", p.StartTimeout),
		positive("Timeouts.Auth", p.AuthTimeout),
		check(p.WaitMax >= 0, "WaitMax %v is negative", p.WaitMax),
		positive("Backoff.Min", p.BackoffMin),
		positive("Timeouts.Close", p.CloseTimeout),
		check(p.BackoffMax >= p.BackoffMin, "Backoff.Max %v is below Backoff.Min %v", p.BackoffMax, p.BackoffMin),
		check(p.BackoffMax <= longest, "Backoff.Max %v is above %v", p.BackoffMax, longest),
		check(p.BackoffJitter >= 0 && p.BackoffJitter <= 1, "BackoffJitter %v is not between 0 and 1", p.BackoffJitter),
		check(p.InitialAttempts >= 0, "Backoff.Attempts %d is negative", p.InitialAttempts),
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

// spread varies d at random. r is uniform in [0,1).
func (p Policy) spread(d time.Duration, r float64) time.Duration {
	return time.Duration(float64(d) * (1 + (r-0.5)*2*p.BackoffJitter))
}

// wait returns the length of a backoff: the longer one of delay, with jitter, and retryAfter, the delay that the server
// requested. All clients of a server get the same requested delay. Each client adds a random part, so that not all of
// them return at the same time: at most BackoffJitter times the requested delay or BackoffMax, whichever is less.
func (p Policy) wait(delay, retryAfter time.Duration, r float64) time.Duration {
	retryAfter = min(retryAfter, p.WaitMax)
	later := float64(min(retryAfter, p.BackoffMax)) * p.BackoffJitter * r
	return max(p.spread(delay, r), min(retryAfter+time.Duration(later), p.WaitMax))
}

// lasted reports whether a session that was ready for d counts as working, even without an answer.
func (p Policy) lasted(d time.Duration) bool { return d >= p.BackoffMax }

// longer returns the delay that follows d.
func (p Policy) longer(d time.Duration) time.Duration {
	if d > p.BackoffMax-d {
		return p.BackoffMax
	}
	return 2 * d
}
