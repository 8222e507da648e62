// Package store defines the stores of package mcpserver, which several server processes can share: legacy sessions
// over HTTP ([Sessions]), the events on their streams ([Events], [SharedEvents]), and tasks ([Tasks]). For each of
// them, this package has a memory store for one process, and package redisstore has a store in Redis. Package
// storetest has conformance tests for your own stores.
//
// A server calls a store from many goroutines. If a method of a store panics or ends the calling goroutine, only this
// call fails.
package store

import "errors"

// Errors of stores, for use with [errors.Is].
var (
	ErrNoSession = errors.New("unknown session")
	ErrNoProcess = errors.New("unknown process")
	ErrNoStream  = errors.New("unknown stream, or the stream has ended")
	ErrNoTask    = errors.New("unknown task")
	ErrConflict  = errors.New("a concurrent change came first") // for a session, a stream or a task
	ErrFull      = errors.New("the limit of stored tasks is reached")
)
