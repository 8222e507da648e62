package inspectview

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/command/toolargs"
	"github.com/mcpotel/mcpotel/internal/command/toolform"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/contextcost"
)

// listed is an item of a list: a tool, a resource, a prompt.
type listed struct {
	Name, Title, Description, Href string
	Tokens                         int // of a tool in a model's context
	Hints                          []string
	Calls                          int    // made on these pages
	URI                            string // of a resource
	Direct                         bool   // a prompt without arguments
}

// listPage is a page with a list of the server.
type listPage struct {
	Text        string // the items whose name, title or description contain it
	All         int    // number of items without a search
	Items       []listed
	Templates   []listed // of the resources
	More        bool     // the list is longer
	Unsupported bool
	Err         string
	Updates     []update
	Subscribed  map[string]bool
	CanWatch    bool
	Problem     string
	URI         string
}

// search keeps the items that contain the text of the request's search.
func (p *listPage) search(r *http.Request) {
	p.Text, p.All = cut(maxName, r.FormValue("q")), len(p.Items)+len(p.Templates)
	text := strings.ToLower(p.Text)
	other := func(one listed) bool {
		return !strings.Contains(strings.ToLower(one.Name+"\n"+one.Title+"\n"+one.Description), text)
	}
	p.Items, p.Templates = slices.DeleteFunc(p.Items, other), slices.DeleteFunc(p.Templates, other)
}

// took records how a list was read.
func (p *listPage) took(err error, more bool) {
	p.More = p.More || more
	switch {
	case errors.Is(err, errUnsupported):
		p.Unsupported = true
	case err != nil:
		p.Err = cut(maxText, err.Error())
	}
}

func (s *Session) toolsPage(w http.ResponseWriter, r *http.Request) error {
	var p listPage
	calls := map[string]int{}
	for _, o := range s.history(func(o *operation) bool { return o.Kind == kindTool }) {
		calls[o.Name]++
	}
	tools, err := within(r, func(ctx context.Context) ([]*mcp.Tool, error) {
		return s.lists.tools.get(s.epoch(), s.Client().Tools(ctx))
	})
	for _, t := range tools {
		p.Items = append(p.Items, listed{Name: cut(maxName, t.Name), Title: cut(maxName, titleOf(t)),
			Description: cut(maxText, t.Description), Href: toolHref(t.Name), Tokens: contextcost.Of(t).Total().EstimatedTokens,
			Hints: hints(t), Calls: calls[t.Name]})
	}
	p.took(err, s.lists.tools.longer())
	p.search(r)
	return s.show(w, r, http.StatusOK, "tools", "Tools", p, refresh)
}

func titleOf(t *mcp.Tool) string {
	title := t.Title
	if t.Annotations != nil {
		title = cmp.Or(title, t.Annotations.Title)
	}
	return title
}

// hints returns the words for the annotations of a tool.
func hints(t *mcp.Tool) (all []string) {
	a := t.Annotations
	if a == nil {
		return nil
	}
	for _, h := range []struct {
		is   *bool
		word string
	}{{a.ReadOnlyHint, "read-only"}, {a.DestructiveHint, "destructive"}, {a.IdempotentHint, "idempotent"},
		{a.OpenWorldHint, "open world"}} {
		if h.is != nil && *h.is {
			all = append(all, h.word)
		}
	}
	return all
}

func toolHref(name string) string { return "/tool?" + url.Values{"name": {name}}.Encode() }

// formPage is the page with the form for a tool, a prompt or a question.
type formPage struct {
	Name, Title, Description string
	Action                   string // path to which the form is sent
	Fields                   []*toolform.Field
	Raw                      bool   // the arguments are typed as JSON
	Text                     string // the arguments as JSON
	Whole                    bool   // the form has all arguments; otherwise they are typed as JSON
	Problem                  string
	Hints                    []string
	Schema                   string // input schema, indented
	Output                   string // output schema, indented; empty for none
	Recent                   []operation
	Completes                bool     // the server completes arguments
	Completed                string   // path of the argument that was completed
	Values                   []string // that the server suggests for it
}

const (
	maxSchemaText = 256 << 10 // characters of a schema on a page
	maxRecent     = 10
)

func (s *Session) toolPage(w http.ResponseWriter, r *http.Request) error {
	t, err := s.toolOf(r)
	if err != nil {
		return err
	}
	f := toolform.Of(t.InputSchema)
	values := url.Values{}
	text := "{}"
	if id, err := strconv.Atoi(r.FormValue("from")); err == nil {
		if o, ok := s.operation(id); ok && o.Kind == kindTool && o.Name == t.Name {
			text = indented(o.Arguments)
			if values, err = f.Values(o.Arguments); err != nil {
				return s.toolForm(w, r, t, formPage{Raw: true, Text: text})
			}
		}
	}
	return s.toolForm(w, r, t, formPage{Raw: !f.Complete(), Text: text, Fields: f.Fields(values, nil)})
}

