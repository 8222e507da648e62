package mcpclient

import (
	"container/list"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/mcp"
)

// resultCache caches each result for as long as the server declared it fresh. It holds a limited number of bytes, and
// evicts the least recently used results. A nil cache is empty. (specification 2026-07-28, server/utilities/caching)
//
// The cached results belong to one session, because the next session may be with another version of the server, or for
// another user.
type resultCache struct {
	limit int // bytes

	mu           sync.Mutex
	owner        *conn.Session         // session that received the results; guarded by mu
	size         int                   // bytes of all results; guarded by mu
	changes      [len(changing)]uint32 // for each method of changing: how often its results became stale; guarded by mu
	clears       uint32                // how often all results became stale; guarded by mu
	*keptResults                       // nil before the first result; guarded by mu
}

// keptResults indexes the cached results.
type keptResults struct {
	results map[string]*list.Element // cached *keptResult values by cache key
	recent  *list.List               // the same elements, most recently used first
}

// changing lists the methods whose results can become stale before they expire.
var changing = [...]string{mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources,
	mcp.MethodListResourceTemplates, mcp.MethodReadResource}

// keptResult is one result with its request.
type keptResult struct {
	key, method string
	uri         string // URI of the resource, for resources/read
	public      bool   // cacheScope is public: the result is valid for all users
	result      hinted // a copy that shared made; nobody modifies the items
	frame       int    // bytes of the frame, which the result keeps alive
	memory      int    // bytes of the result besides the frame
	since       time.Time
	until       time.Time
}

// fresh reports whether k has not expired yet. It checks the monotonic clock, which may stop while the machine sleeps,
// and the wall clock. If the wall clock was set back, k counts as expired.
func (k *keptResult) fresh(now time.Time) bool {
	wall := now.Round(0)
	return now.Before(k.until) && wall.Before(k.until.Round(0)) && !wall.Before(k.since.Round(0))
}

// keptOverhead is the approximate memory of a cached result in addition to its strings, its frame and its items.
const keptOverhead = 256

func (k *keptResult) size() int { return len(k.key) + len(k.uri) + k.frame + k.memory + keptOverhead }

// about reports whether a change of the resource at uri affects k: k contains that resource, or a resource below it.
func (k *keptResult) about(uri string) bool {
	return uri == k.uri || strings.HasPrefix(uri, strings.TrimSuffix(k.uri, "/")+"/")
}

func newResultCache(limit int) *resultCache {
	return &resultCache{limit: limit}
}

// find returns the result under key if it is fresh and session s received it. Otherwise find returns nil.
func (rc *resultCache) find(s *conn.Session, key string, now time.Time) *keptResult {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.own(s)
	if rc.keptResults == nil {
		return nil
	}
	e, ok := rc.results[key]
	if !ok {
		return nil
	}
	k := e.Value.(*keptResult)
	if !k.fresh(now) {
		rc.remove(e)
		return nil
	}
	rc.recent.MoveToFront(e)
	return k
}

// version returns a number that changes whenever results of method become stale.
func (rc *resultCache) version(s *conn.Session, method string) uint32 {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.own(s)
	return rc.present(method)
}

// present is like version, but the caller holds mu.
func (rc *resultCache) present(method string) uint32 {
	if i := slices.Index(changing[:], method); i >= 0 {
		return rc.clears + rc.changes[i]
	}
	return rc.clears
}

// change records that results of method became stale. The caller holds mu.
func (rc *resultCache) change(method string) {
	if i := slices.Index(changing[:], method); i >= 0 {
		rc.changes[i]++
	}
}

// keep caches k unless results became stale since the request for k. version is the version of the cache at the time of
// the request. If it has changed, k may be older than the change or belong to another session, and keep drops k.
func (rc *resultCache) keep(version uint32, k *keptResult) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if rc.present(k.method) != version {
		return
	}
	if rc.keptResults == nil {
		rc.keptResults = &keptResults{map[string]*list.Element{}, list.New()}
	}
	if old, ok := rc.results[k.key]; ok {
		rc.remove(old)
	}
	rc.results[k.key] = rc.recent.PushFront(k)
	for rc.size += k.size(); rc.size > rc.limit; {
		rc.remove(rc.recent.Back())
	}
}

// drop removes the results of these methods because they are stale.
func (rc *resultCache) drop(methods ...string) {
	if rc == nil {
		return
	}
	rc.mu.Lock()
	defer rc.mu.Unlock()
	for _, m := range methods {
		rc.change(m)
	}
	rc.removeIf(func(k *keptResult) bool { return slices.Contains(methods, k.method) })
}

// dropRead removes the results that a change of the resource at uri affects. It also prevents the caching of reads that
// are in flight.
func (rc *resultCache) dropRead(uri string) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.change(mcp.MethodReadResource)
	rc.removeIf(func(k *keptResult) bool { return k.method == mcp.MethodReadResource && k.about(uri) })
}

// dropPrivate removes the results that are valid only for the previous user. It also prevents the caching of requests
// that are in flight.
func (rc *resultCache) dropPrivate() {
	if rc == nil {
		return
	}
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.clears++
	rc.removeIf(func(k *keptResult) bool { return !k.public })
}

// clear removes all results, because the client may have missed changes.
func (rc *resultCache) clear() {
	if rc != nil {
		rc.mu.Lock()
		defer rc.mu.Unlock()
		rc.clearAll()
	}
}

// own makes s the owner of the cache, and removes all results if another session owned it. The caller holds mu.
func (rc *resultCache) own(s *conn.Session) {
	if rc.owner != s {
		rc.owner = s
		rc.clearAll()
	}
}

