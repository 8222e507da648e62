package skill

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pathOf returns the path of a file in its URI, decoded. It is an error if the path may lead elsewhere than it shows.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil, !u.IsAbs():
		return "", fmt.Errorf("%q is not an absolute URI", uri)
	case strings.ContainsAny(uri, "?#"):
		return "", fmt.Errorf("%q has a query or a fragment, which no file of a skill has", uri)
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

// checkSegment returns an error for a name in a path that some program may take for more than the name of a file or a
// directory: now, or after it has decoded the name again.
func checkSegment(name string) error {
	for {
		switch {
		case name == "":
			return errors.New("a name in the path is empty")
		case name == "." || name == "..":
			return fmt.Errorf("a name in the path is %q", name)
		case strings.ContainsAny(name, `/\`):
			return fmt.Errorf("%q has a separator in it", name)
		case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
			return fmt.Errorf("%q has control characters or invalid UTF-8 in it", name)
		}
		again, err := url.PathUnescape(name)
		if err != nil || again == name {
			return nil // it cannot be decoded any more
		}
		name = again
	}
}
