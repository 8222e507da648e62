// Package clientinput validates a server's requests to a client (sampling and elicitation) and the client's answers, by
// the same rules at both ends. Its errors name members as the specification does.
package clientinput

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/mcp"
)

// MaxVisit bounds the texts to show and store for one visit to a URL, in bytes.
const MaxVisit = 64 << 10

// ErrVisitSize means that the texts of an elicitation exceed MaxVisit.
var ErrVisitSize = fmt.Errorf("message, url and elicitationId together have more than %d bytes", MaxVisit)

// CheckVisitSize returns [ErrVisitSize] if the texts of p exceed [MaxVisit].
func CheckVisitSize(p *mcp.ElicitParams) error {
	if len(p.Message)+len(p.URL)+len(p.ElicitationID) > MaxVisit {
		return ErrVisitSize
	}
	return nil
}

// CheckVisit returns an error if a client must not show the URL to a user. (specification 2026-07-28,
// client/elicitation, "Safe URL Handling")
func CheckVisit(u *url.URL) error {
	host := u.Hostname()
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("has the scheme %q, want https", u.Scheme)
	case host == "":
		return errors.New("has no host")
	case u.User != nil:
		return errors.New("has a user name, which can imitate a host")
	case u.Scheme == "http" && !hostname.Loopback(host):
		return errors.New("uses http for another machine, want https")
	}
	return nil
}

// CheckForm returns an error if a form uses a keyword that is not in the specification, because clients need not
// support such keywords. The form must compile. (specification 2026-07-28, client/elicitation, "Requested Schema";
// schema, PrimitiveSchemaDefinition)
func CheckForm(raw json.RawMessage) error {
	form := mcp.Object(raw)
	if err := only(form, "$schema", "type", "properties", "required"); err != nil {
		return err
	}
	properties, _ := form.Lookup("properties")
	for name, field := range mcp.Object(properties).All() {
		if err := checkField(mcp.Object(field)); err != nil {
			return fmt.Errorf("properties.%s: %w", name, err)
		}
	}
	return nil
}

func checkField(field mcp.Object) error {
	var f mcp.FormField
	if err := json.Unmarshal(field, &f); err != nil {
		return err
	}
	shown := []string{"type", "title", "description", "default"}
	switch {
	case f.Type == mcp.FormString && f.OneOf != nil:
		return only(field, append(shown, "oneOf")...)
	case f.Type == mcp.FormString && f.Enum != nil:
		return only(field, append(shown, "enum", "enumNames")...)
	case f.Type == mcp.FormString:
		if f.Format != "" && !slices.Contains(formats, f.Format) {
			return fmt.Errorf("format is %q, want one of %q", f.Format, formats)
		}
		return only(field, append(shown, "minLength", "maxLength", "format")...)
	case f.Type == mcp.FormNumber, f.Type == mcp.FormInteger:
		return only(field, append(shown, "minimum", "maximum")...)
	case f.Type == mcp.FormArray:
		return only(field, append(shown, "minItems", "maxItems", "items")...)
	}
	return only(field, shown...)
}

var formats = []mcp.FormFormat{mcp.FormEmail, mcp.FormURI, mcp.FormDate, mcp.FormDateTime}

// only returns an error if an object has a member with another name.
func only(o mcp.Object, names ...string) error {
	for name := range o.All() {
		if !slices.Contains(names, name) {
			return fmt.Errorf("forms do not support the keyword %s, want one of %q", name, names)
		}
	}
	return nil
}
