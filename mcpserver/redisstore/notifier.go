package redisstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// notifier signals by pub/sub that a key may have new data. It also signals after each new subscription, because it
// may have missed earlier messages. A notifier belongs to a [Store], and is safe for concurrent use.
type notifier struct {
	client redis.UniversalClient

	subscribing sync.Mutex // held during changes of subscriptions, which keeps them in order

	mu     sync.Mutex
	topics map[string]*topic // guarded by mu; by channel
	pubsub *redis.PubSub     // guarded by mu; nil until there is a listener
	closed bool              // guarded by mu
	done   chan struct{}     // guarded by mu; closed when receive ends
}

// topic is one channel with all its listeners.
type topic struct {
	listeners int
	changed   broadcast.Signal // guarded by notifier.mu; sent when there may be new data
}

// poll is the interval at which listeners check for new data even without a notification.
const poll = 5 * time.Second

var errClosed = errors.New("redis: the store is closed")

// listener is a subscription of one goroutine to one channel.
type listener struct {
	n       *notifier
	channel string
	t       *topic
}

// listen adds a listener on a channel.
func (n *notifier) listen(ctx context.Context, channel string) (*listener, error) {
	n.subscribing.Lock()
	defer n.subscribing.Unlock()
	p, t, err := n.join(ctx, channel)
	if err != nil {
		return nil, err
	}
	if t.listeners == 1 {
		_ = p.Subscribe(ctx, channel) // on failure, go-redis subscribes when it reconnects
	}
	return &listener{n, channel, t}, nil
}

// join registers a listener, and starts receive for the first listener. subscribing is held.
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

// leave removes the listener.
func (l *listener) leave() {
	l.n.subscribing.Lock()
	defer l.n.subscribing.Unlock()
	if p := l.n.part(l); p != nil {
		ctx, cancel := context.WithTimeout(context.Background(), poll)
		defer cancel()
		_ = p.Unsubscribe(ctx, l.channel) // on failure, the process gets notifications that it ignores
	}
}

// part unregisters a listener. It returns the PubSub to unsubscribe from if this was the last listener on its channel.
func (n *notifier) part(l *listener) *redis.PubSub {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l.t.listeners--; l.t.listeners > 0 || n.closed {
		return nil
	}
	delete(n.topics, l.channel)
	return n.pubsub
}

// next returns a channel that is closed when there may be new data.
func (l *listener) next() <-chan struct{} {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	return l.t.changed.Next()
}

// wait waits until changed is closed, poll has passed, or ctx ends.
func wait(ctx context.Context, changed <-chan struct{}) {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// receive notifies the listeners of each message and each new subscription until pubsub is closed.
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
