package traceview

import (
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/loopback"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/page"
)

//go:embed html
var files embed.FS

var templates = page.Parse(files, "html/*.html")

// cut limits text to n characters.
func cut(n int, s string) string { return page.Cut(n, s) }

// Options configure the pages. All fields are optional.
type Options struct {
	Snapshot func() otlpsink.Snapshot // returns the received telemetry, usually of a sink; nil if nothing is received
	Jaeger   *Jaeger                  // the backend for traces that were not received; nil for none
	GRPC     string                   // the OTLP/gRPC endpoint, for the hint on an empty list: "host:port"
	HTTP     string                   // the same over HTTP: "http://host:port"
	Before   []page.Link              // other pages of the site, linked from the header before the traces
	Pages    []page.Link              // other pages of the site, linked from the header after the logs
}

// The refresh intervals of the pages' script.
const (
	refresh       = time.Second
	refreshJaeger = 5 * time.Second
)

// Pages serve the pages of one receiver. They are safe for concurrent use.
type Pages struct {
	view    *view
	handler http.Handler
}

// New returns the pages. They serve only the loopback.
func New(o Options) *Pages {
	if o.Snapshot == nil {
		o.Snapshot = func() otlpsink.Snapshot { return otlpsink.Snapshot{} }
	}
	v := &view{Options: o, services: newPalette(), metrics: newMeters()}
	mux := http.NewServeMux()
	for path, serve := range map[string]http.HandlerFunc{
		"/{$}": v.list, "/traces": v.list, "/traces.json": v.list,
		"/trace/{id}": v.trace, "/trace": v.lookUp,
		"/metrics": v.metricsPage, "/metrics.json": v.metricsPage,
		"/logs": v.logsPage, "/logs.json": v.logsPage,
	} {
		mux.Handle("GET "+path, serve)
	}
	mux.HandleFunc("GET /", v.nowhere)
	return &Pages{v, loopback.Only(mux)}
}

// ServeHTTP responds with a page or its JSON.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// Trace returns the waterfall and the log records of a trace, for another page of the site. It returns no HTML if no span
// of the trace has been received.
func (p *Pages) Trace(id string) (template.HTML, error) {
	t := p.view.received(id)
	if len(t.spans) == 0 {
		return "", nil
	}
	return templates.Part("body", p.view.tracePage(t))
}

// A view serves the pages of one receiver.
type view struct {
	Options
	services *palette
	metrics  *meters
}

// frame returns the parts that all pages share.
func (v *view) frame(title string, data any) page.Page {
	p := page.Page{Title: title + " · mcpotel", Home: "/", Nav: slices.Clone(v.Before), Refresh: refresh, Data: data}
	for _, l := range []page.Link{{Text: "Traces", Href: "/traces"}, {Text: "Metrics", Href: "/metrics"},
		{Text: "Logs", Href: "/logs"}} {
		l.Here = l.Text == title
		p.Nav = append(p.Nav, l)
	}
	p.Nav = append(p.Nav, v.Pages...)
	return p
}

// write responds with a page. Templates are part of the program, so an error is a bug in the program.
func (v *view) write(w http.ResponseWriter, r *http.Request, status int, name string, p page.Page) {
	if err := templates.Write(w, r, status, name, p); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (v *view) writeJSON(w http.ResponseWriter, r *http.Request, status int, data any) {
	if err := page.WriteJSON(w, r, status, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// A message is a page with only a text.
type message struct {
	Title  string `json:"-"`
	Text   string `json:"error"`
	Jaeger bool   `json:"-"` // show the form to look up a trace id
	ID     string `json:"-"`
}

func (v *view) say(w http.ResponseWriter, r *http.Request, status int, m message, again time.Duration) {
	if page.WantsJSON(r) {
		v.writeJSON(w, r, status, m)
		return
	}
	p := v.frame(m.Title, m)
	p.Refresh = again
	v.write(w, r, status, "message", p)
}

func (v *view) nowhere(w http.ResponseWriter, r *http.Request) {
	v.say(w, r, http.StatusNotFound, message{Title: "No such page", Text: "There is no page at this address."}, 0)
}

// lookUp redirects from the form with a trace id to the trace.
func (v *view) lookUp(w http.ResponseWriter, r *http.Request) {
	id, ok := traceID(strings.TrimSpace(r.FormValue("id")))
	if !ok {
		v.notAnID(w, r)
		return
	}
	http.Redirect(w, r, "/trace/"+id, http.StatusSeeOther)
}

func (v *view) notAnID(w http.ResponseWriter, r *http.Request) {
	v.say(w, r, http.StatusBadRequest, message{
		Title: "Not a trace id", Text: "A trace id has up to 32 hexadecimal digits.", Jaeger: v.Jaeger != nil,
	}, 0)
}

// traceID normalizes a trace id, as people and Jaeger write it, to the form of OpenTelemetry.
func traceID(text string) (id string, ok bool) {
	id = strings.ToLower(text)
	if id == "" || len(id) > 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", false
	}
	return strings.Repeat("0", 32-len(id)) + id, true
}
