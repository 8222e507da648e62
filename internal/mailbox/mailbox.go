// Package mailbox queues messages for one reader that may be slow, so that the goroutine which produced them, and which
// serves other readers as well, need not wait.
package mailbox

import "sync"

// Box is a queue of messages, which one goroutine sends in their order: see Run. The zero Box is ready for use. It is
// safe for concurrent use.
type Box struct {
	mu      sync.Mutex
	queue   []message     // guarded by mu
	bytes   int           // guarded by mu; of the queue, and of the message that is being sent
	arrived chan struct{} // guarded by mu until it is made; holds a token while the queue may have a message
	closed  bool          // guarded by mu; Run has returned, or is sending the last messages
}

// A message takes so many bytes until it has been sent.
type message struct {
	bytes int
	send  func()
}

// overhead is charged for each message besides its bytes, for the closure that sends it.
const overhead = 256

// Put queues a message of n bytes. It reports false, and queues nothing, if the messages in the box would then take
// more than limit bytes; a limit of 0 means none. After the end of Run, Put calls send itself.
func (b *Box) Put(n, limit int, send func()) bool {
	n += overhead
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		send()
		return true
	}
	defer b.mu.Unlock()
	if limit > 0 && b.bytes+n > limit {
		return false
	}
	b.bytes += n
	b.queue = append(b.queue, message{n, send})
	select {
	case b.signal() <- struct{}{}:
	default: // Run has not yet taken the token of an earlier message
	}
	return true
}

// signal returns the channel arrived. mu is held.
func (b *Box) signal() chan struct{} {
	if b.arrived == nil {
		b.arrived = make(chan struct{}, 1)
	}
	return b.arrived
}

// Run sends the messages of the box until done is closed, and then those that are left: each message is sent once,
// also when the reader has gone, for send releases the memory and ends the operation of a message. It is called once.
func (b *Box) Run(done <-chan struct{}) {
	b.mu.Lock()
	arrived := b.signal()
	b.mu.Unlock()
	for open := true; open; {
		select {
		case <-done:
			open = false
		case <-arrived:
		}
		for b.sendNext(!open) {
		}
	}
}

// sendNext sends the first message. Without one, it reports false, and closes the box if this was the last look.
func (b *Box) sendNext(last bool) bool {
	b.mu.Lock()
	if len(b.queue) == 0 {
		b.queue, b.closed = nil, last
		b.mu.Unlock()
		return false
	}
	m := b.queue[0]
	b.queue[0] = message{}
	b.queue = b.queue[1:]
	b.mu.Unlock()
	m.send()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes -= m.bytes
	return true
}
