// Package skills serves skills: the Skills extension of MCP (SEP-2640), with package mcp/skill. A skill is a directory
// with a file SKILL.md; each of its files becomes a resource.
//
//	server := mcpserver.New(info, &mcpserver.Options{
//		Capabilities: mcp.ServerCapabilities{Extensions: skills.Capability()},
//	})
//	...
//	catalog, err := skills.Serve(server)
//	...
//	root, err := os.OpenRoot("skills/refunds") // links do not lead out of it
//	...
//	err = catalog.Add("acme/billing/refunds", root.FS())
package skills

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/skill"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// pageSize is the maximum number of entries on a page. An entry with 512 files, which is the maximum, takes about 100
// KB.
const pageSize = 50

// maxSkills is the maximum number of skills in a catalog, including skills inside other skills.
const maxSkills = 10_000

// Capability returns the declaration of the extension, for Options.Capabilities of a server.
func Capability() map[string]mcp.Object {
	return map[string]mcp.Object{skill.Extension: mcp.Object(`{"directoryRead":true}`)}
}

// Catalog holds the skills of a server. It is safe for concurrent use.
type Catalog struct {
	server *mcpserver.Server

	changing sync.Mutex // held while adding or removing skills

	mu    sync.RWMutex
	trees map[string]*tree        // guarded by mu; added trees, by path
	dirs  map[string]*directory   // guarded by mu; by URI
	list  []*skill.Skill          // guarded by mu; sorted by URI, immutable
	byURI map[string]*skill.Skill // guarded by mu; by URI
}

// tree is the content that one call of Add adds.
type tree struct {
	skills []*skill.Skill
	dirs   map[string]*directory
	files  []file
}

// directory lists the direct children of one directory.
type directory struct{ children []*mcp.Resource }

type file struct {
	resource *mcp.Resource
	content  []byte
}

// Serve registers handlers for skills/list, skills/get and resources/directory/read. The server must declare
// [Capability].
func Serve(s *mcpserver.Server) (*Catalog, error) {
	c := &Catalog{server: s, trees: map[string]*tree{}}
	c.index()
	return c, errors.Join(
		s.HandleRequest(skill.MethodList, c.answerList),
		s.HandleRequest(skill.MethodGet, c.answerGet),
		s.HandleRequest(skill.MethodReadDirectory, c.answerDirectory),
	)
}

// Add adds the skill in fsys as skill://skillPath/SKILL.md. fsys must have a SKILL.md at its root. The last segment of
// skillPath must be the name in the frontmatter; the other segments are free. Add reads all files at once and keeps
// them in memory: at most 512 files and 16 MiB. To change a skill, remove it and add it again.
//
// A symbolic link in fsys is an error. If other programs can write the directory while Add reads it, use the FS of an
// [os.Root], as in the example above. Do not use [os.DirFS], which would follow a file that becomes a link during Add.
//
// A subdirectory with its own SKILL.md is part of this skill and also a skill of its own, so it must be valid. After
// an error, the catalog is unchanged.
func (c *Catalog) Add(skillPath string, fsys fs.FS) error {
	if err := c.add(skillPath, fsys); err != nil {
		return fmt.Errorf("add skill %s: %w", skillPath, err)
	}
	return nil
}