func (s *Session) toolOf(r *http.Request) (*mcp.Tool, error) {
	return within(r, func(ctx context.Context) (*mcp.Tool, error) { return s.tool(ctx, r.FormValue("name")) })
}

// toolForm responds with the form of a tool.
func (s *Session) toolForm(w http.ResponseWriter, r *http.Request, t *mcp.Tool, p formPage) error {
	p.Name, p.Title, p.Description = cut(maxName, t.Name), cut(maxName, titleOf(t)), cut(10*maxText, t.Description)
	p.Action, p.Hints, p.Whole = toolHref(t.Name), hints(t), toolform.Of(t.InputSchema).Complete()
	p.Schema, p.Output = cut(maxSchemaText, indented(t.InputSchema)), cut(maxSchemaText, indented(t.OutputSchema))
	p.Recent = s.history(func(o *operation) bool { return o.Kind == kindTool && o.Name == t.Name })
	p.Recent = p.Recent[:min(len(p.Recent), maxRecent)]
	status := http.StatusOK
	if p.Problem != "" {
		status = http.StatusUnprocessableEntity
	}
	return s.show(w, r, status, "tool", cut(maxName, t.Name), p, 0)
}

// callTool handles the buttons of a tool's form.
func (s *Session) callTool(w http.ResponseWriter, r *http.Request) error {
	t, err := s.toolOf(r)
	if err != nil {
		return err
	}
	p, arguments, err := s.filled(r, t.InputSchema)
	if err != nil {
		return err
	}
	if arguments == nil {
		return s.toolForm(w, r, t, p)
	}
	o, err := s.start(kindTool, t.Name, arguments, t.OutputSchema)
	if err != nil {
		p.Problem = err.Error()
		return s.toolForm(w, r, t, p)
	}
	http.Redirect(w, r, "/calls/"+strconv.Itoa(o.ID), http.StatusSeeOther)
	return nil
}

// filled reads a submitted form. It returns the arguments, or the page to show instead.
func (s *Session) filled(r *http.Request, raw json.RawMessage) (p formPage, arguments json.RawMessage, err error) {
	f := toolform.Of(raw)
	v := r.PostForm
	button, path, _ := strings.Cut(v.Get("do"), " ")
	if v.Has("json") {
		return filledJSON(f, v.Get("json"), button)
	}
	switch button {
	case "add":
		f.Add(v, path)
		return formPage{Fields: f.Fields(v, nil)}, nil, nil
	case "remove":
		f.Remove(v, path)
		return formPage{Fields: f.Fields(v, nil)}, nil, nil
	}
	arguments, wrong := f.Arguments(v)
	p = formPage{Fields: f.Fields(v, wrong)}
	switch {
	case len(wrong) > 0:
		p.Problem = "Some arguments are not valid."
		return p, nil, nil
	case button == "json":
		return formPage{Raw: true, Text: indented(arguments)}, nil, nil
	}
	if p.Problem = invalid(r.Context(), "The arguments", raw, arguments); p.Problem != "" {
		return p, nil, nil
	}
	return p, arguments, nil
}

// filledJSON reads arguments that were typed as JSON. They are sent as they are, even if they do not match the schema.
func filledJSON(f *toolform.Form, text, button string) (p formPage, arguments json.RawMessage, err error) {
	p = formPage{Raw: true, Text: text}
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	if err := toolargs.CheckObject("the arguments", []byte(text)); err != nil {
		p.Problem = err.Error()
		return p, nil, nil
	}
	if button == "form" {
		v, err := f.Values(json.RawMessage(text))
		if err != nil {
			p.Problem = err.Error()
			return p, nil, nil
		}
		return formPage{Fields: f.Fields(v, nil)}, nil, nil
	}
	return p, json.RawMessage(text), nil
}

// invalid returns why values do not match a schema; empty if they do, or if the schema cannot be applied. what names the
// values.
func invalid(ctx context.Context, what string, raw, arguments json.RawMessage) string {
	compiled, err := schema.Compile(raw)
	if err != nil {
		return ""
	}
	if err := compiled.Validate(ctx, arguments); err != nil {
		return cut(maxText, what+" do not match the schema: "+err.Error())
	}
	return ""
}
