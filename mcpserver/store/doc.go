// Package store has what a server of package mcpserver keeps, where several processes may find it: legacy sessions over HTTP
// ([Sessions]), what was sent on their streams ([Events], [SharedEvents]), and tasks ([Tasks]). For each there is one in memory, for
// one process. Package redisstore keeps all three in Redis. What a store of your own must do, the tests of package storetest say.
//
// A server calls a store from many goroutines. A store that panics, or ends its goroutine, fails what was asked of it and nothing else.
package store

// InMemory reports whether a store of this package's own has been given: one that answers at once, and does not fail.
func InMemory(s any) bool {
	switch s.(type) {
	case *memorySessions, *memoryEvents, *memoryTasks:
		return true
	}
	return false
}
