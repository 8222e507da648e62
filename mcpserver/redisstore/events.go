package redisstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/redis/go-redis/v9"
)

// events implements [store.SharedEvents].
type events struct{ *Store }

func (s events) keys(session string) []string {
	return []string{s.key(kindEvents, session), s.key(kindStreams, session)}
}

// above is the first part of scripts that number streams, events or messages. above(last) returns a number above last:
// the clock of Redis in microseconds. The number is also above the numbers of writes that Redis has lost.
const above = `
local function above(last)
	local now = redis.call('TIME')
	return math.max(last + 1, now[1] * 1000000 + now[2])
end
`

// appendScript appends an event. If openScript has assigned the number of the stream and there is no latest event, the
// stream has ended. If openScript has not assigned the number, the caller numbers the stream and its events itself.
var appendScript = writeScript(above + `
local stream, sequence, size = ARGV[1], tonumber(ARGV[2]), #ARGV[3]
local latest = redis.call('HGET', KEYS[2], 'l:' .. stream)
local own = stream == '0' or latest
if not own and tonumber(stream) <= tonumber(redis.call('HGET', KEYS[2], 'n') or '0') then return 0 end
latest = tonumber(latest or '0')
if sequence == 0 then
	sequence = stream == '0' and above(latest) or latest + 1
elseif own and stream ~= '0' and sequence <= latest then
	return 0
end
local fresh = redis.call('EXISTS', KEYS[2]) == 0
local first = redis.call('EXISTS', KEYS[1]) == 0
sequence = string.format('%.0f', sequence)
redis.call('XADD', KEYS[1], '*', 's', stream, 'q', sequence, 'd', ARGV[3], 'f', ARGV[4],
	'p', string.format('%.0f', latest))
if ARGV[4] == '1' and stream ~= '0' then
	redis.call('HDEL', KEYS[2], 'l:' .. stream, 'o:' .. stream)
elseif own then
	redis.call('HSET', KEYS[2], 'l:' .. stream, sequence)
end
local bytes = redis.call('HINCRBY', KEYS[2], 'b', size)
local count = redis.call('XLEN', KEYS[1])
while count > tonumber(ARGV[5]) or bytes > tonumber(ARGV[6]) do
	local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
	redis.call('XDEL', KEYS[1], oldest[1])
	bytes = redis.call('HINCRBY', KEYS[2], 'b', -#oldest[2][6])
	count = count - 1
end
if fresh then redis.call('PEXPIRE', KEYS[2], ARGV[7]) end
if first then
	local left = redis.call('PTTL', KEYS[2])
	if left > 0 then redis.call('PEXPIRE', KEYS[1], left) end
end
redis.call('PUBLISH', KEYS[1], '')
return 1`)

func (s events) Append(ctx context.Context, session string, e store.Event) error {
	n, err := s.write(ctx, appendScript, session, s.keys(session), e.ID.Stream, e.ID.Sequence, e.Data, e.Final,
		s.cfg.MaxEvents, s.cfg.MaxEventBytes, millis(s.cfg.KeepEvents)).Int()
	if err == nil && n == 0 {
		return store.ErrConflict
	}
	return failed("append an event", err)
}

var openScript = writeScript(above + `
local fresh = redis.call('EXISTS', KEYS[2]) == 0
local n = above(tonumber(redis.call('HGET', KEYS[2], 'n') or '0'))
local stream = string.format('%.0f', n)
redis.call('HSET', KEYS[2], 'n', stream, 'l:' .. stream, 0, 'o:' .. stream, ARGV[1])
if fresh then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return n`)

func (s events) Open(ctx context.Context, session string, note []byte) (stream int64, err error) {
	stream, err = s.write(ctx, openScript, session, s.keys(session), note, millis(s.cfg.KeepEvents)).Int64()
	return stream, failed("open a stream", err)
}

func (s events) Note(ctx context.Context, session string, stream int64) (note []byte, err error) {
	note, err = s.client.HGet(ctx, s.key(kindStreams, session), "o:"+strconv.FormatInt(stream, 10)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, store.ErrNoStream
	}
	return note, failed("read the note of a stream", err)
}

