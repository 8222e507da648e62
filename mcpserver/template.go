package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/internal/uritemplate"
	"github.com/mcpotel/mcpotel/mcp"
)

// AddResourceTemplate adds an RFC 6570 template for the URIs of resources. The template and a name are required. The
// template matches every URI to which it can be expanded, even with variables that have no value; h decides which of
// these URIs are resources. If several templates match, the server uses the first template that was added. A URI of
// more than 4 KiB matches no template. Characters beyond ASCII match literally and percent-encoded.
//
// Connected clients get a notification of the changed list. AddResourceTemplate returns an error if the text is not a
// template, repeats a variable, has more than 16 variables in one expression, or has a prefix of more than 64
// characters such as {id:65}. It also returns an error if the server already has the template. (specification
// 2026-07-28, server/resources, "Resource Templates")
func (s *Server) AddResourceTemplate(t *mcp.ResourceTemplate, h ResourceHandler) error {
	switch {
	case t == nil:
		return errors.New("add resource template: no template")
	case h == nil:
		return fmt.Errorf("add resource template %s: no handler", t.URITemplate)
	case t.Name == "":
		return fmt.Errorf("add resource template %s: no name", t.URITemplate)
	case t.URITemplate == "":
		return errors.New("add resource template: no URI template")
	}
	c := *t
	c.Meta, c.Icons, c.Annotations = bytes.Clone(t.Meta), slices.Clone(t.Icons), cloneAnnotations(t.Annotations)
	added := &template{ResourceTemplate: &c, handle: h}
	var err error
	if added.uris, err = uritemplate.Parse(t.URITemplate); err == nil {
		_, err = added.view(mcp.Version20260728)
	}
	if err == nil {
		err = s.resources.offer()
	}
	if err != nil {
		return fmt.Errorf("add resource template %s: %w", t.URITemplate, err)
	}
	if !s.resources.templates.add(added) {
		return fmt.Errorf("add resource template %s: a template with this URI already exists", t.URITemplate)
	}
	s.changed(notice{method: mcp.NotificationResourceListChanged})
	return nil
}

// RemoveResourceTemplates removes templates by their text. Reads in progress continue. Connected clients get a
// notification if the list has changed.
func (s *Server) RemoveResourceTemplates(templates ...string) {
	if s.resources.templates.remove(templates...) {
		s.changed(notice{method: mcp.NotificationResourceListChanged})
	}
}

// template is an added resource template, with its handler and its encodings.
type template struct {
	numbered
	*mcp.ResourceTemplate
	handle ResourceHandler
	views  views

	uris *uritemplate.Template
}

func (t *template) key() string { return t.URITemplate }

// view returns the template, encoded for clients of a revision.
func (t *template) view(v mcp.Version) (json.RawMessage, error) {
	return viewOf(&t.views, t.ResourceTemplate, templateMembers, v)
}

// templateMembers lists the members of a template that some revisions lack. (schemas of the revisions,
// ResourceTemplate)
var templateMembers = []member[mcp.ResourceTemplate]{
	{first: mcp.Version20250618, drop: func(t *mcp.ResourceTemplate) {
		t.Title, t.Meta, t.Annotations = "", nil, undated(t.Annotations)
	}},
	{first: mcp.Version20251125, drop: func(t *mcp.ResourceTemplate) { t.Icons = nil }},
}

// listTemplates answers resources/templates/list. (specification 2026-07-28, server/resources, "Resource Templates")
func (r *resources) listTemplates(_ context.Context, c *call) (any, error) {
	return pageOf(c, &r.templates, "resourceTemplates", (*template).view)
}

// template returns the template with this text, or else the first template that matches the text as a URI.
func (r *resources) template(uri string) (*template, bool) {
	if t, ok := r.templates.lookup(uri); ok {
		return t, true
	}
	for _, t := range r.templates.all() {
		if _, ok := t.uris.Match(uri); ok {
			return t, true
		}
	}
	return nil, false
}
