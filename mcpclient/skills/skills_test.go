package skills_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/skill"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/skills"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	served "github.com/mcpotel/mcpotel/mcpserver/skills"
)

const manifest = "---\nname: refunds\ndescription: Process refunds\n---\nSee [mails](examples/email.md).\n"

func files() fstest.MapFS {
	return fstest.MapFS{
		"SKILL.md":          {Data: []byte(manifest)},
		"examples/email.md": {Data: []byte("Dear customer,")},
		"examples/a.bin":    {Data: []byte{0xff, 0}},
	}
}

func connect(t testing.TB, s *mcpserver.Server, versions ...mcp.Version) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.Connect(t.Context(),
		transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) }),
		&mcpclient.Options{Versions: versions, Telemetry: telemetry.Off()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func newServer() *mcpserver.Server {
	return mcpserver.New(mcp.Implementation{Name: "shop", Version: "1"}, &mcpserver.Options{
		Capabilities: mcp.ServerCapabilities{Extensions: served.Capability()}, Telemetry: telemetry.Off(),
	})
}

func TestASkillIsReadInEachRevision(t *testing.T) {
	for _, version := range []mcp.Version{mcp.Version20260728, mcp.Version20251125} {
		s := newServer()
		catalog, err := served.Serve(s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 120 { // more than two pages
			name := fmt.Sprintf("skill-%03d", i)
			text := strings.Replace(manifest, "refunds", name, 1)
			if err := catalog.Add("many/"+name, fstest.MapFS{"SKILL.md": {Data: []byte(text)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := catalog.Add("acme/billing/refunds", files()); err != nil {
			t.Fatal(err)
		}
		c := connect(t, s, version)
		var names []string
		for entry, err := range skills.List(t.Context(), c) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, entry.Name())
		}
		if len(names) != 121 || names[0] != "refunds" || names[120] != "skill-119" {
			t.Errorf("%s: got %d skills: %v", version, len(names), names)
		}
		entry, err := skills.Get(t.Context(), c, "skill://acme/billing/refunds/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := skills.Load(t.Context(), c, entry)
		if err != nil {
			t.Fatal(err)
		}
		if want := "See [mails](examples/email.md).\n"; loaded.Text != want {
			t.Errorf("got %q, want %q", loaded.Text, want)
		}
		for path, want := range map[string]string{"examples/email.md": "Dear customer,", "examples/a.bin": "\xff\x00"} {
			if got, err := loaded.Read(t.Context(), path); err != nil || string(got) != want {
				t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
			}
		}
		var children []string
		for r, err := range skills.ReadDirectory(t.Context(), c, entry.Root()) {
			if err != nil {
				t.Fatal(err)
			}
			children = append(children, r.Name+" "+r.MIMEType)
		}
		if want := []string{"refunds text/markdown", "examples inode/directory"}; !slices.Equal(children, want) {
			t.Errorf("got %v, want %v", children, want)
		}
	}
}

func TestAnUnknownSkillIsAnError(t *testing.T) {
	s := newServer()
	if _, err := served.Serve(s); err != nil {
		t.Fatal(err)
	}
	c := connect(t, s)
	for name, do := range map[string]func() error{
		"get":       func() error { _, err := skills.Get(t.Context(), c, "skill://none/SKILL.md"); return err },
		"directory": func() error { return last(skills.ReadDirectory(t.Context(), c, "skill://none")) },
	} {
		var e *mcp.Error
		if err := do(); !errors.As(err, &e) || e.Code != mcp.CodeInvalidParams {
			t.Errorf("%s: got %v, want code %d", name, err, mcp.CodeInvalidParams)
		}
	}
	for entry, err := range skills.List(t.Context(), c) {
		t.Errorf("got %v, %v, want no skill", entry, err)
	}

	c = connect(t, mcpserver.New(mcp.Implementation{Name: "plain", Version: "1"},
		&mcpserver.Options{Telemetry: telemetry.Off()}))
	_, err := skills.Get(t.Context(), c, "skill://a/SKILL.md")
	for name, err := range map[string]error{
		"list":      last(skills.List(t.Context(), c)),
		"get":       err,
		"directory": last(skills.ReadDirectory(t.Context(), c, "skill://a")),
	} {
		if !errors.Is(err, mcpclient.ErrUnsupported) {
			t.Errorf("%s: got %v, want %v", name, err, mcpclient.ErrUnsupported)
		}
	}
}

func last[T any](list func(func(T, error) bool)) (err error) {
	for _, err = range list {
	}
	return err
}

// shop is a server whose entries and contents each test defines.
type shop struct {
	entries any
	content map[string]string // by URI

	mu   sync.Mutex
	read []string // guarded by mu
}

func (s *shop) connect(t *testing.T) *mcpclient.Client {
	t.Helper()
	server := newServer()
	err := errors.Join(
		server.HandleRequest(skill.MethodList, func(context.Context, *mcpserver.Request) (any, error) {
			return map[string]any{"skills": s.entries, "ttlMs": 0, "cacheScope": "private"}, nil
		}),
		server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "skill://{+rest}", Name: "any"},
			func(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.read = append(s.read, r.URI)
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: s.content[r.URI]}}}, nil
			}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, server)
}

const (
	uri      = "skill://refunds/SKILL.md"
	mail     = "skill://refunds/examples/email.md"
	mailText = "Dear customer,"
)

func honest(t *testing.T) *skill.Skill {
	t.Helper()
	frontmatter, _, err := skill.ParseManifest([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return &skill.Skill{URI: uri, Frontmatter: frontmatter, Resources: skill.Files{
		{URI: uri, Digest: skill.Digest([]byte(manifest)), Size: int64(len(manifest))},
		{URI: mail, Digest: skill.Digest([]byte(mailText)), Size: int64(len(mailText))},
	}}
}

func TestSkillContentIsReadOnDemand(t *testing.T) {
	s := &shop{entries: []any{honest(t)}, content: map[string]string{uri: manifest, mail: mailText}}
	c := s.connect(t)
	for entry, err := range skills.List(t.Context(), c) {
		if err != nil {
			t.Fatal(err)
		}
		if len(s.read) != 0 {
			t.Errorf("List read %v, want nothing", s.read)
		}
		if _, err := skills.Load(t.Context(), c, entry); err != nil {
			t.Fatal(err)
		}
		if want := []string{uri}; !slices.Equal(s.read, want) {
			t.Errorf("Load read %v, want %v", s.read, want)
		}
	}
}

func TestContentNotMatchingEntryIsRejected(t *testing.T) {
	for name, content := range map[string]string{
		"other bytes":       strings.Replace(manifest, "See", "Ask", 1),
		"more bytes":        manifest + "\n",
		"other frontmatter": strings.Replace(manifest, "Process", "Grant", 1),
		"nothing":           "",
	} {
		s := &shop{content: map[string]string{uri: content}}
		if loaded, err := skills.Load(t.Context(), s.connect(t), honest(t)); loaded != nil ||
			!errors.Is(err, skill.ErrUnverified) {
			t.Errorf("%s: got %v, %v, want %v", name, loaded, err, skill.ErrUnverified)
		}
	}
	s := &shop{content: map[string]string{uri: manifest, mail: "Dear cheater,?"}}
	loaded, err := skills.Load(t.Context(), s.connect(t), honest(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"examples/email.md", "examples/other.md"} {
		if got, err := loaded.Read(t.Context(), path); got != nil || !errors.Is(err, skill.ErrUnverified) {
			t.Errorf("%s: got %q, %v, want %v", path, got, err, skill.ErrUnverified)
		}
	}
	if want := []string{uri, mail}; !slices.Equal(s.read, want) {
		t.Errorf("the server read %v, want %v", s.read, want)
	}
	if _, err := loaded.Read(t.Context(), "../../etc/passwd"); err == nil {
		t.Error("a path outside of the directory was read")
	}
}

func TestFilesGeneratedOnDemandAreRead(t *testing.T) {
	s := &shop{content: map[string]string{uri: manifest, mail: mailText}}
	entry := honest(t)
	entry.Resources = nil
	loaded, err := skills.Load(t.Context(), s.connect(t), entry)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := loaded.Read(t.Context(), "examples/email.md"); err != nil || string(got) != mailText {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestInvalidEntriesAreErrors(t *testing.T) {
	s := &shop{entries: []any{nil}}
	if err := last(skills.List(t.Context(), s.connect(t))); err == nil {
		t.Error("a null entry is not an error")
	}
	for _, entries := range []string{`{}`, `[{"uri":1}]`, `[{"uri":"u","frontmatter":{},"resources":"static"}]`} {
		s := &shop{entries: json.RawMessage(entries)}
		var e *mcpclient.Error
		if err := last(skills.List(t.Context(), s.connect(t))); !errors.As(err, &e) || e.Kind != mcpclient.KindProtocol {
			t.Errorf("%s: got %v, want an error of kind protocol", entries, err)
		}
	}
	wrong := honest(t)
	wrong.URI = "skill://other/SKILL.md"
	if _, err := skills.Load(t.Context(), (&shop{}).connect(t), wrong); err == nil {
		t.Error("Load accepted an entry with another name than its directory")
	}
}
