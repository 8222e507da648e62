package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// Icon is an image for a user interface, from 2025-11-25. Peers choose the source of an icon, so do not trust it:
// [Icon.Check] reports whether the source is safe to keep and pass on, and [Icon.CheckFor] reports whether a client may
// load it.
//
// Clients and servers of this module drop received icons that fail Check. They reject your own tool, resource,
// template, prompt or implementation if it has such an icon. See
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#icons.
type Icon struct {
	Src      string    `json:"src" mcp:"required"` // a URI
	MIMEType string    `json:"mimeType,omitzero"`
	Sizes    []string  `json:"sizes,omitzero"` // such as 48x48 or any; empty means any size
	Theme    IconTheme `json:"theme,omitzero"` // empty means any background
}

// IconTheme is the background for which an icon is designed.
type IconTheme string

const (
	ThemeLight IconTheme = "light"
	ThemeDark  IconTheme = "dark"
)

// Check returns an error if the source of the icon is unsafe, no matter which peer sent it. A safe source is an https
// or http URL or a data URI of an image. Other sources are unsafe: javascript:, file:, ftp:, ws:, schemes of programs,
// relative references and text that browsers parse differently from RFC 3986.
func (i Icon) Check() error {
	_, err := i.source()
	return err
}

// CheckFor returns an error if a client must not load the icon of the server at this URL. The client may load a data
// URI of an image, and an https URL with the server's origin: the same host and port. A server without a URL, such as
// a child process, has no origin. Then server is empty, and only data URIs pass.
//
// The code that loads the icon has further duties. Send neither cookies nor credentials. Follow redirects only within
// the origin. Bound the size of the response and the dimensions of the image. Detect the type from the first bytes; do
// not trust MIMEType. An SVG, whether from a URL or a data URI, is a document that can run scripts and fetch other
// resources. Draw it where scripts and fetches are disabled, such as in the img element of a browser, or reject it.
func (i Icon) CheckFor(server string) error {
	u, err := i.source()
	switch {
	case err != nil:
		return err
	case u.Scheme == "data":
		return nil
	case u.Scheme != "https":
		return errors.New("source is not an https URL")
	}
	origin, err := url.Parse(server)
	if err != nil || !hostname.SameOrigin(u, origin) {
		return fmt.Errorf("source has the origin %s, not the server's origin", hostname.Origin(u))
	}
	return nil
}

// source parses the source of the icon and checks it by the rules of Check.
func (i Icon) source() (*url.URL, error) {
	u, err := url.Parse(i.Src)
	if err != nil || strings.TrimSpace(i.Src) != i.Src || strings.Contains(i.Src, `\`) {
		return nil, errors.New("source is not a URI")
	}
	switch u.Scheme {
	case "https", "http":
		if u.Host == "" || u.User != nil {
			return nil, errors.New("source is a URL without a host or with a user")
		}
	case "data":
		const image = "image/"
		if len(u.Opaque) < len(image) || !strings.EqualFold(u.Opaque[:len(image)], image) {
			return nil, errors.New("source is a data URI but not an image")
		}
	default:
		return nil, fmt.Errorf("source has the unsafe scheme %q", u.Scheme)
	}
	return u, nil
}
