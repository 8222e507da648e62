package redisstore

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Kinds of keys, with the Redis type and the fields of each.
const (
	kindSession   = "session"   // a hash: data, revision, used (in ms since 1970, by the clock of Redis)
	kindEvents    = "events"    // a stream: s(tream), q (sequence), d(ata), f(inal)
	kindStreams   = "streams"   // a hash: n (last stream), b(ytes); for each stream l:n (latest event), o:n (note)
	kindProcess   = "process"   // a string; exists while the process is alive
	kindMessages  = "messages"  // a stream: d(ata); the ids are the positions
	kindPositions = "positions" // a hash: n (last position), b(ytes)
	// a hash: data, revision, expires (in ms since 1970, 0 for never), head (data without the large fields)
	kindTask = "task"
	// a sorted set for each principal: creation (in ms since 1970, 16 hexadecimal digits) and id of each task
	kindTaskList = "tasklist"
	kindTaskEnds = "taskends" // a sorted set: the members of kindTaskList, ordered by expiry
	kindWrite    = "write"    // a string for each recent write: the result of its script
)

// key returns the key for the data of a session, a process or a task. The empty id means all processes. All keys come
// from this function, because clients choose some ids. The id is the hash tag of the key, so all keys of one id are in
// one slot of a cluster. An id never adds braces to a key.
func (s *Store) key(kind, id string) string { return s.cfg.Prefix + kind + ":{" + tag(id) + "}" }

// writeKey returns the key for a new write to keys of an id.
func (s *Store) writeKey(id string) string { return s.key(kindWrite, id) + ":" + rand.Text() }

// taskNews returns the channel that announces each revision of a task. It needs no braces, because it is not a key.
func (s *Store) taskNews() string { return s.cfg.Prefix + "tasks" }

// all is the hash tag for keys of all processes. It contains a character that the tags of ids never have.
const all = "*"

// tag returns the hash tag for an id: a short and plain id itself, or the SHA-256 of any other id. The ids of servers
// are short and plain. Tags never collide, because plain ids as long as a hash are hashed too.
func tag(id string) string {
	switch {
	case id == "":
		return all // Redis ignores an empty hash tag
	case len(id) < hex.EncodedLen(sha256.Size) && !strings.ContainsFunc(id, notPlain):
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// notPlain reports whether a character of an id may have a special meaning for Redis or in terminals.
func notPlain(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	return !letter && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

// movesTag reports whether braces in the prefix break the hash tags of keys. The prefix may contain a complete hash
// tag, which all keys then share. (Redis cluster specification, "Hash tags")
func movesTag(prefix string) bool {
	_, behind, opened := strings.Cut(prefix, "{")
	return opened && strings.IndexByte(behind, '}') < 1
}
