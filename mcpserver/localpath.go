package mcpserver

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LocalPath returns the file path that a client means by name, relative to the directory whose files it may see: what a
// variable of a template has in [ReadResourceRequest], such as the path of file:///docs/{+path}. It is a path of the
// operating system, for an [os.Root]:
//
//	name, err := mcpserver.LocalPath(r.Variables["path"])
//	if err != nil {
//		return nil, mcpserver.ResourceNotFound(r.URI)
//	}
//	file, err := root.Open(name)
//
// The name has slashes between its elements on every system. It is refused, with an error that is [fs.ErrInvalid], if
// it is absolute or empty, has an empty element or one that is . or .., a backslash, a control character, bytes that
// are not UTF-8, or what the system has other plans with, such as NUL or a colon on Windows; and also if it still has a
// dot, slash, backslash, percent sign or control character in percent-encoding: a variable has been decoded once, and
// a client that encodes these twice hopes that the handler decodes once more.
//
// A path says nothing of symbolic links. An [os.Root] follows none that leads out of it; a path that is only joined to
// a directory does. (specification 2026-07-28, server/resources, "Security Considerations")
func LocalPath(name string) (string, error) {
	local, err := localPath(name)
	if err != nil {
		return "", fmt.Errorf("path %.256q: %w: %w", name, fs.ErrInvalid, err)
	}
	return local, nil
}

func localPath(name string) (string, error) {
	switch {
	case !utf8.ValidString(name):
		return "", errors.New("not UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", errors.New("a control character")
	case strings.Contains(name, `\`):
		return "", errors.New("a backslash")
	case name == "." || !fs.ValidPath(name):
		return "", errors.New("not below the directory")
	case encodesPath(name):
		return "", errors.New("encoded twice")
	}
	local, err := filepath.Localize(name)
	if err != nil {
		return "", errors.New("no name on this system")
	}
	return local, nil
}

// encodesPath reports whether name has, in percent-encoding, a character that means something in paths.
func encodesPath(name string) bool {
	for {
		_, rest, found := strings.Cut(name, "%")
		if !found {
			return false
		}
		name = rest
		c, err := hex.DecodeString(rest[:min(2, len(rest))])
		if err == nil && len(c) == 1 && (c[0] < ' ' || strings.IndexByte("./\\%\x7f", c[0]) >= 0) {
			return true
		}
	}
}
