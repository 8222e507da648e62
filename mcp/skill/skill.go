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

// Methods of the extension.
const (
	MethodList          = "skills/list"
	MethodGet           = "skills/get"
	MethodReadDirectory = "resources/directory/read" // only if the server declares directoryRead
)

// Limits for one skill of a server. Every host accepts a skill within these limits.
const (
	MaxFiles = 512      // files, including SKILL.md
	MaxBytes = 16 << 20 // total size of all files in bytes
)

// A Skill is the entry of one skill: the data that a host needs to show the skill, ask for approval and verify its
// files.
type Skill struct {
	URI         string     `json:"uri"`         // URI of SKILL.md; identifies the skill, unlike its name
	Frontmatter mcp.Object `json:"frontmatter"` // all fields of the frontmatter of SKILL.md
	Resources   Files      `json:"resources"`   // all files, including SKILL.md
}

// A File is a file of a skill.
type File struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // see [Digest]
	Size   int64  `json:"size"`   // bytes
}

// Files are the files of a skill. Nil means that the server generates the files on demand; then there are no digests,
// and the files cannot be verified. Nil is encoded as "dynamic".
type Files []File

const dynamic = `"dynamic"`

// MarshalJSON encodes an array or "dynamic".
func (f Files) MarshalJSON() ([]byte, error) {
	if f == nil {
		return []byte(dynamic), nil
	}
	return json.Marshal([]File(f))
}

// UnmarshalJSON decodes an array or "dynamic".
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
		return errors.New("must be an array or " + dynamic)
	}
	*f = files
	return nil
}

// Name returns the name in the frontmatter, or "" if there is no name. Two skills of a server may have the same name.
func (s *Skill) Name() string { return s.text("name") }

// Description returns the description in the frontmatter, or "" if there is no description.
func (s *Skill) Description() string { return s.text("description") }

func (s *Skill) text(member string) (text string) {
	if _, err := s.Frontmatter.Decode(member, &text); err != nil {
		return ""
	}
	return text
}

// Root returns the URI of the skill's directory, without a slash at the end.
func (s *Skill) Root() string { return strings.TrimSuffix(s.URI, "/"+Manifest) }

// File returns the file of the skill with this URI.
func (s *Skill) File(uri string) (File, bool) {
	for _, f := range s.Resources {
		if f.URI == uri {
			return f, true
		}
	}
	return File{}, false
}

// Resolve returns the URI of a file that the skill's text names by its path, such as references/FORMS.md. Paths are
// relative to the skill's directory and must not leave it.
func (s *Skill) Resolve(path string) (string, error) {
	for name := range strings.SplitSeq(path, "/") {
		if err := checkSegment(name); err != nil {
			return "", fmt.Errorf("skill %s: %q is not the path of a file below its directory: %w", s.URI, path, err)
		}
	}
	return s.Root() + "/" + escape(path), nil
}

// escape percent-encodes a path for a URI.
func escape(path string) string { return (&url.URL{Path: "/" + path}).EscapedPath()[1:] }

// FileURI returns the URI of a file of the skill at skillPath, such as skill://acme/refunds/SKILL.md.
func FileURI(skillPath, file string) string {
	return "skill://" + escape(skillPath) + "/" + escape(file)
}

// Validate returns an error if the entry is invalid by itself. The URI, the name and the description must be valid,
// and SKILL.md must be among the files. Each file must be listed once, be in the skill's directory, and have a valid
// digest and size. No segment in the path of a URI may be empty, "." or "..", or contain a separator or a control
// character, at any level of percent-encoding.
func (s *Skill) Validate() error {
	if err := s.validate(); err != nil {
		return fmt.Errorf("skill %q: %w", s.URI, err)
	}
	return nil
}

func (s *Skill) validate() error {
	root, isManifest := strings.CutSuffix(s.URI, "/"+Manifest)
	if !isManifest {
		return errors.New("the URI does not end with /" + Manifest)
	}
	if _, err := pathOf(s.URI); err != nil {
		return err
	}
	name := s.Name()
	if err := CheckName(name); err != nil {
		return err
	}
	if last := root[strings.LastIndexByte(root, '/')+1:]; last != name {
		return fmt.Errorf("the name %q differs from the directory %q", name, last)
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
			return fmt.Errorf("%q: the digest %q is not sha256: and 64 lower-case hexadecimal digits", f.URI, f.Digest)
		case f.Size < 0:
			return fmt.Errorf("%q: the size is %d", f.URI, f.Size)
		}
		seen[path] = true
	}
	if _, listed := s.File(s.URI); !listed {
		return errors.New(Manifest + " is not among the files")
	}
	return nil
}

// CheckName returns an error if name is not valid for a skill. A valid name has 1 to 64 lower-case letters, digits
// and hyphens, with no hyphen at either end and no two adjacent hyphens.
// (https://agentskills.io/specification#name-field)
func CheckName(name string) error {
	wrong := name == "" || len(name) > 64 || name[0] == '-' || name[len(name)-1] == '-' || strings.Contains(name, "--")
	for _, c := range []byte(name) {
		wrong = wrong || (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
	}
	if wrong {
		return fmt.Errorf("%q is not a valid name of a skill: use 1 to 64 lower-case letters, digits and single hyphens "+
			"between them", name)
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
	Cursor *string  `json:"cursor,omitzero"` // only for resources/directory/read
}
