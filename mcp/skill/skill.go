package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
)

const (
	// Extension is the identifier of the extension in a server's capabilities.
	Extension = "io.modelcontextprotocol/skills"

	// Manifest is the name of the file that makes a directory a skill.
	Manifest = "SKILL.md"

	// DirectoryType is the MIME type of directories.
	DirectoryType = "inode/directory"
)

// The methods of the extension.
const (
	MethodList          = "skills/list"
	MethodGet           = "skills/get"
	MethodReadDirectory = "resources/directory/read" // where the server declares directoryRead
)

// What a server should not exceed with one skill: every host accepts as much.
const (
	MaxFiles = 512      // files of a skill, SKILL.md included
	MaxBytes = 16 << 20 // bytes of all of them together
)

// A Skill is the entry of one skill: what a host needs to show it, to ask for approval, and to verify what it reads.
type Skill struct {
	URI         string     `json:"uri"`         // of its SKILL.md; it identifies the skill, the name does not
	Frontmatter mcp.Object `json:"frontmatter"` // of its SKILL.md, every field of it
	Resources   Files      `json:"resources"`   // all its files, SKILL.md included
}

// A File is a file of a skill.
type File struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // see [Digest]
	Size   int64  `json:"size"`   // bytes
}

// Files are the files of a skill. A nil one says that they are made on demand, so that there are no digests and nothing
// can be verified; on the wire that is the word "dynamic".
type Files []File

const dynamic = `"dynamic"`

// MarshalJSON writes an array, or "dynamic".
func (f Files) MarshalJSON() ([]byte, error) {
	if f == nil {
		return []byte(dynamic), nil
	}
	return json.Marshal([]File(f))
}

// UnmarshalJSON reads an array, or "dynamic".
func (f *Files) UnmarshalJSON(text []byte) error {
	if string(text) == dynamic {
		*f = nil
		return nil
	}
	var files []File
	if err := json.Unmarshal(text, &files); err != nil {
		return err
	}
	if files == nil {
		return errors.New("neither an array nor " + dynamic)
	}
	*f = files
	return nil
}

// Name is the name in the frontmatter, "" if there is none. Two skills of one server may have the same.
func (s *Skill) Name() string { return s.text("name") }

// Description is the description in the frontmatter, "" if there is none.
func (s *Skill) Description() string { return s.text("description") }

func (s *Skill) text(member string) (text string) {
	if _, err := s.Frontmatter.Decode(member, &text); err != nil {
		return ""
	}
	return text
}

// Root is the URI of the skill's directory, without a slash at its end.
func (s *Skill) Root() string { return strings.TrimSuffix(s.URI, "/"+Manifest) }

// File finds a file of the skill by its URI.
func (s *Skill) File(uri string) (File, bool) {
	for _, f := range s.Resources {
		if f.URI == uri {
			return f, true
		}
	}
	return File{}, false
}

// Resolve is the URI of the file that the skill's text calls path, such as references/FORMS.md: paths are relative to
// the skill's directory, and stay in it.
func (s *Skill) Resolve(path string) (string, error) {
	for name := range strings.SplitSeq(path, "/") {
		if err := checkSegment(name); err != nil {
			return "", fmt.Errorf("skill %s: %q is not the path of a file below its directory: %w", s.URI, path, err)
		}
	}
	return s.Root() + "/" + escape(path), nil
}

// escape makes a path part of a URI.
func escape(path string) string { return (&url.URL{Path: "/" + path}).EscapedPath()[1:] }

// FileURI is the URI of a file of the skill at skillPath, such as skill://acme/refunds/SKILL.md.
func FileURI(skillPath, file string) string {
	return "skill://" + escape(skillPath) + "/" + escape(file)
}

// Validate reports what is wrong with the entry by itself: its URI, its name, the description, and files that are
// missing, listed twice, outside its directory, or without a proper digest and size. No name in the path of a URI may
// be empty, "." or "..", or hold a separator or a control character, however often it is percent-encoded.
func (s *Skill) Validate() error {
	if err := s.validate(); err != nil {
		return fmt.Errorf("skill %q: %w", s.URI, err)
	}
	return nil
}

func (s *Skill) validate() error {
	root, isManifest := strings.CutSuffix(s.URI, "/"+Manifest)
	if !isManifest {
		return errors.New("the URI is not that of a " + Manifest)
	}
	if _, err := pathOf(s.URI); err != nil {
		return err
	}
	name := s.Name()
	if err := CheckName(name); err != nil {
		return err
	}
	if last := root[strings.LastIndexByte(root, '/')+1:]; last != name {
		return fmt.Errorf("the directory is called %q, and the skill %q", last, name)
	}
	if s.Description() == "" {
		return errors.New("the frontmatter has no description")
	}
	if s.Resources == nil {
		return nil
	}
	seen := make(map[string]bool, len(s.Resources))
	for _, f := range s.Resources {
		path, err := pathOf(f.URI)
		switch {
		case err != nil:
			return err
		case !strings.HasPrefix(f.URI, root+"/"):
			return fmt.Errorf("%q is not in its directory", f.URI)
		case seen[path]:
			return fmt.Errorf("%q is listed twice", f.URI)
		case !isDigest(f.Digest):
			return fmt.Errorf("%q: the digest %q is not sha256: and 64 hexadecimal digits in lower case", f.URI, f.Digest)
		case f.Size < 0:
			return fmt.Errorf("%q: the size is %d", f.URI, f.Size)
		}
		seen[path] = true
	}
	if _, listed := s.File(s.URI); !listed {
		return errors.New(Manifest + " is not among its files")
	}
	return nil
}

// CheckName reports what is wrong with the name of a skill: it has 1 to 64 characters, which are small letters, digits
// and hyphens, with no hyphen at either end and no two beside each other.
// (https://agentskills.io/specification#name-field)
func CheckName(name string) error {
	wrong := name == "" || len(name) > 64 || name[0] == '-' || name[len(name)-1] == '-' || strings.Contains(name, "--")
	for _, c := range []byte(name) {
		wrong = wrong || (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
	}
	if wrong {
		return fmt.Errorf("%q is not the name of a skill: 1 to 64 small letters, digits and single hyphens between them",
			name)
	}
	return nil
}

// ListResult answers skills/list, whose params are [mcp.PageParams].
type ListResult struct {
	mcp.Result
	mcp.CacheHint
	NextCursor *string  `json:"nextCursor,omitzero"`
	Skills     []*Skill `json:"skills"`
}

// GetResult answers skills/get.
type GetResult struct {
	mcp.Result
	mcp.CacheHint
	Skill *Skill `json:"skill"`
}

// URIParams are the params of skills/get and resources/directory/read.
type URIParams struct {
	Meta   mcp.Meta `json:"_meta,omitzero"`
	URI    string   `json:"uri"`
	Cursor *string  `json:"cursor,omitzero"` // of resources/directory/read
}
