package redisstore

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Kinds of keys.
const (
	kindSession   = "session"   // a hash: data, revision, used (in ms since 1970, by the clock of Redis)
	kindEvents    = "events"    // a stream: s(tream), q (sequence), d(ata), f(inal)
	kindStreams   = "streams"   // a hash: n (last stream), b(ytes), and of each stream l:n (latest event) and o:n (note)
	kindProcess   = "process"   // a string, as long as the process lives
	kindMessages  = "messages"  // a stream: d(ata); the ids are the positions
	kindPositions = "positions" // a hash: n (last position), b(ytes)
	// a hash: data, revision, expires (in ms since 1970, 0 for never), head (data without what may be large)
	kindTask = "task"
	// a sorted set: of a principal, creation (in ms since 1970, 16 hexadecimal digits) and id of each task
	kindTaskList = "tasklist"
	kindTaskEnds = "taskends" // a sorted set: the same, by when they expire
	kindWrite    = "write"    // a string for each write of late: what its script has returned
)

// key returns the key of something of a session, a process or a task; the empty id is that of all. No other function
// makes keys: clients choose some ids. The id is the hash tag of the key, so that all keys of one id are in one slot of
// a cluster, and only what this function writes is in braces.
func (s *Store) key(kind, id string) string { return s.cfg.Prefix + kind + ":{" + tag(id) + "}" }

// writeKey returns the key of a new write to keys of an id.
func (s *Store) writeKey(id string) string { return s.key(kindWrite, id) + ":" + rand.Text() }

// taskNews is the channel on which each revision of a task is told. There are no braces in it: it is no key.
func (s *Store) taskNews() string { return s.cfg.Prefix + "tasks" }

// all is in the keys of what belongs to all. No tag of another id is so: it has a character that is not plain.
const all = "*"

// tag returns what stands for an id in a key: the id itself if it is short and plain, as those are that the server
// makes, and otherwise its SHA-256. Two ids have two tags: a plain one as long as a hash is hashed too.
func tag(id string) string {
	switch {
	case id == "":
		return all // Redis takes an empty tag for none
	case len(id) < hex.EncodedLen(sha256.Size) && !strings.ContainsFunc(id, notPlain):
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// notPlain reports whether a character of an id might mean something to Redis, or to people who look at keys.
func notPlain(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	return !letter && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

// movesTag reports whether keys with such a prefix have another hash tag than their id, and not the same one for all
// either. (Redis cluster specification, "Hash tags")
func movesTag(prefix string) bool {
	_, behind, opened := strings.Cut(prefix, "{")
	return opened && strings.IndexByte(behind, '}') < 1
}
