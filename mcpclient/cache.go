package mcpclient

import (
	"bytes"
	"container/list"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// resultCache keeps results for as long as the server said they are fresh, the latest used first, up to a number of
// bytes. A nil one keeps nothing. (specification 2026-07-28, server/utilities/caching)
//
// What it keeps belongs to one session: a new one may be with another version of the server, or for another user.
type resultCache struct {
	limit int // bytes

	mu           sync.Mutex
	owner        *conn.Session         // guarded by mu; whose results they are
	size         int                   // guarded by mu; bytes of all of them
	changes      [len(changing)]uint32 // guarded by mu; how often the results of each method have become stale
	clears       uint32                // guarded by mu; how often all have
	*keptResults                       // guarded by mu; nil before the first, which few servers let a client keep
}

// keptResults are results.
type keptResults struct {
	results map[string]*list.Element // of *keptResult, by key
	recent  *list.List               // the same, the one used last in front
}

// changing are the methods whose results become stale before their time.
var changing = [...]string{mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources,
	mcp.MethodListResourceTemplates, mcp.MethodReadResource}

// keptResult is one result and the request that it answers.
type keptResult struct {
	key, method string
	uri         string // of the resource, of resources/read
	public      bool   // all users may see it, not only the one who has asked
	raw         []byte // never changed
	since       time.Time
	until       time.Time
}

// fresh reports whether k is fresh by the monotonic clock, which may stand still while the machine sleeps, and by the
// wall clock. A wall clock that was set back proves nothing.
func (k *keptResult) fresh(now time.Time) bool {
	wall := now.Round(0)
	return now.Before(k.until) && wall.Before(k.until.Round(0)) && !wall.Before(k.since.Round(0))
}

// keptOverhead is what keeping a result costs beside its bytes, and roughly so.
const keptOverhead = 256

func (k *keptResult) size() int { return len(k.key) + len(k.uri) + len(k.raw) + keptOverhead }

// about reports whether k is of a resource that has changed with the one at uri: that one, or one it is a part of.
func (k *keptResult) about(uri string) bool {
	return uri == k.uri || strings.HasPrefix(uri, strings.TrimSuffix(k.uri, "/")+"/")
}

func newResultCache(limit int) *resultCache {
	return &resultCache{limit: limit}
}

// find returns the result under key if session s has received it and it is fresh.
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

// version returns a number that is another one after results of method have become stale.
func (rc *resultCache) version(s *conn.Session, method string) uint32 {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.own(s)
	return rc.present(method)
}

// present is version with mu held.
func (rc *resultCache) present(method string) uint32 {
	if i := slices.Index(changing[:], method); i >= 0 {
		return rc.clears + rc.changes[i]
	}
	return rc.clears
}

// change notes that results of method have become stale. mu is held.
func (rc *resultCache) change(method string) {
	if i := slices.Index(changing[:], method); i >= 0 {
		rc.changes[i]++
	}
}

// keep keeps k, which was asked for when the results of its method had this version, unless that has changed since:
// then k may be older than the change, or of another session.
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

// drop forgets the results of these methods, for they are stale.
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

// dropRead forgets what was read at uri, which has changed. Of what is being read now nothing is kept.
func (rc *resultCache) dropRead(uri string) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.change(mcp.MethodReadResource)
	rc.removeIf(func(k *keptResult) bool { return k.method == mcp.MethodReadResource && k.about(uri) })
}

// dropPrivate forgets what is only for the principal that has asked for it, who may be another one from now on. Of what
// is being asked for now nothing is kept.
func (rc *resultCache) dropPrivate() {
	if rc == nil {
		return
	}
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.clears++
	rc.removeIf(func(k *keptResult) bool { return !k.public })
}

// clear forgets everything, for changes may have gone unheard.
func (rc *resultCache) clear() {
	if rc != nil {
		rc.mu.Lock()
		defer rc.mu.Unlock()
		rc.clearAll()
	}
}

