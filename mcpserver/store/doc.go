// Package store has what a server of package mcpserver keeps, where several processes may find it: legacy sessions over
// HTTP ([Sessions]), what was sent on their streams ([Events], [SharedEvents]), and tasks ([Tasks]). For each there is
// one in memory, for one process. Package redisstore keeps all three in Redis. What a store of your own must do, the
// tests of package storetest say.
//
// A server calls a store from many goroutines. A store that panics, or ends its goroutine, fails what was asked of it
// and nothing else.
package store

import "errors"

// Errors of stores, for [errors.Is].
var (
	ErrNoSession = errors.New("there is no such session")
	ErrNoProcess = errors.New("there is no such process")
	ErrNoStream  = errors.New("there is no such stream, or it is over")
	ErrNoTask    = errors.New("there is no such task")
	ErrConflict  = errors.New("another has made this change before") // of a session, a stream or a task
	ErrFull      = errors.New("there is no room for another task")
)
