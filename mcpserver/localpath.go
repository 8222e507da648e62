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

// LocalPath converts name, the path of a file from a client, to a path of the operating system, for use with an
// [os.Root]. The path is relative to the directory that the client may read. name is the value of a template's
// variable in [ReadResourceRequest], such as the path in file:///docs/{+path}:
//
//	name, err := mcpserver.LocalPath(r.Variables["path"])
//	if err != nil {
//		return nil, mcpserver.ResourceNotFound(r.URI)
//	}
//	file, err := root.Open(name)
//
// On every system, slashes separate the elements of name. LocalPath returns an error that is [fs.ErrInvalid] if name
//
//   - is absolute or empty, or has an empty element or an element . or ..;
//   - contains a backslash, a control character or bytes that are not UTF-8;
//   - is reserved by the system, such as NUL or a name with a colon on Windows;
//   - contains a percent-encoded dot, slash, backslash, percent sign or control character. The variable has been
//     decoded once; a client that encodes these characters twice hopes that the handler decodes them again.
//
// LocalPath does not check symbolic links. An [os.Root] follows no link that leads out of it. A program that only
// joins the path to a directory has no such protection. (specification 2026-07-28, server/resources, "Security
// Considerations")
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
		return "", errors.New("contains a control character")
	case strings.Contains(name, `\`):
		return "", errors.New("contains a backslash")
	case name == "." || !fs.ValidPath(name):
		return "", errors.New("not a relative path below the directory")
	case encodesPath(name):
		return "", errors.New("contains a character that is encoded twice")
	}
	local, err := filepath.Localize(name)
	if err != nil {
		return "", errors.New("not a valid path on this system")
	}
	return local, nil
}

// encodesPath reports whether name contains a percent-encoded character that has a meaning in paths.
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
