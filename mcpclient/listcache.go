package mcpclient

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/atomicfile"
	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/drift"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Limits of the cache of lists.
const (
	maxCachedLists  = 4 << 20  // bytes for the lists of one server
	maxCacheDir     = 64 << 20 // bytes of all files in the directory; the oldest files are removed
	maxCachePages   = 1000     // pages of one list
	listCacheFormat = 1        // version of the files
)

// listTimeout bounds each request for a page that fills the cache.
const listTimeout = 30 * time.Second

// lists holds the lists of a server, by method. Each is a JSON array. Lists of features that the server does not declare
// are missing. Nil means that the lists are unknown.
type lists map[string]json.RawMessage

// listsInCache describes the lists in the cache.
var listsInCache = map[string]struct {
	member   string // member of the result with the items
	declared func(*mcp.ServerCapabilities) bool
}{
	mcp.MethodListTools:     {"tools", func(c *mcp.ServerCapabilities) bool { return c.Tools != nil }},
	mcp.MethodListPrompts:   {"prompts", func(c *mcp.ServerCapabilities) bool { return c.Prompts != nil }},
	mcp.MethodListResources: {"resources", func(c *mcp.ServerCapabilities) bool { return c.Resources != nil }},
	mcp.MethodListResourceTemplates: {"resourceTemplates",
		func(c *mcp.ServerCapabilities) bool { return c.Resources != nil }},
}

// tools returns the fingerprints of the tools.
func (l lists) tools() drift.Tools { return drift.ToolsOf(decodeTools(l[mcp.MethodListTools])) }

// decodeTools decodes tools. It omits items that are no tools, as [Client.Tools] does.
func decodeTools(list json.RawMessage) (all []*mcp.Tool) {
	for _, item := range itemsOf(list) {
		t := new(mcp.Tool)
		if _, err := mcp.Decode(bytes.Clone(item), t); err == nil && t.Name != "" {
			all = append(all, t)
		}
	}
	return all
}

// itemsOf returns the elements of a JSON array.
func itemsOf(list json.RawMessage) (all []json.RawMessage) {
	if len(list) == 0 || list[0] != '[' {
		return nil
	}
	for a := jsonscan.ArrayAt(list, 0); a.Next(); {
		all = append(all, a.Raw())
	}
	return all
}

// differences returns the methods whose lists differ, in alphabetical order. The order of the items does not matter,
// because some servers list their tools in a random order.
func (l lists) differences(other lists) (methods []string) {
	for _, method := range slices.Sorted(maps.Keys(listsInCache)) {
		a, declaredA := l[method]
		b, declaredB := other[method]
		if declaredA != declaredB || !slices.EqualFunc(sorted(a), sorted(b), sameItem) {
			methods = append(methods, method)
		}
	}
	return methods
}

func sameItem(a, b json.RawMessage) bool { return bytes.Equal(a, b) }

func sorted(list json.RawMessage) []json.RawMessage {
	items := itemsOf(list)
	slices.SortFunc(items, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	return items
}

// readLists reads all lists of a ready client.
func readLists(ctx context.Context, c *Client) (lists, error) {
	s := c.core.Present()
	if s == conn.NoSession {
		return nil, ErrNotReady
	}
	if c.drift != nil && s.Capabilities.Tools != nil { // the feature compares the tools, and may refuse some
		for _, err := range c.Tools(ctx, WithTimeout(listTimeout)) {
			if err != nil {
				return nil, err
			}
		}
	}
	all, room := lists{}, maxCachedLists
	for method, list := range listsInCache {
		if !list.declared(&s.Capabilities) {
			continue
		}
		items, err := readList(ctx, c, method, list.member, &room)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		all[method] = items
	}
	return all, nil
}

// readList reads all pages of a list. room is the remaining size for lists, in bytes.
func readList(ctx context.Context, c *Client, method, member string, room *int) (json.RawMessage, error) {
	items := []byte{'['}
	var page mcp.PageParams
	for range maxCachePages {
		var result json.RawMessage
		if err := c.Call(ctx, method, page, &result, WithTimeout(listTimeout)); err != nil {
			return nil, err
		}
		if *room -= len(result); *room < 0 {
			return nil, fmt.Errorf("the lists of the server have more than %d bytes", maxCachedLists)
		}
		raw, _ := mcp.Object(result).Lookup(member)
		for _, item := range itemsOf(raw) {
			if method == mcp.MethodListTools && c.drift != nil && c.drift.refuses(nameOf(item)) {
				continue
			}
			if len(items) > 1 {
				items = append(items, ',')
			}
			items = append(items, item...)
		}
		var next string
		more, err := mcp.Object(result).Decode("nextCursor", &next)
		if err != nil {
			return nil, err
		}
		if !more {
			return append(items, ']'), nil
		}
		page.Cursor = &next
	}
	return nil, fmt.Errorf("the list has more than %d pages", maxCachePages)
}

func nameOf(item json.RawMessage) (name string) {
	_, _ = mcp.Object(item).Decode("name", &name)
	return name
}

// listCache stores the lists of one server: in a file, or in memory if there is no directory or the transport is
// unknown, so that a file could belong to another server.
type listCache struct {
	dir, fingerprint string // empty for a cache in memory

	mu       sync.Mutex
	memory   lists  // guarded by mu; nil if the lists are unknown or in the file
	reported string // guarded by mu; text of the last reported error
}

// cacheFile is the content of a file.
type cacheFile struct {
	Format      int    `json:"format"`
	Fingerprint string `json:"fingerprint"`
	Lists       lists  `json:"lists"`
}

func (c *listCache) path() string { return filepath.Join(c.dir, c.fingerprint+".json") }

// isNew reports whether err differs from the last reported error.
func (c *listCache) isNew(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.reported
	c.reported = err.Error()
	return before != c.reported
}

// load returns the lists, or nil if they are unknown. The error reports a file that cannot be used.
func (c *listCache) load() (lists, error) {
	c.mu.Lock()
	memory := c.memory
	c.mu.Unlock()
	if memory != nil || c.dir == "" {
		return memory, nil
	}
	text, err := readCacheFile(c.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var f cacheFile
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err == nil {
		err = f.check(c.fingerprint)
	}
	if err != nil {
		return nil, fmt.Errorf("the file %s is ignored: %w", c.path(), err)
	}
	return f.Lists, nil
}

// readCacheFile reads a file that this user has written.
func readCacheFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	const room = maxCachedLists + 4<<10
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("other users may write it: its mode is %v", info.Mode().Perm())
	case info.Size() > room:
		return nil, fmt.Errorf("it has %d bytes, and the limit is %d", info.Size(), room)
	}
	return io.ReadAll(io.LimitReader(f, room))
}

