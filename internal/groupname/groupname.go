// Package groupname makes the names that tools and prompts of several servers have together, for groups of clients and
// for gateways.
package groupname

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Naming makes the names that the tools of a group have in it: what the member is called there, the separator, and the
// tool's own name if that is possible. The first part never contains the separator, so that each name belongs to one
// member, no matter how the others are called and what their servers list.
type Naming struct {
	separator string
	limit     int // of a name's length
}

// nameByte reports whether names of tools have b in them. (specification 2026-07-28, server/tools, "Tool Names")
func nameByte(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b == '_' || b == '-' || b == '.'
}

const (
	hashDigits = 10             // of what makes the name of a tool unique that cannot have its own
	aliasSpace = hashDigits + 2 // room for that, the dash before it and something of the name
)

// New checks what names are made by.
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

// filler returns the character that takes the place of what a name must not have, 0 if there is none.
func (n Naming) filler() byte {
	for _, b := range []byte("-_.") {
		if strings.IndexByte(n.separator, b) < 0 {
			return b
		}
	}
	return 0
}

// sanitize replaces what names must not have.
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

// Prefix returns what the names of a member's tools begin with: its own, in which what would be taken for the separator
// is replaced, and the separator.
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

// Split returns the prefix of a name with the separator, and what follows.
func (n Naming) Split(name string) (prefix, rest string, ok bool) {
	before, rest, ok := strings.Cut(name, n.separator)
	return before + n.separator, rest, ok
}

// own reports whether a tool can have its own name behind a prefix: it is neither too long nor has it characters that
// names must not have.
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

// alias returns the name of a tool that cannot have its own behind a prefix: what is left of it, and a hash of all of
// it.
func (n Naming) alias(prefix, tool string) string {
	sum := sha256.Sum256([]byte(tool))
	left := n.sanitize(tool)
	left = left[:min(len(left), n.limit-len(prefix)-hashDigits-1)]
	return prefix + left + "-" + hex.EncodeToString(sum[:])[:hashDigits]
}

// LooksLikeAlias reports whether a name ends like what alias returns.
func LooksLikeAlias(name string) bool {
	i := len(name) - hashDigits - 1
	if i < 0 || name[i] != '-' {
		return false
	}
	return strings.Trim(name[i+1:], "0123456789abcdef") == ""
}

// Name returns what a tool is called in the group.
func (n Naming) Name(prefix, tool string) string {
	if n.own(prefix, tool) {
		return prefix + tool
	}
	return n.alias(prefix, tool)
}