// own forgets everything that is not of session s. mu is held.
func (rc *resultCache) own(s *conn.Session) {
	if rc.owner != s {
		rc.owner = s
		rc.clearAll()
	}
}

// clearAll is clear with mu held.
func (rc *resultCache) clearAll() {
	rc.clears++
	rc.removeIf(func(*keptResult) bool { return true })
}

// removeIf forgets the results that stale picks. mu is held.
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

// remove forgets one result. mu is held.
func (rc *resultCache) remove(e *list.Element) {
	k := rc.recent.Remove(e).(*keptResult)
	delete(rc.results, k.key)
	rc.size -= k.size()
}

// changed hears a notification of the server.
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

// listedBy says which lists name what the target of a method is one of. When the server does not know the target, they
// may be stale.
var listedBy = map[string][]string{
	mcp.MethodCallTool:              {mcp.MethodListTools},
	mcp.MethodGetPrompt:             {mcp.MethodListPrompts},
	mcp.MethodReadResource:          {mcp.MethodListResources, mcp.MethodListResourceTemplates},
	mcp.MethodListTools:             {mcp.MethodListTools}, // the cursor is of a list that is no more
	mcp.MethodListPrompts:           {mcp.MethodListPrompts},
	mcp.MethodListResources:         {mcp.MethodListResources},
	mcp.MethodListResourceTemplates: {mcp.MethodListResourceTemplates},
}

// doubt forgets the lists that cannot be right if the server answers a request of method with this error.
// (specification 2026-07-28, server/utilities/caching, "Freshness Calculation" and "Interaction with Pagination")
func (rc *resultCache) doubt(method string, e *mcp.Error) {
	switch e.Code {
	case mcp.CodeInvalidParams, mcp.CodeMethodNotFound, mcp.CodeResourceNotFound:
		rc.drop(listedBy[method]...)
	}
}

// copied returns a copy of the answer to cl if that may be worth keeping, or nil. It is made before the message is
// decoded, which writes on it.
func (rc *resultCache) copied(cl *call, m *jsonrpc.Message) []byte {
	if cl.keeping.key == "" || m.Kind != jsonrpc.Result {
		return nil
	}
	text := m.Middle()
	if rc.kept(cl, text).size() > rc.limit/4 || !mayBeFresh(text) {
		return nil
	}
	return bytes.Clone(text)
}

// mayBeFresh reports whether a result may say that it is fresh for a time: it has a ttlMs above zero somewhere. It
// looks for the rarest letter. To read the members of a list of 1,000 tools instead took an eighth of the CPU time of
// its call. A name with escapes is not found; then the result is asked for again.
func mayBeFresh(text []byte) bool {
	const begin, end = `"ttl`, `Ms"`
	for {
		i := bytes.Index(text, []byte(end))
		if i < 0 {
			return false
		}
		named := bytes.HasSuffix(text[:i], []byte(begin))
		text = text[i+len(end):]
		if !named {
			continue
		}
		value, found := bytes.CutPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte(":"))
		value = bytes.TrimLeft(value, " \t\r\n")
		if found && len(value) > 0 && value[0] >= '1' && value[0] <= '9' {
			return true
		}
	}
}

// kept returns what is to be kept of the answer to cl, of which raw is a copy.
func (rc *resultCache) kept(cl *call, raw []byte) *keptResult {
	return &keptResult{key: cl.keeping.key, method: cl.Method, uri: cl.keeping.uri, raw: raw}
}

// keepWhileFresh keeps the answer to cl, of which raw is a copy, for the time that it says it is fresh. It has been
// decoded, unless it asks for something.
func (rc *resultCache) keepWhileFresh(cl *call, raw []byte) {
	hint := cl.result.(hinted).Hint()
	if hint.TTL() == 0 {
		return
	}
	k := rc.kept(cl, raw)
	k.public, k.since = hint.CacheScope == mcp.CachePublic, time.Now()
	k.until = k.since.Add(hint.TTL())
	rc.keep(cl.keeping.version, k)
}
