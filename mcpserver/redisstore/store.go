package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/redis/go-redis/v9"
)

// Options configure a [Store]. A nil *Options, and the zero value of every field, mean the defaults stated here. All
// processes that share a store should have the same.
type Options struct {
	// Prefix begins all keys and channels. What stands behind it in a key has 99 bytes at most, whatever ids clients send.
	// With a hash tag of its own, such as "{app}:", all keys are in one slot of a cluster; with braces that are none, New
	// panics. Zero means "mcp:".
	Prefix string

	// MaxEvents and MaxEventBytes bound what is kept of the events of one session: the latest, with so many bytes of data
	// together. Zero means 1,000 events and 4 MiB.
	MaxEvents, MaxEventBytes int

	// MaxMessages and MaxMessageBytes bound what is kept of the messages to one process, and of those to all: the latest,
	// with so many bytes together, or the one latest if it is larger. Zero means 4,096 messages and 64 MiB.
	MaxMessages, MaxMessageBytes int

	// KeepEvents is how long events are kept of a session that is in no store of sessions. Others keep theirs as long as
	// the session. Zero means 1 h.
	KeepEvents time.Duration
}

// Store keeps what servers share, in Redis. Make it with [New]; it is safe for concurrent use.
type Store struct {
	client   redis.UniversalClient
	cfg      Options
	notifier notifier
}

// New returns a store in the Redis that c talks to. Nothing is sent yet. The client remains the caller's to close,
// after [Store.Close].
func New(c redis.UniversalClient, o *Options) *Store {
	s := &Store{client: c}
	if o != nil {
		s.cfg = *o
	}
	s.cfg.Prefix = cmp.Or(s.cfg.Prefix, "mcp:")
	if movesTag(s.cfg.Prefix) {
		panic("redisstore: New: the braces of the Prefix are no hash tag")
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

// Close ends what the store does besides. It is to be called after the Shutdown of the handlers that use it.
func (s *Store) Close() error { return s.notifier.close() }

// Sessions returns the part that keeps sessions.
func (s *Store) Sessions() store.Sessions { return sessions{s} }

// Events returns the part that keeps events.
func (s *Store) Events() store.SharedEvents { return events{s} }

// keepWrite is how long Redis remembers that it has carried out a write, in milliseconds: longer than a client of Redis
// repeats one whose reply was lost.
const keepWrite = 30_000

// writeScript returns a script that Redis carries out once for each of its last keys: repeated, it returns the same
// again. body returns 0 or less for a write that it refuses.
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

// write runs a script of writeScript, once, with keys of that id: the client of Redis repeats a command whose reply was
// lost, and the repetition has the same key of the write.
func (s *Store) write(ctx context.Context, script *redis.Script, id string, keys []string, args ...any) *redis.Cmd {
	return s.run(ctx, script, append(keys, s.writeKey(id)), args...)
}

// run runs a script.
func (s *Store) run(ctx context.Context, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	return script.Run(ctx, s.client, keys, args...)
}

// failed says what could not be done.
func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("redis: %s: %w", what, err)
}

// millis returns a duration as Redis has it.
func millis(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return max(1, d.Milliseconds())
}
