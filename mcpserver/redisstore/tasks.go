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

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"github.com/redis/go-redis/v9"
)

// Tasks returns the store of tasks. Save returns [store.ErrFull] when Redis is out of memory.
func (s *Store) Tasks() store.Tasks { return tasks{s} }

type tasks struct{ *Store }

func (s tasks) Load(ctx context.Context, id string) (*store.Task, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	data, err := s.client.HGet(ctx, s.key(kindTask, id), "data").Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, store.ErrNoTask
	case err != nil:
		return nil, failed("load a task", err)
	}
	r := new(store.Task)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, failed("load a task", err)
	}
	if r.Expired(time.Now()) {
		return nil, store.ErrNoTask
	}
	return r, nil
}

// saveScript replaces the previous revision of a record. It returns 2 if the write changed the expiry.
var saveScript = writeScript(`
local revision = tonumber(redis.call('HGET', KEYS[1], 'revision') or '0')
if revision == 0 and ARGV[2] ~= '1' then return -1 end
if revision + 1 ~= tonumber(ARGV[2]) then return 0 end
local moved = redis.call('HGET', KEYS[1], 'expires') ~= ARGV[3]
redis.call('HSET', KEYS[1], 'data', ARGV[1], 'revision', ARGV[2], 'expires', ARGV[3], 'head', ARGV[6])
if ARGV[3] == '0' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIREAT', KEYS[1], ARGV[3]) end
redis.call('PUBLISH', ARGV[4], ARGV[5])
if moved then return 2 end
return 1`)

func (s tasks) Save(ctx context.Context, r *store.Task) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return failed("save a task", err)
	}
	shown := *r // r without the fields that a list omits
	shown.Requests, shown.Responses, shown.Result, shown.Error = nil, nil, nil, nil
	head, err := json.Marshal(&shown)
	if err != nil {
		return failed("save a task", err)
	}
	var expires int64
	if !r.Expires.IsZero() {
		expires = max(1, r.Expires.UnixMilli())
	}
	if r.Revision == 1 && r.Principal != "" { // list first: a listed task that does not exist is harmless
		if err := s.enlist(ctx, r, expires); err != nil {
			return err
		}
	}
	news := fmt.Sprintf("%d %s", r.Revision, r.ID)
	keys := []string{s.key(kindTask, r.ID)}
	n, err := s.write(ctx, saveScript, r.ID, keys, data, r.Revision, expires, s.taskNews(), news, head).
		Int()
	switch {
	case err != nil:
		return notSaved(err)
	case n < 0:
		return store.ErrNoTask
	case n == 0:
		return store.ErrConflict
	case n == 2 && r.Revision > 1 && r.Principal != "":
		return s.enlist(ctx, r, expires)
	}
	return nil
}

func notSaved(err error) error {
	if redis.IsOOMError(err) {
		return errors.Join(store.ErrFull, failed("save a task", err))
	}
	return failed("save a task", err)
}

// enlistScript adds a task to the list of its principal or updates its expiry, and removes expired tasks from the
// list.
var enlistScript = redis.NewScript(now + `
local gone = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)
for i = 1, #gone, 1000 do
	redis.call('ZREM', KEYS[1], unpack(gone, i, math.min(i + 999, #gone)))
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZADD', KEYS[1], 0, ARGV[1])
redis.call('ZADD', KEYS[2], ARGV[2] == '0' and '+inf' or ARGV[2], ARGV[1])
local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
for i = 1, 2 do
	if last == 'inf' then redis.call('PERSIST', KEYS[i]) else redis.call('PEXPIREAT', KEYS[i], last) end
end
return 1`)

func (s tasks) enlist(ctx context.Context, r *store.Task, expires int64) error {
	keys := []string{s.key(kindTaskList, r.Principal), s.key(kindTaskEnds, r.Principal)}
	if err := s.run(ctx, enlistScript, keys, member(r.Place()), expires).Err(); err != nil {
		return notSaved(err)
	}
	return nil
}

// member returns the member that represents a task in the list of its principal. Redis sorts members byte for byte.
func member(p store.TaskPlace) string { return fmt.Sprintf("%016x%s", p.Created, p.ID) }

func (s tasks) List(ctx context.Context, principal string, behind store.TaskPlace, limit int) ([]*store.Task, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var found []*store.Task
	for from := "(" + member(behind); len(found) < limit; { // repeat, because listed tasks may have expired
		members, err := s.client.ZRangeByLex(ctx, s.key(kindTaskList, principal),
			&redis.ZRangeBy{Min: from, Max: "+", Count: int64(limit - len(found))}).Result()
		if err != nil {
			return nil, failed("list tasks", err)
		}
		if len(members) == 0 {
			break
		}
		from = "(" + members[len(members)-1]
		heads, err := s.heads(ctx, members)
		if err != nil {
			return nil, err
		}
		for _, r := range heads {
			if r.Principal == principal && !r.Expired(time.Now()) {
				found = append(found, r)
			}
		}
	}
	return found, nil
}

// heads returns the heads of the listed tasks that still exist.
func (s tasks) heads(ctx context.Context, members []string) ([]*store.Task, error) {
	asked, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, m := range members {
			p.HGet(ctx, s.key(kindTask, m[len(member(store.TaskPlace{})):]), "head")
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, failed("list tasks", err)
	}
	heads := make([]*store.Task, 0, len(asked))
	for _, a := range asked {
		head, err := a.(*redis.StringCmd).Bytes()
		if errors.Is(err, redis.Nil) {
			continue
		}
		r := new(store.Task)
		if err == nil {
			err = json.Unmarshal(head, r)
		}
		if err != nil {
			return nil, failed("list tasks", err)
		}
		heads = append(heads, r)
	}
	return heads, nil
}

// Watch calls changed for each revision. Each Watch has its own subscription.
func (s tasks) Watch(ctx context.Context, changed func(id string, revision int64)) (stop func(), err error) {
	p := s.client.Subscribe(ctx, s.taskNews())
	if _, err := p.Receive(ctx); err != nil { // waits for the subscription
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
