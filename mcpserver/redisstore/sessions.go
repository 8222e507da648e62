package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/redis/go-redis/v9"
)

// sessions implements [store.Sessions].
type sessions struct{ *Store }

// now is the first part of scripts that need the time.
const now = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`

var createScript = writeScript(now + `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'data', ARGV[1], 'revision', 1, 'used', now)
if ARGV[2] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1`)

func (s sessions) Create(ctx context.Context, id string, record []byte, ttl time.Duration) error {
	n, err := s.write(ctx, createScript, id, []string{s.key(kindSession, id)}, record, millis(ttl)).Int()
	if err == nil && n == 0 {
		return store.ErrConflict
	}
	return failed("create a session", err)
}

// useScript also sets the expiry of the session's events.
var useScript = redis.NewScript(now + `
local revision = redis.call('HGET', KEYS[1], 'revision')
if not revision then return false end
redis.call('HSET', KEYS[1], 'used', now)
for i = 1, 3 do
	if ARGV[1] ~= '0' then redis.call('PEXPIRE', KEYS[i], ARGV[1]) else redis.call('PERSIST', KEYS[i]) end
end
if revision == ARGV[2] then return {tonumber(revision)} end
return {tonumber(revision), redis.call('HGET', KEYS[1], 'data')}`)

func (s sessions) Use(ctx context.Context, id string, known int64, ttl time.Duration) (record []byte, revision int64,
	err error) {
	keys := []string{s.key(kindSession, id), s.key(kindEvents, id), s.key(kindStreams, id)}
	found, err := s.run(ctx, useScript, keys, millis(ttl), known).Slice()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, 0, store.ErrNoSession
	case err != nil:
		return nil, 0, failed("use a session", err)
	}
	revision, _ = found[0].(int64)
	if len(found) > 1 {
		data, _ := found[1].(string)
		record = []byte(data)
	}
	return record, revision, nil
}

var replaceScript = writeScript(`
local revision = redis.call('HGET', KEYS[1], 'revision')
if not revision then return -1 end
if revision ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'data', ARGV[1], 'revision', revision + 1)
return 1`)

func (s sessions) Replace(ctx context.Context, id string, record []byte, revision int64) error {
	n, err := s.write(ctx, replaceScript, id, []string{s.key(kindSession, id)}, record, revision).Int()
	switch {
	case err != nil:
		return failed("replace a session", err)
	case n < 0:
		return store.ErrNoSession
	case n == 0:
		return store.ErrConflict
	}
	return nil
}

var deleteScript = writeScript(now + `
local used = redis.call('HGET', KEYS[1], 'used')
if not used or now - used < tonumber(ARGV[1]) then return 0 end
return redis.call('DEL', KEYS[1])`)

func (s sessions) Delete(ctx context.Context, id string, unused time.Duration) (deleted bool, err error) {
	n, err := s.write(ctx, deleteScript, id, []string{s.key(kindSession, id)}, millis(unused)).Int()
	return n == 1, failed("delete a session", err)
}

// undelivered is the time for which Redis keeps messages to a process after the process counts as dead.
const undelivered = time.Minute

func (s sessions) Beat(ctx context.Context, process string, ttl time.Duration) error {
	alive, messages, positions := s.key(kindProcess, process), s.key(kindMessages, process), s.key(kindPositions, process)
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		if ttl <= 0 {
			p.Del(ctx, alive, messages, positions)
			return nil
		}
		p.Set(ctx, alive, 1, max(ttl, time.Millisecond))
		p.PExpire(ctx, messages, ttl+undelivered)
		p.PExpire(ctx, positions, ttl+undelivered)
		return nil
	})
	return failed("renew the lease of the process", err)
}

func (s sessions) Alive(ctx context.Context, process string) (bool, error) {
	n, err := s.client.Exists(ctx, s.key(kindProcess, process)).Result()
	return n == 1, failed("check the lease of a process", err)
}
