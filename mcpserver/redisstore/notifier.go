package redisstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// notifier says when there may be something new under a key, by pub/sub. It says so once too often rather than once too
// little: also when a subscription has begun, or begun anew. It belongs to a [Store], and its methods may be called
// from any goroutine.
type notifier struct {
	client redis.UniversalClient

	subscribing sync.Mutex // held while subscriptions change: they must do so in order

	mu     sync.Mutex
	topics map[string]*topic // guarded by mu; by channel
	pubsub *redis.PubSub     // guarded by mu; nil until the first listener
	closed bool              // guarded by mu
	done   chan struct{}     // guarded by mu; closed when receive has ended
}

// topic is one channel, for all who listen on it.
type topic struct {
	listeners int
	changed   broadcast.Signal // guarded by notifier.mu; sent when there may be something new
}

// poll is how often listeners look for themselves, whatever they are told.
const poll = 5 * time.Second

var errClosed = errors.New("redis: the store is closed")

// listener is a goroutine that listens on one channel.
type listener struct {
	n       *notifier
	channel string
	t       *topic
}

// listen begins to listen on a channel.
func (n *notifier) listen(ctx context.Context, channel string) (*listener, error) {
	n.subscribing.Lock()
	defer n.subscribing.Unlock()
	p, t, err := n.join(ctx, channel)
	if err != nil {
		return nil, err
	}
	if t.listeners == 1 {
		_ = p.Subscribe(ctx, channel) // what fails is done again when there is a connection
	}
	return &listener{n, channel, t}, nil
}

// join notes another listener, and begins to hear if it is the first of all. subscribing is held.
func (n *notifier) join(ctx context.Context, channel string) (*redis.PubSub, *topic, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, nil, errClosed
	}
	if n.pubsub == nil {
		n.pubsub, n.done = n.client.Subscribe(context.WithoutCancel(ctx)), make(chan struct{})
		go n.receive(n.pubsub.ChannelWithSubscriptions(), n.done) // ends when pubsub is closed
	}
	t := n.topics[channel]
	if t == nil {
		t = &topic{}
		n.topics[channel] = t
	}
	t.listeners++
	return n.pubsub, t, nil
}

// leave ends listening.
func (l *listener) leave() {
	l.n.subscribing.Lock()
	defer l.n.subscribing.Unlock()
	if p := l.n.part(l); p != nil {
		ctx, cancel := context.WithTimeout(context.Background(), poll)
		defer cancel()
		_ = p.Unsubscribe(ctx, l.channel) // if it fails, messages come that no listener waits for
	}
}

// part notes that a listener is gone, and returns what to unsubscribe from if it was the last on its channel.
func (n *notifier) part(l *listener) *redis.PubSub {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l.t.listeners--; l.t.listeners > 0 || n.closed {
		return nil
	}
	delete(n.topics, l.channel)
	return n.pubsub
}

// next returns a channel that is closed when there may be something new.
func (l *listener) next() <-chan struct{} {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	return l.t.changed.Next()
}

// wait waits until changed is closed, or long enough to look again.
func wait(ctx context.Context, changed <-chan struct{}) {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// receive notifies listeners of what comes, until pubsub is closed.
func (n *notifier) receive(from <-chan any, done chan struct{}) {
	defer close(done)
	for m := range from {
		switch m := m.(type) {
		case *redis.Message:
			n.notify(m.Channel)
		case *redis.Subscription:
			n.notify(m.Channel)
		}
	}
}

func (n *notifier) notify(channel string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t := n.topics[channel]; t != nil {
		t.changed.Send()
	}
}

func (n *notifier) close() error {
	n.mu.Lock()
	p, done, again := n.pubsub, n.done, n.closed
	n.closed = true
	n.mu.Unlock()
	if p == nil || again {
		return nil
	}
	err := p.Close()
	<-done
	return failed("close", err)
}
