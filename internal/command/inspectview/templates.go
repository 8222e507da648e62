package inspectview

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/mcpotel/mcpotel/internal/command/toolform"
	"github.com/mcpotel/mcpotel/mcp"
)

func templateHref(uri string) string { return "/template?" + url.Values{"uri": {uri}}.Encode() }

// templateOf returns the template that a request names, parsed, with a schema of its variables.
func (s *Session) templateOf(r *http.Request) (*mcp.ResourceTemplate, *uritemplate.Template, json.RawMessage, error) {
	all, err := within(r, func(ctx context.Context) ([]*mcp.ResourceTemplate, error) {
		return s.lists.templates.get(s.epoch(), s.Client().ResourceTemplates(ctx))
	})
	one, err := named(all, err, r.FormValue("uri"), func(t *mcp.ResourceTemplate) string { return t.URITemplate })
	if err != nil {
		return nil, nil, nil, err
	}
	parsed, err := uritemplate.New(one.URITemplate)
	if err != nil {
		return nil, nil, nil, &httpError{http.StatusBadGateway, cut(maxText, "The template is not valid: "+err.Error())}
	}
	var variables []mcp.PromptArgument
	for _, name := range parsed.Varnames() {
		variables = append(variables, mcp.PromptArgument{Name: name})
	}
	return one, parsed, schemaOfTexts(variables), nil
}

func (s *Session) templatePage(w http.ResponseWriter, r *http.Request) error {
	one, _, raw, err := s.templateOf(r)
	if err != nil {
		return err
	}
	return s.templateForm(w, r, one, formPage{Fields: toolform.Of(raw).Fields(nil, nil), Whole: true})
}

func (s *Session) templateForm(w http.ResponseWriter, r *http.Request, one *mcp.ResourceTemplate, p formPage) error {
	p.Name, p.Title = cut(maxText, one.URITemplate), cut(maxName, cmp.Or(one.Title, one.Name))
	p.Description = cut(10*maxText, one.Description)
	p.Action, p.Completes = templateHref(one.URITemplate), s.Client().ServerCapabilities().Completions != nil
	status := http.StatusOK
	if p.Problem != "" {
		status = http.StatusUnprocessableEntity
	}
	return s.show(w, r, status, "prompt", p.Title, p, 0)
}

// useTemplate reads the resource of a template with the values of the form.
func (s *Session) useTemplate(w http.ResponseWriter, r *http.Request) error {
	one, parsed, raw, err := s.templateOf(r)
	if err != nil {
		return err
	}
	if name, ok := strings.CutPrefix(r.PostFormValue("do"), "complete /"); ok {
		return s.templateForm(w, r, one, s.completed(r, raw, mcp.ResourceRef(one.URITemplate), name))
	}
	p, arguments, err := s.filled(r, raw)
	if err != nil {
		return err
	}
	if arguments == nil {
		return s.templateForm(w, r, one, p)
	}
	var texts map[string]string
	if err := json.Unmarshal(arguments, &texts); err != nil {
		return err
	}
	values := uritemplate.Values{}
	for name, text := range texts {
		values.Set(name, uritemplate.String(text))
	}
	uri, err := parsed.Expand(values)
	if err == nil {
		var o operation
		if o, err = s.start(kindResource, uri, nil, nil); err == nil {
			http.Redirect(w, r, "/calls/"+strconv.Itoa(o.ID), http.StatusSeeOther)
			return nil
		}
	}
	p.Problem = cut(maxText, err.Error())
	return s.templateForm(w, r, one, p)
}
