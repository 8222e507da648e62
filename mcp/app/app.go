// Package app has what both ends of the Apps extension of MCP (SEP-1865, io.modelcontextprotocol/ui) share: what
// _meta.ui says of a tool and of a view, the MIME type of views, and the checks of their URIs. Package mcpserver/apps
// declares views for tools, mcpclient/apps finds and fetches them.
//
// A view is an HTML page, a resource with the scheme ui, in which a host shows what a tool returns. To render it, in a
// sandboxed frame with the policy that its [ResourceMeta] allows, and to talk to it by postMessage, is up to the host:
// nothing here does. See https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx.
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

	// MIMEType is the type of views.
	MIMEType = "text/html;profile=mcp-app"
)

const (
	metaUI  = "ui"             // the member of _meta
	metaOld = "ui/resourceUri" // what stood for resourceUri in it, deprecated
)

// A Caller is who may call a tool.
type Caller string

// The callers there are.
const (
	Model Caller = "model" // the tool is shown to the model, which may call it
	App   Caller = "app"   // a view of the same server may call it
)

// ToolMeta is what _meta.ui says of a tool.
type ToolMeta struct {
	ResourceURI string   // of the view for what the tool returns; "" for none
	Visibility  []Caller // nil means both; an empty one means neither
}

// ToolMetaOf reads the metadata of a tool, with the deprecated ui/resourceUri where _meta.ui has no URI. A URI that is
// not that of a view, and a member of another type, are errors.
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
		found, err = meta.Decode(metaOld, &m.ResourceURI)
	}
	if err == nil && found {
		err = CheckURI(m.ResourceURI)
	}
	if err == nil {
		_, err = ui.Decode("visibility", &m.Visibility)
	}
	return m, err
}

// Write returns meta with the members of m in _meta.ui. Members that m lacks, and those of others, stay as they are.
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

// VisibleTo reports whether the caller may see and call the tool. Metadata that does not say who may means neither,
// where it says something that cannot be read, and both, where it says nothing.
func VisibleTo(t *mcp.Tool, who Caller) bool {
	var ui mcp.Object
	var visibility []Caller
	if _, err := t.Meta.Decode(metaUI, &ui); err != nil {
		return false
	}
	said, err := ui.Decode("visibility", &visibility)
	return err == nil && (!said || slices.Contains(visibility, who))
}

// ResourceMeta is what _meta.ui says of a view. A host allows no more than it says, and may allow less.
type ResourceMeta struct {
	CSP           *CSP         // nil means no origin but its own, and no connection
	Permissions   *Permissions // nil means none
	Domain        string       // of its origin, in the form that the host asks for; "" leaves it to the host
	PrefersBorder *bool        // a border and a background around it; nil leaves it to the host
}

// CSP lists the origins that a view may use, such as https://api.example.com or https://*.example.com.
type CSP struct {
	ConnectDomains  []string `json:"connectDomains,omitzero"`  // connect-src
	ResourceDomains []string `json:"resourceDomains,omitzero"` // img-src, script-src, style-src, font-src, media-src
	FrameDomains    []string `json:"frameDomains,omitzero"`    // frame-src
	BaseURIDomains  []string `json:"baseUriDomains,omitzero"`  // base-uri
}

// Permissions are the features of the browser that a view asks for: those that are not nil.
type Permissions struct {
	Camera         mcp.Object `json:"camera,omitzero"`
	Microphone     mcp.Object `json:"microphone,omitzero"`
	Geolocation    mcp.Object `json:"geolocation,omitzero"`
	ClipboardWrite mcp.Object `json:"clipboardWrite,omitzero"`
}

// ResourceMetaOf reads the _meta of a resource or of its contents; where both have some, that of the contents counts. A
// member of another type is an error, and so is an origin that would not stay one in a policy: one with a space, a
// quotation mark, a comma, a semicolon, or what is not ASCII.
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

// Write returns meta with the members of m in _meta.ui. Members that m lacks, and those of others, stay as they are.
// Origins that [ResourceMetaOf] refuses are refused here.
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

// members are those of _meta.ui, in the order in which they are written.
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

// CheckURI reports what is wrong with the URI of a view: it begins with ui:// and goes on.
func CheckURI(uri string) error {
	rest, ok := strings.CutPrefix(uri, "ui://")
	if _, err := url.Parse(uri); err != nil || !ok || rest == "" {
		return fmt.Errorf("%q is not the URI of a view, which begins with ui://", uri)
	}
	return nil
}

// CheckMIMEType reports whether content of this type is not a view: another one than [MIMEType], however that is
// written, or one with a character set that is not UTF-8.
func CheckMIMEType(text string) error {
	name, parameters, err := mime.ParseMediaType(text)
	charset, named := parameters["charset"]
	if err != nil || name != "text/html" || parameters["profile"] != "mcp-app" ||
		named && !strings.EqualFold(charset, "utf-8") {
		return fmt.Errorf("the MIME type is %q, and that of a view is %s", text, MIMEType)
	}
	return nil
}

// DeclaredBy reports whether a client can show views: it declares the extension with [MIMEType] among its mimeTypes.
func DeclaredBy(c mcp.ClientCapabilities) bool {
	var types []string
	_, err := c.Extensions[Extension].Decode("mimeTypes", &types)
	return err == nil && slices.ContainsFunc(types, func(t string) bool { return CheckMIMEType(t) == nil })
}
