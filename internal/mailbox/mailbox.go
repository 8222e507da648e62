// Package mailbox queues messages for one reader that may be slow. The goroutine that produces the messages also serves
// other readers and must not wait.
package mailbox

import "sync"

// Box is a queue of messages, which one goroutine sends in order: see Run. The zero Box is ready to use. It is safe for
// concurrent use.
type Box struct {
	mu      sync.Mutex
	queue   []message     // guarded by mu
	bytes   int           // guarded by mu; size of the queue and of the message that is being sent
	arrived chan struct{} // guarded by mu until it is created; holds a token while the queue may have a message
	closed  bool          // guarded by mu; Run has returned or is sending the last messages
}

// A message counts as the given number of bytes until it has been sent.
type message struct {
	bytes int
	send  func()
}

// overhead is added to the bytes of each message, for the closure that sends it.
const overhead = 256

// Put queues a message of n bytes. It reports false, and queues nothing, if the messages in the box would exceed limit
// bytes; a limit of 0 means no limit. After the end of Run, Put calls send itself.
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
	default: // Run has not yet received the token of an earlier message
	}
	return true
}

// signal returns the channel arrived. The caller holds mu.
func (b *Box) signal() chan struct{} {
	if b.arrived == nil {
		b.arrived = make(chan struct{}, 1)
	}
	return b.arrived
}

// Run sends the messages of the box until done is closed, and then the remaining messages. It sends each message once,
// even if the reader has gone, because send releases the memory and ends the operation of a message. Run must be called
// once.
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

// sendNext sends the first message. If there is no message, it reports false, and closes the box if last is set.
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