// clearAll is like clear, but the caller holds mu.
func (rc *resultCache) clearAll() {
	rc.clears++
	rc.removeIf(func(*keptResult) bool { return true })
}

// removeIf removes the results for which stale returns true. The caller holds mu.
func (rc *resultCache) removeIf(stale func(*keptResult) bool) {
	if rc.keptResults == nil {
		return
	}
	for e := rc.recent.Front(); e != nil; {
		next := e.Next()
		if stale(e.Value.(*keptResult)) {
			rc.remove(e)
		}
		e = next
	}
}

// remove removes one result. The caller holds mu.
func (rc *resultCache) remove(e *list.Element) {
	k := rc.recent.Remove(e).(*keptResult)
	delete(rc.results, k.key)
	rc.size -= k.size()
}

// changed removes the results that a notification of the server makes stale.
func (rc *resultCache) changed(method, uri string) {
	if rc == nil {
		return
	}
	switch method {
	case mcp.NotificationToolListChanged:
		rc.drop(mcp.MethodListTools)
	case mcp.NotificationPromptListChanged:
		rc.drop(mcp.MethodListPrompts)
	case mcp.NotificationResourceListChanged:
		rc.drop(mcp.MethodListResources, mcp.MethodListResourceTemplates)
	case mcp.NotificationResourceUpdated:
		rc.dropRead(uri)
	}
}

// listedBy maps a method to the list methods that name its targets: tools/call to tools/list. If the server does not
// know a target, these lists may be stale.
var listedBy = map[string][]string{
	mcp.MethodCallTool:              {mcp.MethodListTools},
	mcp.MethodGetPrompt:             {mcp.MethodListPrompts},
	mcp.MethodReadResource:          {mcp.MethodListResources, mcp.MethodListResourceTemplates},
	mcp.MethodListTools:             {mcp.MethodListTools}, // an unknown cursor means that the list has changed
	mcp.MethodListPrompts:           {mcp.MethodListPrompts},
	mcp.MethodListResources:         {mcp.MethodListResources},
	mcp.MethodListResourceTemplates: {mcp.MethodListResourceTemplates},
}

// doubt removes cached lists that the server's error e puts in doubt. If e can mean that the server does not know the
// target of a request with this method, the lists of such targets may be stale.
// (specification 2026-07-28, server/utilities/caching, "Freshness Calculation" and "Interaction with Pagination")
func (rc *resultCache) doubt(method string, e *mcp.Error) {
	switch e.Code {
	case mcp.CodeInvalidParams, mcp.CodeMethodNotFound, mcp.CodeResourceNotFound:
		rc.drop(listedBy[method]...)
	}
}

// keep caches the result of cl for the time that the result declares. If the answer contains no result, for example
// because it requests input, cl.result is empty and declares no time.
func (cl *call) keep() {
	if cl.keeping.key == "" {
		return
	}
	result := cl.result.(hinted)
	hint := result.Hint()
	if hint.TTL() == 0 {
		return
	}
	k := &keptResult{key: cl.keeping.key, method: cl.Method, uri: cl.keeping.uri, frame: cl.keeping.frame}
	if k.memory = memoryOf(result); k.size() > cl.c.cache.limit/4 {
		return
	}
	k.result = shared(result)
	k.public, k.since = hint.CacheScope == mcp.CachePublic, time.Now()
	k.until = k.since.Add(hint.TTL())
	cl.c.cache.keep(cl.keeping.version, k)
}

// shared returns a copy of a result with a list of its own. The copy and the original share the items of the list.
func shared(result hinted) hinted {
	switch r := result.(type) {
	case *mcp.ListToolsResult:
		r = new(*r)
		r.Tools = slices.Clone(r.Tools)
		return r
	case *mcp.ListPromptsResult:
		r = new(*r)
		r.Prompts = slices.Clone(r.Prompts)
		return r
	case *mcp.ListResourcesResult:
		r = new(*r)
		r.Resources = slices.Clone(r.Resources)
		return r
	case *mcp.ListResourceTemplatesResult:
		r = new(*r)
		r.ResourceTemplates = slices.Clone(r.ResourceTemplates)
		return r
	case *mcp.ReadResourceResult:
		r = new(*r)
		r.Contents = slices.Clone(r.Contents)
		return r
	}
	panic(fmt.Sprintf("mcpclient: a result of type %T cannot be cached", result))
}

// memoryOf returns the approximate memory of a result in bytes, without its frame.
func memoryOf(result hinted) (n int) {
	const each, small = 512, 64 // bytes of an item of the list, and of an entry in an item, such as an argument
	switch r := result.(type) {
	case *mcp.ListToolsResult:
		for _, t := range r.Tools {
			n += each + memoryOfIcons(t.Icons)
		}
	case *mcp.ListPromptsResult:
		for _, p := range r.Prompts {
			n += each + memoryOfIcons(p.Icons) + small*len(p.Arguments)
		}
	case *mcp.ListResourcesResult:
		for _, res := range r.Resources {
			n += each + memoryOfIcons(res.Icons) + memoryOfAudience(res.Annotations)
		}
	case *mcp.ListResourceTemplatesResult:
		for _, t := range r.ResourceTemplates {
			n += each + memoryOfIcons(t.Icons) + memoryOfAudience(t.Annotations)
		}
	case *mcp.ReadResourceResult:
		n = each * len(r.Contents)
	}
	return n
}

func memoryOfIcons(icons []mcp.Icon) (n int) {
	for _, icon := range icons {
		n += int(unsafe.Sizeof(icon)) + len(icon.Sizes)*int(unsafe.Sizeof(""))
	}
	return n
}

func memoryOfAudience(a *mcp.Annotations) int {
	if a == nil {
		return 0
	}
	return len(a.Audience) * int(unsafe.Sizeof(""))
}