func (s events) Latest(ctx context.Context, session string) (sequence int64, err error) {
	sequence, err = s.client.HGet(ctx, s.key(kindStreams, session), "l:0").Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return sequence, failed("read the latest event", err)
}

// readScript reads some events of a stream after a sequence. It returns the new cursor position, whether there may be
// more events, and whether the stream has ended. For each event, it returns the sequence, the data, whether the event
// is final, and the preceding sequence.
var readScript = redis.NewScript(`
local at, bytes, read, more = ARGV[1], 0, 0, 1
local found = {}
while read < 1024 and bytes < 1048576 do
	local e = redis.call('XRANGE', KEYS[1], at, '+', 'COUNT', 1)[1]
	if not e then more = 0 break end
	at, read = '(' .. e[1], read + 1
	if e[2][2] == ARGV[2] and tonumber(e[2][4]) > tonumber(ARGV[3]) then
		found[#found + 1] = e[2][4]
		found[#found + 1] = e[2][6]
		found[#found + 1] = e[2][8]
		found[#found + 1] = e[2][10] or '0'
		bytes = bytes + #e[2][6]
	end
end
local over = 0
if ARGV[2] ~= '0' then over = 1 - redis.call('HEXISTS', KEYS[2], 'l:' .. ARGV[2]) end
return {at, tostring(more), tostring(over), unpack(found)}`)

// cursor is a position in the events of a stream.
type cursor struct {
	at   string // position in the events of the session
	id   store.EventID
	more bool // there may be more events
	over bool // the stream has ended
}

// read reads the next events and advances the cursor.
func (s events) read(ctx context.Context, session string, c *cursor) (found []store.Event, err error) {
	r, err := s.run(ctx, readScript, s.keys(session), c.at, c.id.Stream, c.id.Sequence).StringSlice()
	if err != nil {
		return nil, failed("read events", err)
	}
	if len(r)%4 != 3 {
		return nil, fmt.Errorf("redis: read events: %d values", len(r))
	}
	c.at, c.more, c.over = r[0], r[1] == "1", r[2] == "1"
	for r = r[3:]; len(r) > 0; r = r[4:] {
		previous, malformed := strconv.ParseInt(r[3], 10, 64)
		if c.id.Sequence, err = strconv.ParseInt(r[0], 10, 64); err != nil || malformed != nil {
			return nil, failed("read events", errors.Join(err, malformed))
		}
		found = append(found, store.Event{ID: c.id, Data: []byte(r[1]), Final: r[2] == "1", Previous: previous})
	}
	return found, nil
}

func (s events) Behind(ctx context.Context, session string, id store.EventID) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for c := (cursor{at: "-", id: id, more: true}); c.more; {
			found, err := s.read(ctx, session, &c)
			if err != nil {
				yield(store.Event{}, err)
				return
			}
			for _, e := range found {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func (s events) Follow(ctx context.Context, session string, id store.EventID) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		l, err := s.notifier.listen(ctx, s.key(kindEvents, session))
		if err != nil {
			yield(store.Event{}, err)
			return
		}
		defer l.leave()
		for c := (cursor{at: "-", id: id}); ctx.Err() == nil; {
			changed := l.next()
			found, err := s.read(ctx, session, &c)
			if err != nil {
				if ctx.Err() == nil {
					yield(store.Event{}, err)
				}
				return
			}
			for _, e := range found {
				if !yield(e, nil) {
					return
				}
			}
			switch {
			case c.more:
			case c.over:
				return
			default:
				wait(ctx, changed)
			}
		}
	}
}

// forgetTimeout bounds Forget, which has no context.
const forgetTimeout = 5 * time.Second

func (s events) Forget(session string) {
	ctx, cancel := context.WithTimeout(context.Background(), forgetTimeout)
	defer cancel()
	_ = s.client.Del(ctx, s.keys(session)...).Err() // on failure, the keys expire
}