func (c *Catalog) add(skillPath string, fsys fs.FS) error {
	if !fs.ValidPath(skillPath) || skillPath == "." {
		return errors.New("want a path of names, separated by slashes")
	}
	t, err := read(skillPath, fsys)
	if err != nil {
		return err
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	if err := c.admit(skillPath, t); err != nil {
		return err
	}
	for i, f := range t.files {
		if err := c.server.AddResource(f.resource, f.read); err != nil {
			c.server.RemoveResources(uris(t.files[:i])...)
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trees[skillPath] = t
	c.index()
	return nil
}

// admit returns an error if the tree cannot be added. A skill inside another skill must be added together with it.
func (c *Catalog) admit(skillPath string, t *tree) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for other := range c.trees {
		if other == skillPath || strings.HasPrefix(other, skillPath+"/") || strings.HasPrefix(skillPath, other+"/") {
			return fmt.Errorf("the path overlaps with the skill %s", other)
		}
	}
	if len(c.list)+len(t.skills) > maxSkills {
		return fmt.Errorf("the catalog would have more than %[2]d skills; it has %[1]d", len(c.list), maxSkills)
	}
	return nil
}

// Remove removes the skills that Add added under this path. It returns false if there were none.
func (c *Catalog) Remove(skillPath string) bool {
	c.changing.Lock()
	defer c.changing.Unlock()
	t := c.forget(skillPath)
	if t == nil {
		return false
	}
	c.server.RemoveResources(uris(t.files)...)
	return true
}

func (c *Catalog) forget(skillPath string) *tree {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.trees[skillPath]
	delete(c.trees, skillPath)
	c.index()
	return t
}

// index rebuilds list, dirs and byURI. c.mu is held.
func (c *Catalog) index() {
	c.list, c.dirs, c.byURI = nil, map[string]*directory{}, map[string]*skill.Skill{}
	for _, t := range c.trees {
		c.list = append(c.list, t.skills...)
		maps.Copy(c.dirs, t.dirs)
	}
	slices.SortFunc(c.list, byURI)
	for _, s := range c.list {
		c.byURI[s.URI] = s
	}
}

func byURI(a, b *skill.Skill) int { return cmp.Compare(a.URI, b.URI) }

func uris(files []file) []string {
	all := make([]string, len(files))
	for i, f := range files {
		all[i] = f.resource.URI
	}
	return all
}

// read reads the files of a skill and of the skills inside it.
func read(skillPath string, fsys fs.FS) (*tree, error) {
	t := &tree{dirs: map[string]*directory{}}
	total := int64(0)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return t.addDirectory(skillPath, name)
		case d.Type()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s is a symbolic link, which may point outside of the skill: use the file itself", name)
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is neither a file nor a directory", name)
		case len(t.files) == skill.MaxFiles:
			return fmt.Errorf("it has more than %d files", skill.MaxFiles)
		}
		content, err := readFile(fsys, name, skill.MaxBytes-total)
		if err != nil {
			return err
		}
		total += int64(len(content))
		return t.addFile(skillPath, name, content)
	})
	if err != nil {
		return nil, err
	}
	for _, d := range t.dirs {
		slices.SortFunc(d.children, func(a, b *mcp.Resource) int { return cmp.Compare(a.URI, b.URI) })
	}
	for _, f := range t.files {
		if path.Base(f.resource.URI) == skill.Manifest {
			if err := t.addSkill(f); err != nil {
				return nil, err
			}
		}
	}
	if !slices.ContainsFunc(t.skills, func(s *skill.Skill) bool {
		return s.URI == skill.FileURI(skillPath, skill.Manifest)
	}) {
		return nil, fmt.Errorf("it has no %s", skill.Manifest)
	}
	return t, nil
}

// readFile reads a regular file of at most room bytes.
func readFile(fsys fs.FS, name string, room int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is neither a file nor a directory", name)
	}
	content, err := io.ReadAll(io.LimitReader(f, room+1))
	if err == nil && int64(len(content)) > room {
		err = fmt.Errorf("its files have more than %d bytes", skill.MaxBytes)
	}
	return content, err
}

func (t *tree) addDirectory(skillPath, name string) error {
	uri := directoryURI(skillPath, name)
	t.dirs[uri] = &directory{}
	if name != "." {
		t.list(skillPath, name, &mcp.Resource{URI: uri, Name: path.Base(name), MIMEType: skill.DirectoryType})
	}
	return nil
}

func directoryURI(skillPath, name string) string {
	return strings.TrimSuffix(skill.FileURI(path.Join(skillPath, name), ""), "/")
}

