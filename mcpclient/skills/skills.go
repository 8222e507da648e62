// Package skills reads the skills of a server: the Skills extension of MCP (SEP-2640), with package mcp/skill.
//
//	for s, err := range skills.List(ctx, client) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(s.Name(), s.Description())
//	}
//
// Nothing is fetched ahead of need: [List] and [Get] get entries, [Load] gets the text of one skill when it is to be
// used, and [Loaded.Read] one of its files. All that is read is verified against the entry; what does not fit is not
// returned.
//
// What a skill says is untrusted text for a model. A host shows where it comes from, asks before it acts on a skill for
// the first time and whenever its entry has changed, and executes nothing without asking. Its key for a skill is its
// own name for the server together with the URI: the name of a skill identifies nothing.
package skills

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/skill"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// List yields the entries of the skills that the server lists, which may be fewer than it has: [Get] finds the others.
// The errors are those of [mcpclient.Client.Call]; a server that has not declared the extension is one with
// [mcpclient.ErrUnsupported] in its chain. Entries come as the server has written them; [Load] refuses those that are
// wrong.
func List(ctx context.Context, c *mcpclient.Client, options ...mcpclient.CallOption) iter.Seq2[*skill.Skill, error] {
	return func(yield func(*skill.Skill, error) bool) {
		if err := require(c, skill.MethodList, declared); err != nil {
			yield(nil, err)
			return
		}
		uri := func(s *skill.Skill) string { return s.URI }
		fetch := func(ctx context.Context, cursor *string, options []mcpclient.CallOption) ([]*skill.Skill, *string, error) {
			var r skill.ListResult
			err := c.Call(ctx, skill.MethodList, &mcp.PageParams{Cursor: cursor}, &r, options...)
			if err == nil && slices.Contains(r.Skills, nil) {
				err = errors.New(skill.MethodList + ": an entry is null")
			}
			return r.Skills, r.NextCursor, err
		}
		mcpclient.List(ctx, c, skill.MethodList, uri, fetch, options...)(yield)
	}
}

// Get returns the entry of one skill, by the URI of its SKILL.md, whether it is listed or not; it is also how to get a
// newer entry after an error with [skill.ErrUnverified] in its chain. The entry is valid.
func Get(ctx context.Context, c *mcpclient.Client, uri string, options ...mcpclient.CallOption) (*skill.Skill, error) {
	if err := require(c, skill.MethodGet, declared); err != nil {
		return nil, err
	}
	var r skill.GetResult
	if err := c.Call(ctx, skill.MethodGet, &skill.URIParams{URI: uri}, &r, options...); err != nil {
		return nil, err
	}
	if r.Skill == nil || r.Skill.URI != uri {
		return nil, fmt.Errorf("%s %s: the server answers with the entry of another skill", skill.MethodGet, uri)
	}
	if err := r.Skill.Validate(); err != nil {
		return nil, err
	}
	return r.Skill, nil
}

// ReadDirectory yields what is directly in a directory, such as skill://acme/refunds/examples: files, and directories,
// whose MIME type is [skill.DirectoryType]. A server that cannot do that is an error with [mcpclient.ErrUnsupported] in
// its chain.
func ReadDirectory(ctx context.Context, c *mcpclient.Client, uri string,
	options ...mcpclient.CallOption) iter.Seq2[*mcp.Resource, error] {
	return func(yield func(*mcp.Resource, error) bool) {
		if err := require(c, skill.MethodReadDirectory, readsDirectories); err != nil {
			yield(nil, err)
			return
		}
		name := func(r *mcp.Resource) string { return r.URI }
		fetch := func(ctx context.Context, cursor *string, options []mcpclient.CallOption) ([]*mcp.Resource, *string, error) {
			var r mcp.ListResourcesResult
			err := c.Call(ctx, skill.MethodReadDirectory, &skill.URIParams{URI: uri, Cursor: cursor}, &r, options...)
			return r.Resources, r.NextCursor, err
		}
		mcpclient.List(ctx, c, skill.MethodReadDirectory, name, fetch, options...)(yield)
	}
}

// Loaded is a skill whose SKILL.md has been read. As long as its text is in a model's context, files are read by it:
// against the entry from which it was loaded, and not against a newer one. It may be used from any goroutine.
type Loaded struct {
	Entry *skill.Skill
	Text  string // of SKILL.md behind its frontmatter

	client *mcpclient.Client
}

// Load reads the SKILL.md of a skill and verifies it: its digest and size, unless its files are made on demand, and its
// frontmatter, field by field. An entry that is wrong, and content that does not fit it, are errors; the latter has
// [skill.ErrUnverified] in its chain. The entry is not to be changed afterwards.
func Load(ctx context.Context, c *mcpclient.Client, s *skill.Skill, options ...mcpclient.CallOption) (*Loaded, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	content, err := read(ctx, c, s.URI, options)
	if err != nil {
		return nil, err
	}
	if err := s.VerifyManifest(content); err != nil {
		return nil, err
	}
	_, body, err := skill.ParseManifest(content)
	if err != nil {
		return nil, err
	}
	return &Loaded{Entry: s, Text: string(body), client: c}, nil
}

// Read returns the content of a file that the skill's text names by its path, such as references/FORMS.md. A file that
// the entry does not list, and content that does not fit it, are errors with [skill.ErrUnverified] in their chain;
// nothing is asked of the server for the former. Where files are made on demand, nothing can be verified, and each is
// read.
func (l *Loaded) Read(ctx context.Context, path string, options ...mcpclient.CallOption) ([]byte, error) {
	uri, err := l.Entry.Resolve(path)
	if err != nil {
		return nil, err
	}
	if l.Entry.Resources == nil {
		return read(ctx, l.client, uri, options)
	}
	file, ok := l.Entry.File(uri)
	if !ok {
		return nil, fmt.Errorf("%s: %w: it does not list this file", uri, skill.ErrUnverified)
	}
	content, err := read(ctx, l.client, uri, options)
	if err != nil {
		return nil, err
	}
	if err := file.Verify(content); err != nil {
		return nil, err
	}
	return content, nil
}

// read reads a file. What a cache has may be older than the entry.
func read(ctx context.Context, c *mcpclient.Client, uri string, options []mcpclient.CallOption) ([]byte, error) {
	options = append([]mcpclient.CallOption{mcpclient.WithoutCache()}, options...)
	r, err := c.ReadResource(ctx, uri, options...)
	if err != nil {
		return nil, err
	}
	for _, content := range r.Contents {
		if content.URI == uri {
			return content.Bytes()
		}
	}
	return nil, fmt.Errorf("%s %s: the answer has no content of that URI", mcp.MethodReadResource, uri)
}

func declared(settings mcp.Object) bool { return settings != nil }

func readsDirectories(settings mcp.Object) (yes bool) {
	_, err := settings.Decode("directoryRead", &yes)
	return err == nil && yes
}

// require reports what a server that is ready has not declared. Another says so itself when it is asked.
func require(c *mcpclient.Client, method string, have func(settings mcp.Object) bool) error {
	if c.State() == connstate.Ready && !have(c.ServerCapabilities().Extensions[skill.Extension]) {
		return fmt.Errorf("%s: %w: the extension %s", method, mcpclient.ErrUnsupported, skill.Extension)
	}
	return nil
}
