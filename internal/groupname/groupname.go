// Package groupname forms the names of tools and prompts in a collection of several servers, for groups of clients and
// for gateways.
package groupname

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Naming forms the names of the tools in a group: the prefix of the member, the separator, and the tool's own name if
// that is possible. The prefix never contains the separator, so each name belongs to exactly one member, whatever the
// names of the other members and their tools are.
type Naming struct {
	separator string
	limit     int // maximum length of a name
}

// nameByte reports whether tool names may contain b. (specification 2026-07-28, server/tools, "Tool Names")
func nameByte(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b == '_' || b == '-' || b == '.'
}

const (
	hashDigits = 10             // digits of the hash that makes an alias unique
	aliasSpace = hashDigits + 2 // space for the hash, the dash before it and at least one character of the name
)

// New returns a Naming after validating the separator and the maximum length of names.
func New(separator string, limit int) (Naming, error) {
	n := Naming{separator, limit}
	if separator == "" || strings.Trim(separator, "_-.") != "" || n.filler() == 0 {
		return n, fmt.Errorf("group: separator %q: want the characters _ - and . but not all three", separator)
	}
	if limit < 0 || limit > 128 {
		return n, fmt.Errorf("group: names of %d characters, want 128 at most", limit)
	}
	return n, nil
}

// filler returns the character that replaces invalid characters, or 0 if the separator contains all candidates.
func (n Naming) filler() byte {
	for _, b := range []byte("-_.") {
		if strings.IndexByte(n.separator, b) < 0 {
			return b
		}
	}
	return 0
}

// sanitize replaces the characters that a name must not contain.
func (n Naming) sanitize(name string) string {
	b := []byte(nil)
	for _, r := range name {
		if r > 0x7f || !nameByte(byte(r)) {
			r = rune(n.filler())
		}
		b = append(b, byte(r))
	}
	return string(b)
}

// Prefix returns the prefix of the names of a member's tools: the name of the member, with separators in it replaced,
// and the separator.
func (n Naming) Prefix(member string) (string, error) {
	p := []byte(n.sanitize(member))
	for {
		i := strings.Index(string(p)+n.separator, n.separator)
		if i == len(p) {
			break
		}
		p[i] = n.filler()
	}
	if len(p) == 0 {
		return "", errors.New("group: a member has no name")
	}
	if len(p)+len(n.separator)+aliasSpace > n.limit {
		return "", fmt.Errorf("group: member %q: want a name of 1 to %d characters", member,
			n.limit-len(n.separator)-aliasSpace)
	}
	return string(p) + n.separator, nil
}

// Split returns the prefix of a name, including the separator, and the rest behind it.
func (n Naming) Split(name string) (prefix, rest string, ok bool) {
	before, rest, ok := strings.Cut(name, n.separator)
	return before + n.separator, rest, ok
}

// own reports whether a tool can keep its own name behind a prefix: the name is short enough, has only valid
// characters, and does not look like an alias.
func (n Naming) own(prefix, tool string) bool {
	if tool == "" || len(prefix)+len(tool) > n.limit || LooksLikeAlias(tool) {
		return false
	}
	for i := range len(tool) {
		if !nameByte(tool[i]) {
			return false
		}
	}
	return true
}

// alias returns the name of a tool that cannot keep its own name behind a prefix: the beginning of the sanitized name
// and a hash of the whole name.
func (n Naming) alias(prefix, tool string) string {
	sum := sha256.Sum256([]byte(tool))
	left := n.sanitize(tool)
	left = left[:min(len(left), n.limit-len(prefix)-hashDigits-1)]
	return prefix + left + "-" + hex.EncodeToString(sum[:])[:hashDigits]
}

// LooksLikeAlias reports whether a name ends like the results of alias.
func LooksLikeAlias(name string) bool {
	i := len(name) - hashDigits - 1
	if i < 0 || name[i] != '-' {
		return false
	}
	return strings.Trim(name[i+1:], "0123456789abcdef") == ""
}

// Name returns the name of a tool in the group.
func (n Naming) Name(prefix, tool string) string {
	if n.own(prefix, tool) {
		return prefix + tool
	}
	return n.alias(prefix, tool)
}
