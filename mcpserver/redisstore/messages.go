package redisstore

import (
	"context"
	"iter"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/redis/go-redis/v9"
)

// publishScript appends a message. The position of a message is its id in the stream: microseconds of the clock of
// Redis. Each message contains the position of the preceding message, so that a receiver notices when Redis has lost
// messages.
var publishScript = writeScript(above + `
if ARGV[2] ~= '0' and redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local last = tonumber(redis.call('HGET', KEYS[3], 'n') or '0')
local n = string.format('%.0f', above(last))
if last == 0 then redis.call('DEL', KEYS[2]) end
redis.call('HSET', KEYS[3], 'n', n)
redis.call('XADD', KEYS[2], n .. '-0', 'd', ARGV[1], 'p', string.format('%.0f', last))
local bytes = redis.call('HINCRBY', KEYS[3], 'b', #ARGV[1])
local count = redis.call('XLEN', KEYS[2])
while count > 1 and (count > tonumber(ARGV[3]) or bytes > tonumber(ARGV[4])) do
	local oldest = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
	redis.call('XDEL', KEYS[2], oldest[1])
	bytes = redis.call('HINCRBY', KEYS[3], 'b', -#oldest[2][2])
	count = count - 1
end
if ARGV[2] ~= '0' and last == 0 then
	redis.call('PEXPIRE', KEYS[2], ARGV[2])
	redis.call('PEXPIRE', KEYS[3], ARGV[2])
end
redis.call('PUBLISH', KEYS[2], '')
return 1`)

func (s sessions) Publish(ctx context.Context, process string, message []byte) error {
	keep := int64(0)
	if process != "" {
		keep = millis(undelivered) // applies until the process first calls Beat
	}
	keys := []string{s.key(kindProcess, process), s.key(kindMessages, process), s.key(kindPositions, process)}
	n, err := s.write(ctx, publishScript, process, keys, message, keep, s.cfg.MaxMessages, s.cfg.MaxMessageBytes).Int()
	if err == nil && n == 0 {
		return store.ErrNoProcess
	}
	return failed("publish a message", err)
}

// receiveScript returns some messages after a position. For messages to one process, it first drops the messages up to
// that position.
var receiveScript = redis.NewScript(`
local behind = tonumber(ARGV[1])
if tonumber(redis.call('HGET', KEYS[2], 'n') or '0') < behind then behind = 0 end
if ARGV[2] == '1' then
	for _, e in ipairs(redis.call('XRANGE', KEYS[1], '-', string.format('%.0f', behind))) do
		redis.call('XDEL', KEYS[1], e[1])
		redis.call('HINCRBY', KEYS[2], 'b', -#e[2][2])
	end
end
local found, bytes = {}, 0
local at = string.format('(%.0f-0', behind)
while #found < 192 and bytes < 1048576 do
	local e = redis.call('XRANGE', KEYS[1], at, '+', 'COUNT', 1)[1]
	if not e then break end
	found[#found + 1] = e[1]
	found[#found + 1] = e[2][2]
	found[#found + 1] = e[2][4]
	bytes = bytes + #e[2][2]
	at = '(' .. e[1]
end
return found`)

func (s sessions) Receive(ctx context.Context, process string, behind int64) iter.Seq2[store.Message, error] {
	return func(yield func(store.Message, error) bool) {
		own := process != ""
		messages := s.key(kindMessages, process)
		l, err := s.notifier.listen(ctx, messages)
		if err != nil {
			yield(store.Message{}, err)
			return
		}
		defer l.leave()
		for ctx.Err() == nil {
			changed := l.next()
			found, err := s.run(ctx, receiveScript, []string{messages, s.key(kindPositions, process)}, behind, own).StringSlice()
			if err != nil {
				if ctx.Err() == nil {
					yield(store.Message{}, failed("receive messages", err))
				}
				return
			}
			for i := 0; i+2 < len(found); i += 3 {
				position, _, _ := strings.Cut(found[i], "-")
				behind, _ = strconv.ParseInt(position, 10, 64) // no error: publishScript wrote the number
				previous, _ := strconv.ParseInt(found[i+2], 10, 64)
				if !yield(store.Message{Position: behind, Previous: previous, Data: []byte(found[i+1])}, nil) {
					return
				}
			}
			if len(found) == 0 {
				wait(ctx, changed)
			}
		}
	}
}
