package inspectview

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/command/toolform"
	"github.com/mcpotel/mcpotel/mcp"
)

func promptHref(name string) string { return "/prompt?" + url.Values{"name": {name}}.Encode() }

func (s *Session) promptsPage(w http.ResponseWriter, r *http.Request) error {
	var p listPage
	prompts, err := within(r, func(ctx context.Context) ([]*mcp.Prompt, error) {
		return s.lists.prompts.get(s.epoch(), s.Client().Prompts(ctx))
	})
	for _, one := range prompts {
		p.Items = append(p.Items, listed{Name: cut(maxName, one.Name), Title: cut(maxName, one.Title),
			Description: cut(maxText, one.Description), Href: promptHref(one.Name),
			Direct: len(one.Arguments) == 0})
	}
	p.took(err, s.lists.prompts.longer())
	p.search(r)
	return s.show(w, r, http.StatusOK, "prompts", "Prompts", p, refresh)
}

// schemaOf returns the arguments of a prompt as a schema.
func schemaOf(p *mcp.Prompt) json.RawMessage { return schemaOfTexts(p.Arguments) }

// schemaOfTexts returns a schema with a string for each argument.
func schemaOfTexts(arguments []mcp.PromptArgument) json.RawMessage {
	var b strings.Builder
	var required []string
	b.WriteString(`{"type":"object","properties":{`)
	for i, a := range arguments {
		if i > 0 {
			b.WriteString(",")
		}
		name, _ := json.Marshal(a.Name)
		property, _ := json.Marshal(map[string]string{"type": "string", "title": a.Title, "description": a.Description})
		b.WriteString(string(name) + ":" + string(property))
		if a.Required {
			required = append(required, a.Name)
		}
	}
	names, _ := json.Marshal(append([]string{}, required...))
	return json.RawMessage(b.String() + `},"required":` + string(names) + `}`)
}

func (s *Session) promptOf(r *http.Request) (*mcp.Prompt, error) {
	return within(r, func(ctx context.Context) (*mcp.Prompt, error) { return s.prompt(ctx, r.FormValue("name")) })
}

func (s *Session) promptPage(w http.ResponseWriter, r *http.Request) error {
	one, err := s.promptOf(r)
	if err != nil {
		return err
	}
	f := toolform.Of(schemaOf(one))
	values := url.Values{}
	if id, err := strconv.Atoi(r.FormValue("from")); err == nil {
		if o, ok := s.operation(id); ok && o.Kind == kindPrompt && o.Name == one.Name {
			if values, err = f.Values(o.Arguments); err != nil {
				return err
			}
		}
	}
	return s.promptForm(w, r, one, formPage{Fields: f.Fields(values, nil), Whole: true})
}

func (s *Session) promptForm(w http.ResponseWriter, r *http.Request, one *mcp.Prompt, p formPage) error {
	p.Name, p.Title, p.Description = cut(maxName, one.Name), cut(maxName, one.Title), cut(10*maxText, one.Description)
	p.Action, p.Completes = promptHref(one.Name), s.Client().ServerCapabilities().Completions != nil
	status := http.StatusOK
	if p.Problem != "" {
		status = http.StatusUnprocessableEntity
	}
	return s.show(w, r, status, "prompt", cmp.Or(cut(maxName, one.Title), cut(maxName, one.Name)), p, 0)
}

// getPrompt handles the buttons of a prompt's form.
func (s *Session) getPrompt(w http.ResponseWriter, r *http.Request) error {
	one, err := s.promptOf(r)
	if err != nil {
		return err
	}
	raw := schemaOf(one)
	if name, ok := strings.CutPrefix(r.PostFormValue("do"), "complete /"); ok {
		return s.complete(w, r, one, name)
	}
	p, arguments, err := s.filled(r, raw)
	if err != nil {
		return err
	}
	if arguments != nil {
		o, err := s.start(kindPrompt, one.Name, arguments, nil)
		if err == nil {
			http.Redirect(w, r, "/calls/"+strconv.Itoa(o.ID), http.StatusSeeOther)
			return nil
		}
		p.Problem = err.Error()
	}
	return s.promptForm(w, r, one, p)
}

// complete shows the form again with the values that the server suggests for an argument.
func (s *Session) complete(w http.ResponseWriter, r *http.Request, one *mcp.Prompt, name string) error {
	p := s.completed(r, schemaOf(one), mcp.PromptRef(one.Name), name)
	return s.promptForm(w, r, one, p)
}

// completed returns a page with a submitted form, and with the values that the server suggests for an argument. A single
// value is filled in. name is the argument as in the path of its field.
func (s *Session) completed(r *http.Request, raw json.RawMessage, ref mcp.CompleteRef, name string) formPage {
	path := "/" + name
	nameOf := strings.NewReplacer("~1", "/", "~0", "~").Replace
	others := map[string]string{} // values of the other arguments
	for key := range r.PostForm {
		if other, ok := strings.CutPrefix(key, "/"); ok && other != name && r.PostForm.Get(key) != "" {
			others[nameOf(other)] = r.PostForm.Get(key)
		}
	}
	p := formPage{Fields: toolform.Of(raw).Fields(r.PostForm, nil), Whole: true, Completed: path}
	found, err := within(r, func(ctx context.Context) (*mcp.CompleteResult, error) {
		return s.Client().Complete(ctx, ref, mcp.CompleteArgument{Name: nameOf(name), Value: r.PostFormValue(path)},
			others)
	})
	if err != nil {
		p.Problem = cut(maxText, err.Error())
		return p
	}
	for _, v := range found.Completion.Values {
		p.Values = append(p.Values, cut(maxText, v))
	}
	if len(p.Values) == 1 {
		r.PostForm.Set(path, found.Completion.Values[0])
		p.Fields = toolform.Of(raw).Fields(r.PostForm, nil)
	}
	return p
}
