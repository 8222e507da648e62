package inspectview

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/internal/page"
	"github.com/mcpotel/mcpotel/mcp"
)

//go:embed html
var files embed.FS

var templates = page.Parse(files, "html/*.html")

// cut limits text to n characters.
func cut(n int, s string) string { return page.Cut(n, s) }

// The bounds of texts on a page, in characters, and of lists, in items.
const (
	maxName   = 200
	maxText   = 1000
	maxListed = 1000
)

const (
	refresh  = time.Second      // the interval at which pages update
	patience = 10 * time.Second // limit for reading the lists of a server
	maxForm  = 16 << 20         // bytes of a submitted form
)

// Handler returns the pages. It serves only the loopback, and only a browser that has used the printed address.
func (s *Session) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":        s.connectionPage,
		"POST /reconnect": s.reconnect,
		"POST /level":     s.setLevel,
		"GET /tools":      s.toolsPage,
		"GET /tool":       s.toolPage,
		"POST /tool":      s.callTool,
		"GET /resources":  s.resourcesPage,
		"POST /resources": s.useResource,
		"GET /template":   s.templatePage, "POST /template": s.useTemplate,
		"GET /prompts":              s.promptsPage,
		"GET /prompt":               s.promptPage,
		"POST /prompt":              s.getPrompt,
		"GET /calls":                s.callsPage,
		"GET /calls/{id}":           s.callPage,
		"POST /calls/{id}/cancel":   s.cancelCall,
		"GET /calls/{id}/recording": s.callRecording,
		"GET /recording":            s.sessionRecording,
		"GET /questions/{id}":       s.questionPage,
		"POST /questions/{id}":      s.answerQuestion,
		"GET /frames":               s.framesPage,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := parsed(r)
			if err == nil {
				err = serve(w, r)
			}
			if err != nil {
				s.fail(w, r, err)
			}
		})
	}
	mux.Handle("GET /debug/mcp/", debugpage.Handler(debugpage.LocalOnly(), debugpage.WithTraceURL("/trace/{trace_id}"),
		debugpage.WithLink("Inspect", "/")))
	mux.Handle("GET /", s.traces)
	return s.guard.protect(http.MaxBytesHandler(mux, maxForm), http.HandlerFunc(refused))
}

// parsed reads the form of a request. Without it, a form that is too large would count as an empty form.
func parsed(r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return &httpError{http.StatusRequestEntityTooLarge, fmt.Sprintf("The form cannot be read; it may have at most %d MiB.",
			maxForm>>20)}
	}
	return nil
}

// An httpError is an error with an HTTP status.
type httpError struct {
	status int
	text   string
}

func (e *httpError) Error() string { return e.text }

// errGone is the error for an operation or a question that is no longer kept.
var errGone = &httpError{http.StatusNotFound, "It does not exist, or it is no longer kept."}

// fail responds with a page for an error.
func (s *Session) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusBadGateway
	if e, ok := errors.AsType[*httpError](err); ok {
		status = e.status
	}
	if errors.Is(err, errNotListed) {
		status = http.StatusNotFound
	}
	p := s.frame(r, "Not possible", cut(10*maxText, err.Error()))
	if err := templates.Write(w, r, status, "message", p); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// refused responds to a browser that is not admitted.
func refused(w http.ResponseWriter, r *http.Request) {
	p := page.Page{Title: "mcpotel inspect", Data: view{Data: "Open the address that mcpotel inspect has printed last. " +
		"Each address admits one browser, once."}}
	if err := templates.Write(w, r, http.StatusForbidden, "message", p); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// nav returns the links of the header. here is the path of the current page.
func (s *Session) nav(here string) []page.Link {
	links := []page.Link{{Text: "Tools", Href: "/tools"}, {Text: "Resources", Href: "/resources"},
		{Text: "Prompts", Href: "/prompts"}, {Text: "Calls", Href: "/calls"}, {Text: "Frames", Href: "/frames"},
		{Text: "Connection", Href: "/"}}
	for i := range links {
		links[i].Here = links[i].Href == here
	}
	return links
}

// telemetryNav are the links to the pages of the telemetry.
var telemetryNav = []page.Link{{Text: "Traces", Href: "/traces"}, {Text: "Metrics", Href: "/metrics"},
	{Text: "Logs", Href: "/logs"}}

// frame returns the parts that all pages share.
func (s *Session) frame(r *http.Request, title string, data any) page.Page {
	return page.Page{Title: title + " · mcpotel", Home: "/", Nav: append(s.nav(r.URL.Path), telemetryNav...),
		Data: view{Server: s.state(), Questions: s.asked(), Data: data}}
}

// A view is the data of a page: the data that all pages share, and the page's own data.
type view struct {
	Server    state
	Questions []asked
	Data      any
}

// show responds with a page. A page with problems of a submitted form is not refreshed.
func (s *Session) show(w http.ResponseWriter, r *http.Request, status int, template, title string, data any,
	refresh time.Duration) error {
	p := s.frame(r, title, data)
	if status == http.StatusOK {
		p.Refresh = refresh
	}
	return templates.Write(w, r, status, template, p)
}

// number returns the number in the path.
func number(r *http.Request) int {
	n, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		return 0
	}
	return n
}

// within calls f with a context that ends with the request, and after patience.
func within[T any](r *http.Request, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	return f(ctx)
}

var levels = []mcp.LoggingLevel{mcp.LevelDebug, mcp.LevelInfo, mcp.LevelNotice, mcp.LevelWarning, mcp.LevelError,
	mcp.LevelCritical, mcp.LevelAlert, mcp.LevelEmergency}
