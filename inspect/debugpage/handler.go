package debugpage

import (
	"embed"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/loopback"
	"github.com/mcpotel/mcpotel/internal/page"
	"github.com/mcpotel/mcpotel/internal/running"
)

//go:embed pages/*.html
var files embed.FS

var pages = page.Parse(files, "pages/*.html")

// refresh is how often the page looks for news.
const refresh = 2 * time.Second

// A Client is something whose doings can be shown as those of a client: a *mcpclient.Client.
type Client interface{ Inspect() inspect.Client }

// A Server is something whose doings can be shown as those of a server: a *mcpserver.Server.
type Server interface{ Inspect() inspect.Server }

// An Option configures [Handler].
type Option func(*handler)

// WithTraceURL makes trace ids links: url has {trace_id} in place of the id, as in
// "http://localhost:16686/trace/{trace_id}" for Jaeger. It is absolute, with http or https, or begins with a slash;
// another one is a mistake in the program, and WithTraceURL panics.
func WithTraceURL(template string) Option {
	if !strings.Contains(template, traceID) || !leads(strings.ReplaceAll(template, traceID, "0")) {
		panic(fmt.Sprintf("debugpage: WithTraceURL: %q is no URL with %s in it", template, traceID))
	}
	return func(h *handler) { h.traceURL = template }
}

const traceID = "{trace_id}"

// WithLink puts a link to another page into the header, such as to that of the traces. url is absolute, with http or
// https, or begins with a slash; another one is a mistake in the program, and WithLink panics.
func WithLink(text, url string) Option {
	if !leads(url) {
		panic(fmt.Sprintf("debugpage: WithLink: %q is no URL", url))
	}
	return func(h *handler) { h.links = append(h.links, page.Link{Text: text, Href: url}) }
}

// leads reports whether to is a URL that a page may lead to.
func leads(to string) bool {
	u, err := url.Parse(to)
	return err == nil && (strings.HasPrefix(to, "/") || (u.Scheme == "http" || u.Scheme == "https") && u.Host != "")
}

// WithClients shows these clients, in this order, also when they have ended, instead of all that run in the process.
// None means none.
func WithClients(clients ...Client) Option {
	return func(h *handler) {
		h.clients, h.endedClients = func() []Client { return clients }, none
	}
}

// WithServers shows these servers, in this order, instead of all that run in the process. None means none.
func WithServers(servers ...Server) Option {
	return func(h *handler) {
		h.servers, h.endedServers = func() []Server { return servers }, none
	}
}

// LocalOnly refuses requests that do not come to an address of the loopback under a name of it. The name matters
// because a web page may have a name of its own lead to the loopback (DNS rebinding).
func LocalOnly() Option { return func(h *handler) { h.local = true } }

// Handler returns the debug page.
func Handler(options ...Option) http.Handler {
	running.Watch()
	h := &handler{clients: runningClients, servers: runningServers, endedClients: running.Clients.Ended,
		endedServers: running.Servers.Ended}
	for _, o := range options {
		o(h)
	}
	if h.local {
		return loopback.Only(h)
	}
	return h
}

type handler struct {
	clients func() []Client
	servers func() []Server

	endedClients, endedServers func() int // how many are not shown because they have ended

	traceURL string // with traceID in it; empty for none
	links    []page.Link
	local    bool
}

func none() int { return 0 }

func runningClients() (all []Client) {
	for _, c := range running.Clients.All() {
		all = append(all, c)
	}
	return all
}

func runningServers() (all []Server) {
	for _, s := range running.Servers.All() {
		all = append(all, s)
	}
	return all
}

// ServeHTTP answers with a page, or with what is on it as JSON.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	v := h.view(r.URL.Query())
	var err error
	if r.URL.Query().Get("format") == "json" || page.WantsJSON(r) {
		w.Header().Set("Content-Disposition", "inline")
		err = page.WriteJSON(w, r, v.status, v.data)
	} else {
		err = pages.Write(w, r, v.status, v.template, page.Page{
			Title: v.title, Home: "?", Nav: v.nav, Refresh: refresh, Data: v.model,
			Note: "This page changes nothing. docs/debugging.md says what the figures mean.",
		})
	}
	if err != nil {
		http.Error(w, "the page cannot be written: "+err.Error(), http.StatusInternalServerError)
	}
}

// view is one page.
type view struct {
	status   int
	template string
	title    string
	nav      []page.Link
	model    any // for the template
	data     any // for JSON
}

func (h *handler) view(query url.Values) view {
	switch {
	case query.Has("client"):
		for _, c := range h.clients() {
			if i := c.Inspect(); number(i.Number) == query.Get("client") {
				return view{
					http.StatusOK, "client", i.Name + " · MCP client", h.nav(i.Name, "?client="+number(i.Number)), h.clientPage(&i), i,
				}
			}
		}
		return h.gone("client", query.Get("client"))
	case query.Has("server"):
		for _, s := range h.servers() {
			if i := s.Inspect(); number(i.Number) == query.Get("server") {
				return view{
					http.StatusOK, "server", i.Name + " · MCP server", h.nav(i.Name, "?server="+number(i.Number)), h.serverPage(&i), i,
				}
			}
		}
		return h.gone("server", query.Get("server"))
	}
	chosen := choiceOf(query)
	o := h.look()
	return view{http.StatusOK, "overview", "MCP clients and servers", h.nav("", ""), h.overviewPage(o, chosen),
		chosenOverview{o, chosen}}
}

// gone is the page of what is not there any more.
func (h *handler) gone(kind, n string) view {
	text := fmt.Sprintf("No %s with the number %s runs in this process.", kind, page.Cut(20, n))
	return view{http.StatusNotFound, "gone", "Not running", h.nav("", ""), text, map[string]string{"error": text}}
}

// nav leads to the overview and to where the reader is.
func (h *handler) nav(here, to string) []page.Link {
	links := []page.Link{{Text: "Overview", Href: "?", Here: to == ""}}
	if to != "" {
		links = append(links, page.Link{Text: page.Cut(24, here), Href: to, Here: true})
	}
	return append(links, h.links...)
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
