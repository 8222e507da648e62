package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/mcpserver"
)

// Tasks returns the part that keeps tasks. It is full when Redis takes no more.
func (s *Store) Tasks() mcpserver.TaskStore { return tasks{s} }

type tasks struct{ *Store }

func (s tasks) Load(ctx context.Context, id string) (*mcpserver.TaskRecord, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	data, err := s.client.HGet(ctx, s.key(kindTask, id), "data").Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, mcpserver.ErrTaskNotFound
	case err != nil:
		return nil, failed("load a task", err)
	}
	r := new(mcpserver.TaskRecord)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, failed("load a task", err)
	}
	if r.Expired(time.Now()) {
		return nil, mcpserver.ErrTaskNotFound
	}
	return r, nil
}

// saveScript keeps a record in the place of the revision before it.
var saveScript = redis.NewScript(`
local revision = tonumber(redis.call('HGET', KEYS[1], 'revision') or '0')
if revision == 0 and ARGV[2] ~= '1' then return -1 end
if revision + 1 ~= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'data', ARGV[1], 'revision', ARGV[2])
if ARGV[3] == '0' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIREAT', KEYS[1], ARGV[3]) end
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 1`)

func (s tasks) Save(ctx context.Context, r *mcpserver.TaskRecord) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return failed("save a task", err)
	}
	var expires int64
	if !r.Expires.IsZero() {
		expires = max(1, r.Expires.UnixMilli())
	}
	news := fmt.Sprintf("%d %s", r.Revision, r.ID)
	n, err := s.run(ctx, saveScript, []string{s.key(kindTask, r.ID)}, data, r.Revision, expires, s.taskNews(), news).Int()
	switch {
	case redis.IsOOMError(err):
		return errors.Join(mcpserver.ErrTaskStoreFull, failed("save a task", err))
	case err != nil:
		return failed("save a task", err)
	case n < 0:
		return mcpserver.ErrTaskNotFound
	case n == 0:
		return mcpserver.ErrTaskConflict
	}
	return nil
}

// Watch has a subscription of its own.
func (s tasks) Watch(ctx context.Context, changed func(id string, revision int64)) (stop func(), err error) {
	p := s.client.Subscribe(ctx, s.taskNews())
	if _, err := p.Receive(ctx); err != nil { // the subscription has begun
		_ = p.Close()
		return nil, failed("watch tasks", err)
	}
	var told sync.WaitGroup
	told.Go(func() { // ends when p is closed
		for m := range p.Channel() {
			if revision, id, ok := strings.Cut(m.Payload, " "); ok {
				if n, err := strconv.ParseInt(revision, 10, 64); err == nil {
					changed(id, n)
				}
			}
		}
	})
	return sync.OnceFunc(func() {
		_ = p.Close()
		told.Wait()
	}), nil
}