// check returns an error unless the file has lists of the server with this fingerprint.
func (f *cacheFile) check(fingerprint string) error {
	switch {
	case f.Format != listCacheFormat:
		return fmt.Errorf("its format is %d, want %d", f.Format, listCacheFormat)
	case f.Fingerprint != fingerprint:
		return errors.New("it belongs to another server")
	case f.Lists == nil:
		return errors.New("it has no lists")
	}
	for method, list := range f.Lists {
		if _, known := listsInCache[method]; !known || len(list) == 0 || list[0] != '[' {
			return fmt.Errorf("its list %.40q is invalid", method)
		}
	}
	return nil
}

// save stores the lists. If the file cannot be written, the lists stay in memory, and save returns the error.
func (c *listCache) save(ctx context.Context, all lists) error {
	var err error
	if c.dir != "" {
		err = c.write(ctx, all)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memory = nil; c.dir == "" || err != nil {
		c.memory = all
	}
	return err
}

func (c *listCache) write(ctx context.Context, all lists) error {
	text, err := json.Marshal(cacheFile{listCacheFormat, c.fingerprint, all})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	if err := atomicfile.Replace(ctx, c.path(), text, 0o600, nil); err != nil {
		return err
	}
	return prune(c.dir, filepath.Base(c.path()))
}

// prune removes the oldest files until the directory has at most maxCacheDir bytes. It keeps the file named keep.
func prune(dir, keep string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	size := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() { // otherwise another process has removed it
			files = append(files, info)
			size += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if ours := strings.HasSuffix(f.Name(), ".json") || strings.HasSuffix(f.Name(), atomicfile.Suffix); size <= maxCacheDir ||
			f.Name() == keep || !ours {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		size -= f.Size()
	}
	return nil
}

// newListCache returns the cache for the lists of a member. Without a directory for caches, it is in memory.
func newListCache(m Member, o *Options, dir string, noDir bool) *listCache {
	c := &listCache{}
	id := fingerprint(m.Transport, o)
	if id == "" || noDir {
		return c
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return c
		}
		dir = filepath.Join(base, "mcpotel", "lists")
	}
	c.dir, c.fingerprint = dir, id
	return c
}

// fingerprint identifies a server and everything that its lists may depend on: how it is started or reached, and what
// the client declares. It is a hash, because the environment and the headers may contain secrets. It is empty for a
// transport that this module does not know, and for a server whose lists may depend on an authorized user.
func fingerprint(t transport.Transport, o *Options) string {
	facts := struct {
		Format            int
		Command, Dir      string
		Args, Env         []string
		URL               string
		Mode              transport.HTTPMode
		Header            map[string][]string
		Versions          []mcp.Version
		Capabilities      mcp.ClientCapabilities
		ClientName        string
		TraceContextInEnv bool
	}{Format: listCacheFormat, Versions: o.Versions, Capabilities: o.Capabilities, ClientName: o.ClientInfo.Name}
	for _, f := range o.Features {
		if declare := f.feature().declare; declare != nil {
			declare(&facts.Capabilities)
		}
	}
	switch t := t.(type) {
	case transport.Stdio:
		facts.Command, facts.Args, facts.Env, facts.TraceContextInEnv = t.Command, t.Args, t.Env, t.TraceContext
		if facts.Env == nil {
			facts.Env = os.Environ()
		}
		facts.Env = effective(facts.Env)
		dir, err := filepath.Abs(cmp.Or(t.Dir, "."))
		if err != nil {
			return ""
		}
		facts.Dir = dir
	case *transport.Stdio:
		return fingerprint(*t, o)
	case *transport.HTTP:
		if t.Authorizer != nil || t.Client != nil {
			return ""
		}
		facts.URL, facts.Mode, facts.Header = t.URL, t.Mode, t.Header
	default:
		return ""
	}
	text, err := json.Marshal(facts)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// effective returns the variables of an environment, sorted. Of several values for one name, the last counts.
func effective(env []string) []string {
	values := map[string]string{}
	for _, one := range env {
		name, value, _ := strings.Cut(one, "=")
		values[name] = value
	}
	all := make([]string, 0, len(values))
	for name, value := range values {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}
