package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// ErrUnverified is in the chain of an error about content that is not what the entry of its skill says. Such content
// must not be used. The skill may have changed since: get its entry anew, and ask for approval anew.
var ErrUnverified = errors.New("not what the entry of the skill says")

const digestPrefix = "sha256:"

// Digest is the digest of a file's bytes: sha256: and 64 hexadecimal digits.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return digestPrefix + hex.EncodeToString(sum[:])
}

func isDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	return ok && len(digits) == 2*sha256.Size && strings.Trim(digits, "0123456789abcdef") == ""
}

// Verify compares content with what the entry says of the file. A digest that fits says that the entry and the content
// belong together, and not that the server may be trusted: it wrote both.
func (f File) Verify(content []byte) error {
	if int64(len(content)) != f.Size {
		return fmt.Errorf("%s: %w: it has %d bytes, and the entry says %d", f.URI, ErrUnverified, len(content), f.Size)
	}
	if digest := Digest(content); digest != f.Digest {
		return fmt.Errorf("%s: %w: its digest is %s, and the entry says %s", f.URI, ErrUnverified, digest, f.Digest)
	}
	return nil
}

// VerifyManifest compares the content of SKILL.md with the entry: digest and size, unless the files of the skill are
// made on demand, and the frontmatter, field by field.
func (s *Skill) VerifyManifest(content []byte) error {
	if s.Resources != nil {
		f, ok := s.File(s.URI)
		if !ok {
			return fmt.Errorf("%s: %w: the entry does not list it", s.URI, ErrUnverified)
		}
		if err := f.Verify(content); err != nil {
			return err
		}
	}
	frontmatter, _, err := ParseManifest(content)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", s.URI, ErrUnverified, err)
	}
	if field, same := sameFields(frontmatter, s.Frontmatter); !same {
		return fmt.Errorf("%s: %w: the field %q of the frontmatter differs", s.URI, ErrUnverified, field)
	}
	return nil
}
