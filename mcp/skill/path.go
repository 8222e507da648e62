package skill

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pathOf returns the decoded path of a file's URI. It returns an error if the path may lead out of its directory.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil, !u.IsAbs():
		return "", fmt.Errorf("%q is not an absolute URI", uri)
	case strings.ContainsAny(uri, "?#"):
		return "", fmt.Errorf("%q has a query or a fragment, which a file of a skill must not have", uri)
	}
	_, path, _ := strings.Cut(uri, ":")
	path = strings.TrimPrefix(path, "//")
	if u.Host == "" {
		path = strings.TrimPrefix(path, "/") // as in file:///
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if segments[i], err = url.PathUnescape(s); err == nil {
			err = checkSegment(segments[i])
		}
		if err != nil {
			return "", fmt.Errorf("%q is not the URI of a file below a directory: %w", uri, err)
		}
	}
	return strings.Join(segments, "/"), nil
}

// checkSegment returns an error if name, a path segment, might not be the plain name of a file or directory,
// immediately or after further percent-decoding.
func checkSegment(name string) error {
	for {
		switch {
		case name == "":
			return errors.New("a path segment is empty")
		case name == "." || name == "..":
			return fmt.Errorf("a path segment is %q", name)
		case strings.ContainsAny(name, `/\`):
			return fmt.Errorf("%q contains a separator", name)
		case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
			return fmt.Errorf("%q contains control characters or invalid UTF-8", name)
		}
		again, err := url.PathUnescape(name)
		if err != nil || again == name {
			return nil // fully decoded
		}
		name = again
	}
}
