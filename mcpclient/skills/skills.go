// Package skills reads the skills of a server: the Skills extension of MCP (SEP-2640), together with package mcp/skill.
//
//	for s, err := range skills.List(ctx, client) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(s.Name(), s.Description())
//	}
//
// The package fetches nothing in advance: [List] and [Get] fetch entries, [Load] fetches the text of one skill before
// its use, and [Loaded.Read] fetches one of its files. Load and Read verify all content against the entry, and return
// no content that does not match it.
//
// The text of a skill is untrusted input for a model. A host should show the origin of a skill, ask the user before the
// first use of a skill and after every change of its entry, and execute nothing without asking. The name of a skill is
// not an identity: a host should use its own name for the server together with the URI as the key.
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

// List yields the entries of the skills that the server lists. A server may have more skills; [Get] finds these. The
// errors come from [mcpclient.Client.Call]. If the server has not declared the extension, the error wraps
// [mcpclient.ErrUnsupported]. List does not validate the entries; [Load] rejects invalid entries.
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

// Get returns the entry of one skill, listed or not, by the URI of its SKILL.md. Use Get also to fetch a newer entry
// after an error that wraps [skill.ErrUnverified]. The returned entry is valid.
func Get(ctx context.Context, c *mcpclient.Client, uri string, options ...mcpclient.CallOption) (*skill.Skill, error) {
	if err := require(c, skill.MethodGet, declared); err != nil {
		return nil, err
	}
	var r skill.GetResult
	if err := c.Call(ctx, skill.MethodGet, &skill.URIParams{URI: uri}, &r, options...); err != nil {
		return nil, err
	}
	if r.Skill == nil || r.Skill.URI != uri {
		return nil, fmt.Errorf("%s %s: the server returned the entry of another skill", skill.MethodGet, uri)
	}
	if err := r.Skill.Validate(); err != nil {
		return nil, err
	}
	return r.Skill, nil
}

// ReadDirectory yields the direct contents of a directory, such as skill://acme/refunds/examples: files, and
// directories with the MIME type [skill.DirectoryType]. If the server does not support this, the error wraps
// [mcpclient.ErrUnsupported].
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

// Loaded is a skill with a loaded SKILL.md. As long as the skill's text is in a model's context, read the skill's files
// through Loaded. Loaded verifies them against the entry from which the skill was loaded, and not against a newer
// entry. It is safe for concurrent use.
type Loaded struct {
	Entry *skill.Skill
	Text  string // SKILL.md without its frontmatter

	client *mcpclient.Client
}

// Load reads the SKILL.md of a skill. It verifies the frontmatter, field by field, and the digest and size, unless the
// skill's files are generated on demand. If the entry is invalid, Load returns an error. If the content does not match
// the entry, the error wraps [skill.ErrUnverified]. The caller must not modify the entry after that.
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

// Read returns the content of a file that the skill's text refers to by its path, such as references/FORMS.md. If the
// entry does not list the file, or the content does not match the entry, the error wraps [skill.ErrUnverified]. Read
// sends no request for an unlisted file. If the skill's files are generated on demand, Read cannot verify anything and
// reads every file.
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
		return nil, fmt.Errorf("%s: %w: the entry does not list this file", uri, skill.ErrUnverified)
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

// read reads a file without the cache, because the cached content may be older than the entry.
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
	return nil, fmt.Errorf("%s %s: the answer has no content with this URI", mcp.MethodReadResource, uri)
}

func declared(settings mcp.Object) bool { return settings != nil }

func readsDirectories(settings mcp.Object) (yes bool) {
	_, err := settings.Decode("directoryRead", &yes)
	return err == nil && yes
}

// require returns an error if the server is ready and has not declared the feature. If the server is not ready, its
// answer to the call decides.
func require(c *mcpclient.Client, method string, have func(settings mcp.Object) bool) error {
	if c.State() == connstate.Ready && !have(c.ServerCapabilities().Extensions[skill.Extension]) {
		return fmt.Errorf("%s: %w: the extension %s", method, mcpclient.ErrUnsupported, skill.Extension)
	}
	return nil
}
