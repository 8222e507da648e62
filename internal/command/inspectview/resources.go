package inspectview

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
)

func (s *Session) resourcesPage(w http.ResponseWriter, r *http.Request) error {
	return s.resources(w, r, http.StatusOK, listPage{URI: cut(maxText, r.FormValue("uri"))})
}

// resources responds with the page of resources and templates.
func (s *Session) resources(w http.ResponseWriter, r *http.Request, status int, p listPage) error {
	c := s.Client()
	href := func(uri string) string { return "/resources?" + url.Values{"uri": {uri}}.Encode() }
	all, err := within(r, func(ctx context.Context) ([]*mcp.Resource, error) {
		return s.lists.resources.get(s.epoch(), c.Resources(ctx))
	})
	for _, one := range all {
		p.Items = append(p.Items, listed{Name: cut(maxText, one.URI), Title: cut(maxName, cmp.Or(one.Title, one.Name)),
			Description: cut(maxText, one.Description), Href: href(one.URI), Hints: words(one.MIMEType), URI: one.URI})
	}
	p.took(err, s.lists.resources.longer())
	templates, err := within(r, func(ctx context.Context) ([]*mcp.ResourceTemplate, error) {
		return s.lists.templates.get(s.epoch(), c.ResourceTemplates(ctx))
	})
	for _, one := range templates {
		p.Templates = append(p.Templates, listed{Name: cut(maxText, one.URITemplate),
			Title: cut(maxName, cmp.Or(one.Title, one.Name)), Description: cut(maxText, one.Description),
			Href: templateHref(one.URITemplate), Hints: words(one.MIMEType)})
	}
	p.took(err, s.lists.templates.longer())
	p.search(r)
	if o := c.ServerCapabilities().Resources; o != nil {
		p.CanWatch = o.Subscribe || c.ProtocolVersion().Era() == mcp.Modern
	}
	s.mu.Lock()
	p.Updates = slices.Clone(s.updated)
	p.Subscribed = maps.Clone(s.subscribed)
	s.mu.Unlock()
	slices.Reverse(p.Updates)
	return s.show(w, r, status, "resources", "Resources", p, refresh)
}

func words(text string) []string {
	if text == "" {
		return nil
	}
	return []string{cut(maxName, text)}
}

// useResource reads a resource, subscribes to it, or ends the subscription.
func (s *Session) useResource(w http.ResponseWriter, r *http.Request) error {
	uri := r.PostFormValue("uri")
	if uri == "" || strings.ContainsAny(uri, "{}") {
		return s.resources(w, r, http.StatusUnprocessableEntity, listPage{URI: uri,
			Problem: "Type a URI, with a value in the place of each {variable}."})
	}
	var err error
	switch r.PostFormValue("do") {
	case "subscribe", "unsubscribe":
		on := r.PostFormValue("do") == "subscribe"
		_, err = within(r, func(ctx context.Context) (struct{}, error) {
			if on {
				return struct{}{}, s.Client().SubscribeResource(ctx, uri)
			}
			return struct{}{}, s.Client().UnsubscribeResource(ctx, uri)
		})
		if err == nil {
			s.mu.Lock()
			if delete(s.subscribed, uri); on {
				s.subscribed[uri] = true
			}
			s.mu.Unlock()
			http.Redirect(w, r, "/resources", http.StatusSeeOther)
			return nil
		}
	default:
		var o operation
		if o, err = s.start(kindResource, uri, nil, nil); err == nil {
			http.Redirect(w, r, "/calls/"+strconv.Itoa(o.ID), http.StatusSeeOther)
			return nil
		}
	}
	return s.resources(w, r, http.StatusUnprocessableEntity, listPage{URI: uri, Problem: cut(maxText, err.Error())})
}
