package redisstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// bell says when there may be something new under a key, by pub/sub. It rings once too often rather than once too
// little: also when a subscription has begun, or begun anew.
type bell struct {
	client redis.UniversalClient

	turn sync.Mutex // held while subscriptions change: they must do so in order

	mu     sync.Mutex
	rings  map[string]*ring // guarded by mu; by channel
	pubsub *redis.PubSub    // guarded by mu; nil until the first listener
	closed bool             // guarded by mu
	done   chan struct{}    // guarded by mu; closed when nothing is heard any more
}

// ring is what those wait for who listen on one channel.
type ring struct {
	listeners int
	rung      chan struct{} // closed the next time
}

// poll is how often those who listen look for themselves.
const poll = 5 * time.Second

var errClosed = errors.New("redis: the store is closed")

// listener is one who listens.
type listener struct {
	b       *bell
	channel string
	r       *ring
}

// listen begins to listen on a channel.
func (b *bell) listen(ctx context.Context, channel string) (*listener, error) {
	b.turn.Lock()
	defer b.turn.Unlock()
	p, r, err := b.join(ctx, channel)
	if err != nil {
		return nil, err
	}
	if r.listeners == 1 {
		_ = p.Subscribe(ctx, channel) // what fails is done again when there is a connection
	}
	return &listener{b, channel, r}, nil
}

// join notes another listener, and begins to hear if it is the first of all. turn is held.
func (b *bell) join(ctx context.Context, channel string) (*redis.PubSub, *ring, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, errClosed
	}
	if b.pubsub == nil {
		b.pubsub, b.done = b.client.Subscribe(context.WithoutCancel(ctx)), make(chan struct{})
		go b.hear(b.pubsub.ChannelWithSubscriptions(), b.done) // ends when pubsub is closed
	}
	r := b.rings[channel]
	if r == nil {
		r = &ring{rung: make(chan struct{})}
		b.rings[channel] = r
	}
	r.listeners++
	return b.pubsub, r, nil
}

// leave ends listening.
func (l *listener) leave() {
	l.b.turn.Lock()
	defer l.b.turn.Unlock()
	if p := l.b.part(l); p != nil {
		ctx, cancel := context.WithTimeout(context.Background(), poll)
		defer cancel()
		_ = p.Unsubscribe(ctx, l.channel) // if it fails, messages come that no listener waits for
	}
}

// part notes that a listener is gone, and returns what to unsubscribe from if it was the last on its channel.
func (b *bell) part(l *listener) *redis.PubSub {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.r.listeners--; l.r.listeners > 0 || b.closed {
		return nil
	}
	delete(b.rings, l.channel)
	return b.pubsub
}

// next returns a channel that is closed when it rings the next time.
func (l *listener) next() <-chan struct{} {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	return l.r.rung
}

// wait waits until it has rung, or long enough to look again.
func wait(ctx context.Context, rung <-chan struct{}) {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-rung:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// hear rings for what comes.
func (b *bell) hear(from <-chan any, done chan struct{}) {
	defer close(done)
	for m := range from {
		switch m := m.(type) {
		case *redis.Message:
			b.ring(m.Channel)
		case *redis.Subscription:
			b.ring(m.Channel)
		}
	}
}

func (b *bell) ring(channel string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.rings[channel]; r != nil {
		close(r.rung)
		r.rung = make(chan struct{})
	}
}

func (b *bell) close() error {
	b.mu.Lock()
	p, done, again := b.pubsub, b.done, b.closed
	b.closed = true
	b.mu.Unlock()
	if p == nil || again {
		return nil
	}
	err := p.Close()
	<-done
	return failed("close", err)
}
