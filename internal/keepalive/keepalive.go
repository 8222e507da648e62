// Package keepalive finds out whether a peer that says nothing is still there: it is asked for a sign of life, and
// given up if none comes. Anything that the peer says is one.
package keepalive

import (
	"sync"
	"sync/atomic"
	"time"
)

// Watch looks after one peer. Nil does nothing. A Watch has no goroutine while it waits.
type Watch struct {
	heard atomic.Uint64 // messages

	mu    sync.Mutex
	timer *time.Timer // guarded by mu; nil once the watch is over
	next  observation // guarded by mu
}

// Heard notes a message of the peer.
func (w *Watch) Heard() {
	if w != nil {
		w.heard.Add(1)
	}
}

// Start returns a Watch that looks at the peer now and then. Behind silence for every to twice that, ask is called, and
// reports whether the peer could be asked; if it goes on being silent for as long as every again, gone is called, and
// nothing else behind that. Neither may wait.
func Start(every time.Duration, ask func() bool, gone func()) *Watch {
	w := new(Watch)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(every, func() { w.look(every, ask, gone) })
	return w
}

// Stop ends the looking. A look may be under way.
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

// decide does not say that a peer is there, or is not, once the watch is stopped.
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

// lookAgain looks after the given time. asked says whether silence proves anything then.
func (w *Watch) lookAgain(every time.Duration, asked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next.asked = w.next.asked && asked
	if w.timer != nil {
		w.timer.Reset(every)
	}
}

// observation is what is known about a peer. A look at the peer makes the next one of it; it is a value, and pure.
type observation struct {
	heard uint64 // messages, by the latest look
	asked bool   // for a sign of life, since then
}

// verdict says what to do about a peer.
type verdict uint8

const (
	alive   verdict = iota // go on
	silent                 // ask it
	lost                   // give it up
	stopped                // Stop has been called
)

// look decides about a peer of whom so many messages have been heard by now.
func (o observation) look(heard uint64) (observation, verdict) {
	switch {
	case heard != o.heard:
		return observation{heard: heard}, alive
	case o.asked:
		return o, lost
	}
	return observation{heard: heard, asked: true}, silent
}