func (t *tree) addFile(skillPath, name string, content []byte) error {
	r := &mcp.Resource{
		URI:      skill.FileURI(skillPath, name),
		Name:     path.Base(name),
		MIMEType: typeOf(name, content),
		Size:     new(int64(len(content))),
	}
	if r.Name == skill.Manifest {
		frontmatter, _, err := skill.ParseManifest(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s := &skill.Skill{Frontmatter: frontmatter}
		r.Name, r.Description = s.Name(), s.Description()
	}
	t.files = append(t.files, file{r, content})
	t.list(skillPath, name, r)
	return nil
}

// list adds r to the children of its directory.
func (t *tree) list(skillPath, name string, r *mcp.Resource) {
	d := t.dirs[directoryURI(skillPath, path.Dir(name))]
	d.children = append(d.children, r)
}

// addSkill adds the skill with the SKILL.md f.
func (t *tree) addSkill(f file) error {
	frontmatter, _, err := skill.ParseManifest(f.content)
	if err != nil {
		return err
	}
	s := &skill.Skill{URI: f.resource.URI, Frontmatter: frontmatter, Resources: skill.Files{}}
	for _, f := range t.files {
		if strings.HasPrefix(f.resource.URI, s.Root()+"/") {
			s.Resources = append(s.Resources, skill.File{
				URI: f.resource.URI, Digest: skill.Digest(f.content), Size: int64(len(f.content)),
			})
		}
	}
	t.skills = append(t.skills, s)
	return s.Validate()
}

// typeOf returns the MIME type of a file. The usual files of skills have the same MIME type on every system.
func typeOf(name string, content []byte) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".md":
		return "text/markdown"
	case ".py":
		return "text/x-python"
	case ".sh":
		return "text/x-shellscript"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".ts":
		return "text/typescript"
	case ".go":
		return "text/x-go"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	if utf8.Valid(content) {
		return "text/plain"
	}
	return "application/octet-stream"
}

// read answers resources/read for the file.
func (f file) read(context.Context, *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	contents := &mcp.ResourceContents{Text: string(f.content)}
	if !utf8.Valid(f.content) {
		contents = mcp.BlobContents(f.content)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
}

func (c *Catalog) answerList(_ context.Context, r *mcpserver.Request) (any, error) {
	var p mcp.PageParams
	if err := r.Decode(&p); err != nil {
		return nil, err
	}
	c.mu.RLock()
	list := c.list
	c.mu.RUnlock()
	some, next, err := page(list, p.Cursor, func(s *skill.Skill) string { return s.URI })
	if err != nil {
		return nil, err
	}
	return &skill.ListResult{CacheHint: hint(r), NextCursor: next, Skills: some}, nil
}

func (c *Catalog) answerGet(_ context.Context, r *mcpserver.Request) (any, error) {
	var p skill.URIParams
	if err := r.Decode(&p); err != nil {
		return nil, err
	}
	c.mu.RLock()
	s := c.byURI[p.URI]
	c.mu.RUnlock()
	if s == nil {
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: "params.uri does not name a skill of this server"}
	}
	return &skill.GetResult{CacheHint: hint(r), Skill: s}, nil
}

func (c *Catalog) answerDirectory(_ context.Context, r *mcpserver.Request) (any, error) {
	var p skill.URIParams
	if err := r.Decode(&p); err != nil {
		return nil, err
	}
	c.mu.RLock()
	d := c.dirs[p.URI]
	c.mu.RUnlock()
	if d == nil {
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: "params.uri does not name a directory of this server"}
	}
	some, next, err := page(d.children, p.Cursor, func(r *mcp.Resource) string { return r.URI })
	if err != nil {
		return nil, err
	}
	return &mcp.ListResourcesResult{CacheHint: hint(r), NextCursor: next, Resources: some}, nil
}

// hint returns a cache hint that forbids caching. Legacy revisions have no cache hints.
func hint(r *mcpserver.Request) mcp.CacheHint {
	if r.Version.Era() == mcp.Legacy {
		return mcp.CacheHint{}
	}
	return mcp.CacheHint{TTLMs: new(int64(0)), CacheScope: mcp.CachePrivate}
}

// page returns the page of a sorted list that begins after the cursor. The cursor contains the last URI of the
// previous page, so it stays valid when entries are added or removed.
func page[T any](all []T, cursor *string, uri func(T) string) (some []T, next *string, err error) {
	begin := 0
	if cursor != nil {
		last, err := base64.RawURLEncoding.DecodeString(*cursor)
		if err != nil || !utf8.Valid(last) || !strings.Contains(string(last), "://") {
			return nil, nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: "params.cursor was not issued by this server"}
		}
		var found bool
		begin, found = slices.BinarySearchFunc(all, string(last), func(e T, last string) int {
			return cmp.Compare(uri(e), last)
		})
		if found {
			begin++
		}
	}
	some = slices.Clone(all[begin:min(begin+pageSize, len(all))])
	if begin+len(some) < len(all) {
		next = new(base64.RawURLEncoding.EncodeToString([]byte(uri(some[len(some)-1]))))
	}
	if some == nil {
		some = []T{}
	}
	return some, next, nil
}
