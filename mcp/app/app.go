// Package app holds the parts of MCP's Apps extension (SEP-1865, io.modelcontextprotocol/ui) that clients and servers
// share: the members of _meta.ui for tools and views, the MIME type of views, and checks of view URIs. Package
// mcpserver/apps declares views for tools; mcpclient/apps finds and fetches them.
//
// A view is an HTML page, a resource with the scheme ui, in which a host shows the result of a tool. The host renders
// the view in a sandboxed frame, with the policy that its [ResourceMeta] allows, and exchanges messages with it by
// postMessage. This package neither renders views nor exchanges messages. See
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx.
package app

import (
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
)

const (
	// Extension is the identifier of the extension in a client's capabilities.
	Extension = "io.modelcontextprotocol/ui"

	// MIMEType is the MIME type of views.
	MIMEType = "text/html;profile=mcp-app"
)

const (
	metaUI            = "ui"             // member of _meta
	metaDeprecatedURI = "ui/resourceUri" // member of _meta; the deprecated form of ui.resourceUri
)

// A Caller is a party that may call a tool.
type Caller string

// The callers of the specification.
const (
	Model Caller = "model" // the model sees the tool and may call it
	App   Caller = "app"   // a view of the same server may call the tool
)

// ToolMeta holds the members of _meta.ui of a tool.
type ToolMeta struct {
	ResourceURI string   // URI of the view for the tool's results; empty for no view
	Visibility  []Caller // callers that may call the tool; nil means all, an empty list means none
}

// ToolMetaOf reads the metadata of a tool. If _meta.ui has no URI, ToolMetaOf uses the deprecated ui/resourceUri. It
// returns an error if the URI is not a view's URI or if a member has the wrong type.
func ToolMetaOf(t *mcp.Tool) (ToolMeta, error) {
	m, err := toolMeta(t.Meta)
	if err != nil {
		return ToolMeta{}, fmt.Errorf("tool %s: _meta: %w", t.Name, err)
	}
	return m, nil
}

func toolMeta(meta mcp.Meta) (m ToolMeta, err error) {
	var ui mcp.Object
	if _, err := meta.Decode(metaUI, &ui); err != nil {
		return m, err
	}
	found, err := ui.Decode("resourceUri", &m.ResourceURI)
	if err == nil && !found {
		found, err = meta.Decode(metaDeprecatedURI, &m.ResourceURI)
	}
	if err == nil && found {
		err = CheckURI(m.ResourceURI)
	}
	if err == nil {
		_, err = ui.Decode("visibility", &m.Visibility)
	}
	return m, err
}

// Write returns meta with the members of m in _meta.ui. Members that m does not set, and unknown members, stay
// unchanged.
func (m ToolMeta) Write(meta mcp.Meta) (mcp.Meta, error) {
	var values members
	if m.ResourceURI != "" {
		if err := CheckURI(m.ResourceURI); err != nil {
			return nil, err
		}
		values.add("resourceUri", m.ResourceURI)
	}
	if m.Visibility != nil {
		values.add("visibility", m.Visibility)
	}
	return values.write(meta)
}

// VisibleTo reports whether the caller may see and call the tool. If the metadata has no visibility, every caller may.
// If the metadata is invalid, no caller may.
func VisibleTo(t *mcp.Tool, who Caller) bool {
	var ui mcp.Object
	var visibility []Caller
	if _, err := t.Meta.Decode(metaUI, &ui); err != nil {
		return false
	}
	found, err := ui.Decode("visibility", &visibility)
	return err == nil && (!found || slices.Contains(visibility, who))
}

// ResourceMeta holds the members of _meta.ui of a view. A host grants at most these permissions and may grant fewer.
type ResourceMeta struct {
	CSP           *CSP         // nil means only the view's own origin, and no connections
	Permissions   *Permissions // nil means no permissions
	Domain        string       // domain of the view's origin, in the host's format; empty lets the host choose
	PrefersBorder *bool        // whether the host draws a border and a background; nil lets the host choose
}

// CSP lists the origins that a view may use, such as https://api.example.com or https://*.example.com.
type CSP struct {
	ConnectDomains  []string `json:"connectDomains,omitzero"`  // connect-src
	ResourceDomains []string `json:"resourceDomains,omitzero"` // img-src, script-src, style-src, font-src, media-src
	FrameDomains    []string `json:"frameDomains,omitzero"`    // frame-src
	BaseURIDomains  []string `json:"baseUriDomains,omitzero"`  // base-uri
}

