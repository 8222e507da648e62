package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/mcpotel/mcpotel/mcp"
)

// What of a URI is held against templates at most. The time that takes grows with both, and with their product: without
// bounds, one URI of nothing but commas takes seconds.
const (
	maxURI   = 4 << 10 // bytes
	maxParts = 128     // separators of lists behind the prefix
)

// AddResourceTemplate adds a template by RFC 6570 for the URIs of resources, of which it and a name are required. It
// stands for every URI that it can be expanded to, that of a variable without a value included; h says which of these
// are resources. If several templates match, the one that was added first is asked; URIs of more than 4 KiB match none,
// and neither do those with lists of more than 128 values.
//
// Clients that are connected are told that the list has changed. It is an error if the template is none, has a variable
// twice, or if the server has it already.
// (specification 2026-07-28, server/resources, "Resource Templates")
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
	err := added.compile()
	if err == nil {
		_, err = added.view(mcp.Version20260728)
	}
	if err == nil {
		err = s.resources.offer()
	}
	if err != nil {
		return fmt.Errorf("add resource template %s: %w", t.URITemplate, err)
	}
	if !s.resources.templates.add(added) {
		return fmt.Errorf("add resource template %s: the server has it already", t.URITemplate)
	}
	s.changed(notice{method: mcp.NotificationResourceListChanged})
	return nil
}

// RemoveResourceTemplates removes templates, named as they were added; reads that run go on. Clients that are connected
// are told that the list has changed, if it has.
func (s *Server) RemoveResourceTemplates(templates ...string) {
	if s.resources.templates.remove(templates...) {
		s.changed(notice{method: mcp.NotificationResourceListChanged})
	}
}

// template is a template as a server has it.
type template struct {
	numbered
	*mcp.ResourceTemplate
	handle ResourceHandler
	views  views

	parsed    *uritemplate.Template
	prefix    string              // of all URIs that it matches
	parting   string              // what separates the values of lists
	rough     *regexp.Regexp      // matches these URIs and a few more, in a fraction of the time
	variables map[string]variable // by what they are called in matches
}

// variable is how a variable of a template is shown to a handler.
type variable struct {
	name      string
	separator string // between the values of a list
	repeats   string // what stands between them in a URI
}

func (t *template) key() string { return t.URITemplate }

// view returns the template as clients of a revision see it.
func (t *template) view(v mcp.Version) (json.RawMessage, error) {
	return viewOf(&t.views, t.ResourceTemplate, templateMembers, v)
}

// templateMembers are what not every revision knows of a template. (schemas of the revisions, ResourceTemplate)
var templateMembers = []member[mcp.ResourceTemplate]{
	{first: mcp.Version20250618, drop: func(t *mcp.ResourceTemplate) {
		t.Title, t.Meta, t.Annotations = "", nil, undated(t.Annotations)
	}},
	{first: mcp.Version20251125, drop: func(t *mcp.ResourceTemplate) { t.Icons = nil }},
}

// compile prepares the template for matching.
func (t *template) compile() (err error) {
	if t.parsed, err = uritemplate.New(t.URITemplate); err != nil {
		return err
	}
	t.rough = t.parsed.Regexp()
	t.prefix, _, _ = strings.Cut(t.URITemplate, "{")
	t.variables, t.parting = map[string]variable{}, ","
	for called, v := range variablesOf(t.URITemplate) {
		if _, twice := t.variables[called]; twice {
			return fmt.Errorf("the variable %s is there twice", called)
		}
		t.variables[called] = v
		if !strings.Contains(t.parting, v.repeats) {
			t.parting += v.repeats
		}
	}
	return nil
}

// variablesOf yields the variables of a valid template by what they are called in matches: a prefix such as {id:3}
// has a name of its own there. (RFC 6570, section 2)
func variablesOf(text string) iter.Seq2[string, variable] {
	return func(yield func(string, variable) bool) {
		for {
			_, rest, found := strings.Cut(text, "{")
			if !found {
				return
			}
			var list string
			list, text, _ = strings.Cut(rest, "}")
			separator, repeats := ",", "," // shown so for ?id=1&id=2, too: handlers have no use for the name between values
			if operator := list[0]; strings.IndexByte("+#./;?&", operator) >= 0 {
				list = list[1:]
				switch operator {
				case '.', '/':
					separator, repeats = string(operator), string(operator)
				case '?', '&':
					repeats = "&"
				case ';':
					repeats = ";"
				}
			}
			for spec := range strings.SplitSeq(list, ",") {
				called, exploded := strings.CutSuffix(spec, "*")
				name, _, _ := strings.Cut(called, ":")
				v := variable{name, ",", ","}
				if exploded {
					v.separator, v.repeats = separator, repeats
				}
				if !yield(called, v) {
					return
				}
			}
		}
	}
}

// match returns the values of the variables in a URI, false if the template cannot be expanded to it.
func (t *template) match(uri string) (map[string]string, bool) {
	if len(uri) > maxURI || !strings.HasPrefix(uri, t.prefix) || t.parts(uri) > maxParts || !t.rough.MatchString(uri) {
		return nil, false
	}
	found := t.parsed.Match(uri)
	if found == nil {
		return nil, false
	}
	values := make(map[string]string, len(found))
	for called, v := range t.variables {
		value, ok := found[called]
		if _, whole := found[v.name]; ok && (called == v.name || !whole) {
			values[v.name] = strings.Join(value.V, v.separator)
		}
	}
	return values, true
}

// parts returns how many separators of lists a URI has.
func (t *template) parts(uri string) (n int) {
	for i := len(t.prefix); i < len(uri); i++ {
		if strings.IndexByte(t.parting, uri[i]) >= 0 {
			n++
		}
	}
	return n
}

// has reports whether the template has a variable of that name.
func (t *template) has(name string) bool {
	for _, v := range t.variables {
		if v.name == name {
			return true
		}
	}
	return false
}

// listTemplates answers resources/templates/list. (specification 2026-07-28, server/resources, "Resource Templates")
func (r *resources) listTemplates(_ context.Context, c *call) (any, error) {
	return pageOf(c, &r.templates, "resourceTemplates", (*template).view)
}

// template returns the template that is called so, or else the first that the URI matches.
func (r *resources) template(uri string) (*template, bool) {
	if t, ok := r.templates.lookup(uri); ok {
		return t, true
	}
	for _, t := range r.templates.all() {
		if _, ok := t.match(uri); ok {
			return t, true
		}
	}
	return nil, false
}
