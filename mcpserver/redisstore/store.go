package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/redis/go-redis/v9"
)

// Options configure a [Store]. A nil *Options means the defaults, as does the zero value of each field. All processes
// that share a store should have the same options.
type Options struct {
	// Prefix is the prefix of all keys and channels. The rest of a key has at most 99 bytes, regardless of the ids that
	// clients send. If Prefix contains a hash tag, such as "{app}:", all keys are in one slot of a cluster; New panics if
	// Prefix contains braces that are not a hash tag. Empty means "mcp:".
	Prefix string

	// MaxEvents and MaxEventBytes bound the stored events of one session by their number and by the size of their data.
	// The store keeps the latest events. Zero means 1,000 events and 4 MiB.
	MaxEvents, MaxEventBytes int

	// MaxMessages and MaxMessageBytes bound the stored messages to one process, and the messages to all processes. The
	// store keeps the latest messages, and always the last message, even if it is larger. Zero means 4,096 messages and
	// 64 MiB.
	MaxMessages, MaxMessageBytes int

	// KeepEvents is the expiry of a session's events if the session itself is not in the store. Otherwise the events
	// expire with the session. Zero means 1 h.
	KeepEvents time.Duration
}

// Store stores the shared state of servers in Redis. Make it with [New]; it is safe for concurrent use.
type Store struct {
	client   redis.UniversalClient
	cfg      Options
	notifier notifier
}

// New returns a store that uses the client c. New itself sends nothing. The caller closes c after [Store.Close].
func New(c redis.UniversalClient, o *Options) *Store {
	s := &Store{client: c}
	if o != nil {
		s.cfg = *o
	}
	s.cfg.Prefix = cmp.Or(s.cfg.Prefix, "mcp:")
	if movesTag(s.cfg.Prefix) {
		panic("redisstore: New: the braces in Prefix do not form a hash tag")
	}
	s.cfg.MaxEvents = cmp.Or(s.cfg.MaxEvents, 1000)
	s.cfg.MaxEventBytes = cmp.Or(s.cfg.MaxEventBytes, 4<<20)
	s.cfg.MaxMessages = cmp.Or(s.cfg.MaxMessages, 4096)
	s.cfg.MaxMessageBytes = cmp.Or(s.cfg.MaxMessageBytes, 64<<20)
	s.cfg.KeepEvents = cmp.Or(s.cfg.KeepEvents, time.Hour)
	s.notifier.client = c
	s.notifier.topics = map[string]*topic{}
	return s
}

// Close stops the notifications. Call it after the Shutdown of all handlers that use the store.
func (s *Store) Close() error { return s.notifier.close() }

// Sessions returns the store of sessions.
func (s *Store) Sessions() store.Sessions { return sessions{s} }

// Events returns the store of events.
func (s *Store) Events() store.SharedEvents { return events{s} }

// keepWrite is the time for which Redis remembers the result of a write, in milliseconds. It is longer than the time
// during which the Redis client repeats a command after a lost reply.
const keepWrite = 30_000

// writeScript returns a script that Redis runs only once for each value of its last key. If the command is repeated
// with the same key, Redis returns the first result. A body that refuses the write returns 0 or less; a repetition then
// runs body again.
func writeScript(body string) *redis.Script {
	return redis.NewScript(fmt.Sprintf(`
local write = #KEYS
local done = redis.call('GET', KEYS[write])
if done then return tonumber(done) end
local function body()
%s
end
done = body()
if done > 0 then redis.call('SET', KEYS[write], string.format('%%.0f', done), 'PX', %d) end
return done`, body, keepWrite))
}

// write runs a script of writeScript once, with the keys of an id. If a reply is lost, the Redis client repeats the
// command with the same write key, so the script does not write twice.
func (s *Store) write(ctx context.Context, script *redis.Script, id string, keys []string, args ...any) *redis.Cmd {
	return s.run(ctx, script, append(keys, s.writeKey(id)), args...)
}

func (s *Store) run(ctx context.Context, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	return script.Run(ctx, s.client, keys, args...)
}

// failed adds the name of the failed operation to an error. It returns nil for a nil error.
func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("redis: %s: %w", what, err)
}

// millis converts a duration for Redis: whole milliseconds, at least 1 if d is positive, and otherwise 0.
func millis(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return max(1, d.Milliseconds())
}
