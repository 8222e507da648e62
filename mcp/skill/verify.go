package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// ErrUnverified matches, with errors.Is, errors about content that differs from the skill's entry. Do not use such
// content. The skill may have changed: get its entry again, and ask the user for approval again.
var ErrUnverified = errors.New("content differs from the entry of the skill")

const digestPrefix = "sha256:"

// Digest returns the digest of a file's content: sha256: and 64 hexadecimal digits.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return digestPrefix + hex.EncodeToString(sum[:])
}

func isDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	return ok && len(digits) == 2*sha256.Size && strings.Trim(digits, "0123456789abcdef") == ""
}

// Verify compares content with the size and digest in the entry. A match proves that entry and content belong
// together. It does not prove that the server is trustworthy, because the server wrote both.
func (f File) Verify(content []byte) error {
	if int64(len(content)) != f.Size {
		return fmt.Errorf("%s: %w: %d bytes, want %d", f.URI, ErrUnverified, len(content), f.Size)
	}
	if digest := Digest(content); digest != f.Digest {
		return fmt.Errorf("%s: %w: digest %s, want %s", f.URI, ErrUnverified, digest, f.Digest)
	}
	return nil
}

// VerifyManifest compares the content of SKILL.md with the entry: each field of the frontmatter and, unless the server
// generates the files on demand, the size and digest.
func (s *Skill) VerifyManifest(content []byte) error {
	if s.Resources != nil {
		f, ok := s.File(s.URI)
		if !ok {
			return fmt.Errorf("%s: %w: the entry does not list this file", s.URI, ErrUnverified)
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