// Permissions are the browser features that a view requests. A field that is not nil requests its feature.
type Permissions struct {
	Camera         mcp.Object `json:"camera,omitzero"`
	Microphone     mcp.Object `json:"microphone,omitzero"`
	Geolocation    mcp.Object `json:"geolocation,omitzero"`
	ClipboardWrite mcp.Object `json:"clipboardWrite,omitzero"`
}

// ResourceMetaOf reads the _meta of a resource or of its contents. If both have _meta.ui, pass the _meta of the
// contents. ResourceMetaOf returns an error if a member has the wrong type, or if an origin contains a character that
// could change the policy: a space, a quotation mark, a comma, a semicolon or a character outside ASCII.
func ResourceMetaOf(meta mcp.Meta) (m ResourceMeta, err error) {
	var ui mcp.Object
	_, err = meta.Decode(metaUI, &ui)
	for name, to := range map[string]any{
		"csp": &m.CSP, "permissions": &m.Permissions, "domain": &m.Domain, "prefersBorder": &m.PrefersBorder,
	} {
		if err == nil {
			_, err = ui.Decode(name, to)
		}
	}
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return ResourceMeta{}, fmt.Errorf("_meta: %w", err)
	}
	return m, nil
}

// Write returns meta with the members of m in _meta.ui. Members that m does not set, and unknown members, stay
// unchanged. Write returns an error for origins that [ResourceMetaOf] rejects.
func (m ResourceMeta) Write(meta mcp.Meta) (mcp.Meta, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	var values members
	if m.CSP != nil {
		values.add("csp", m.CSP)
	}
	if m.Permissions != nil {
		values.add("permissions", m.Permissions)
	}
	if m.Domain != "" {
		values.add("domain", m.Domain)
	}
	if m.PrefersBorder != nil {
		values.add("prefersBorder", *m.PrefersBorder)
	}
	return values.write(meta)
}

func (m ResourceMeta) check() error {
	if m.CSP == nil {
		return nil
	}
	for _, origins := range [][]string{m.CSP.ConnectDomains, m.CSP.ResourceDomains, m.CSP.FrameDomains,
		m.CSP.BaseURIDomains} {
		for _, origin := range origins {
			if origin == "" || strings.ContainsFunc(origin, breaksPolicy) {
				return fmt.Errorf("csp: %q is not an origin", origin)
			}
		}
	}
	return nil
}

func breaksPolicy(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`'",;`, c) }

// members lists the members of _meta.ui in the order of encoding.
type members []struct {
	name  string
	value any
}

func (m *members) add(name string, value any) {
	*m = append(*m, struct {
		name  string
		value any
	}{name, value})
}

func (m members) write(meta mcp.Meta) (mcp.Meta, error) {
	if len(m) == 0 {
		return meta, nil
	}
	var ui mcp.Object
	if _, err := meta.Decode(metaUI, &ui); err != nil {
		return nil, err
	}
	for _, member := range m {
		var err error
		if ui, err = ui.With(member.name, member.value); err != nil {
			return nil, err
		}
	}
	return meta.With(metaUI, ui)
}

// CheckURI returns an error if uri is not the URI of a view: ui:// followed by at least one character.
func CheckURI(uri string) error {
	rest, ok := strings.CutPrefix(uri, "ui://")
	if _, err := url.Parse(uri); err != nil || !ok || rest == "" {
		return fmt.Errorf("%q is not the URI of a view: it must begin with ui://", uri)
	}
	return nil
}

// CheckMIMEType returns an error if text is not the MIME type of a view. The MIME type is [MIMEType] in any spelling.
// It may have a charset, which must be UTF-8.
func CheckMIMEType(text string) error {
	name, parameters, err := mime.ParseMediaType(text)
	charset, named := parameters["charset"]
	if err != nil || name != "text/html" || parameters["profile"] != "mcp-app" ||
		named && !strings.EqualFold(charset, "utf-8") {
		return fmt.Errorf("the MIME type of a view must be %[2]s, not %[1]q", text, MIMEType)
	}
	return nil
}

// DeclaredBy reports whether a client can show views: its extension settings list [MIMEType] in mimeTypes.
func DeclaredBy(c mcp.ClientCapabilities) bool {
	var types []string
	_, err := c.Extensions[Extension].Decode("mimeTypes", &types)
	return err == nil && slices.ContainsFunc(types, func(t string) bool { return CheckMIMEType(t) == nil })
}
