package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// Icon is a picture for a user interface, from 2025-11-25. Where it comes from is what a peer says, so nothing of it is
// to be trusted: [Icon.Check] says whether its source may be kept and passed on, [Icon.CheckFor] whether a client may
// load it.
//
// A client of this module drops the icons that fail Check from what a server sends, and a server those of its clients;
// a tool, resource, template, prompt or implementation of your own that has one is refused. See
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#icons.
type Icon struct {
	Src      string    `json:"src" mcp:"required"` // a URI
	MIMEType string    `json:"mimeType,omitzero"`
	Sizes    []string  `json:"sizes,omitzero"` // such as 48x48, or any; none means any
	Theme    IconTheme `json:"theme,omitzero"` // none means any
}

// IconTheme is the background that an icon is made for.
type IconTheme string

const (
	ThemeLight IconTheme = "light"
	ThemeDark  IconTheme = "dark"
)

// Check says what is wrong with the source of the icon, from whatever peer, nil if nothing is. A source is the URL of
// an image, https or http, or a data URI of one. Others are unsafe: javascript:, file:, ftp:, ws:, schemes of programs,
// relative references, and what browsers read in another way than RFC 3986.
func (i Icon) Check() error {
	_, err := i.source()
	return err
}

// CheckFor says why a client must not load the icon of the server at this URL, nil if it may: the source is a data URI
// of an image, or it is https and of the server's origin, that is of the same host and port. A server without a URL,
// such as a child process, has no origin: server is empty, and only data URIs are left.
//
// What CheckFor cannot see is up to the code that loads the icon: send neither cookies nor credentials; follow
// redirects within the origin only; bound the size of what comes and the dimensions of the picture; and look at the
// first bytes for its type instead of trusting MIMEType. An SVG, by either way, is a document that can have scripts in
// it and fetch from elsewhere: draw it where neither works, such as the img element of a browser, or not at all.
func (i Icon) CheckFor(server string) error {
	u, err := i.source()
	switch {
	case err != nil:
		return err
	case u.Scheme == "data":
		return nil
	case u.Scheme != "https":
		return errors.New("source is not of https")
	}
	origin, err := url.Parse(server)
	if err != nil || !hostname.SameOrigin(u, origin) {
		return fmt.Errorf("source is of %s, which is not the server's origin", hostname.Origin(u))
	}
	return nil
}

// source returns the parsed source, of which the scheme and what belongs to it have been checked.
func (i Icon) source() (*url.URL, error) {
	u, err := url.Parse(i.Src)
	if err != nil || strings.TrimSpace(i.Src) != i.Src || strings.Contains(i.Src, `\`) {
		return nil, errors.New("source is no URI")
	}
	switch u.Scheme {
	case "https", "http":
		if u.Host == "" || u.User != nil {
			return nil, errors.New("source is a URL without a host, or with a user in it")
		}
	case "data":
		const image = "image/"
		if len(u.Opaque) < len(image) || !strings.EqualFold(u.Opaque[:len(image)], image) {
			return nil, errors.New("source is a data URI of no image")
		}
	default:
		return nil, fmt.Errorf("source has the unsafe scheme %q", u.Scheme)
	}
	return u, nil
}
