// Package keepalive detects whether a silent peer is still there: it asks the peer for a sign of life, and gives the
// peer up if none arrives. Every message from the peer is a sign of life.
package keepalive

import (
	"sync"
	"sync/atomic"
	"time"
)

// Watch monitors one peer. A nil Watch does nothing. A Watch has no goroutine while it waits.
type Watch struct {
	heard atomic.Uint64 // number of messages received

	mu    sync.Mutex
	timer *time.Timer // guarded by mu; nil once the watch has ended
	next  observation // guarded by mu
}

// Heard records a message from the peer.
func (w *Watch) Heard() {
	if w != nil {
		w.heard.Add(1)
	}
}

// Start returns a Watch that checks the peer periodically. After a silence of one to two intervals, it calls ask, which
// reports whether it could ask the peer for a sign of life. If the peer remains silent for another interval, the Watch
// calls gone and ends. Neither function may block.
func Start(every time.Duration, ask func() bool, gone func()) *Watch {
	w := new(Watch)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(every, func() { w.look(every, ask, gone) })
	return w
}

// Stop ends the watch. A check may still be running.
func (w *Watch) Stop() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

func (w *Watch) look(every time.Duration, ask func() bool, gone func()) {
	switch w.decide() {
	case alive:
		w.lookAgain(every, true)
	case silent:
		w.lookAgain(every, ask())
	case lost:
		gone()
	}
}

// decide returns the verdict of a check, or stopped after Stop.
func (w *Watch) decide() (v verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		return stopped
	}
	w.next, v = w.next.look(w.heard.Load())
	if v == lost {
		w.timer = nil
	}
	return v
}

// lookAgain schedules the next check. asked means that the peer was asked for a sign of life, so that silence until the
// next check is significant.
func (w *Watch) lookAgain(every time.Duration, asked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next.asked = w.next.asked && asked
	if w.timer != nil {
		w.timer.Reset(every)
	}
}

// observation is the state of a peer as of a check. The next check derives a new observation from it; it is an
// immutable value.
type observation struct {
	heard uint64 // messages received as of the latest check
	asked bool   // the peer has been asked for a sign of life since then
}

// verdict is the result of a check.
type verdict uint8

const (
	alive   verdict = iota // continue
	silent                 // ask the peer
	lost                   // give the peer up
	stopped                // Stop was called
)

// look returns the verdict about a peer with this number of messages, and the next observation.
func (o observation) look(heard uint64) (observation, verdict) {
	switch {
	case heard != o.heard:
		return observation{heard: heard}, alive
	case o.asked:
		return o, lost
	}
	return observation{heard: heard, asked: true}, silent
}
