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

// refresh is the interval at which the page updates.
const refresh = 2 * time.Second

// A Client can be inspected: a *mcpclient.Client.
type Client interface{ Inspect() inspect.Client }

// A Server can be inspected: a *mcpserver.Server.
type Server interface{ Inspect() inspect.Server }

// An Option configures [Handler].
type Option func(*handler)

// WithTraceURL makes trace ids links. The template contains {trace_id} for the id, as in
// "http://localhost:16686/trace/{trace_id}" for Jaeger. The URL must be absolute, with http or https, or begin with a
// slash; otherwise WithTraceURL panics.
func WithTraceURL(template string) Option {
	if !strings.Contains(template, traceID) || !leads(strings.ReplaceAll(template, traceID, "0")) {
		panic(fmt.Sprintf("debugpage: WithTraceURL: %q is not an http, https or root-relative URL that contains %s",
			template, traceID))
	}
	return func(h *handler) { h.traceURL = template }
}

const traceID = "{trace_id}"

// WithLink adds a link to another page to the header, for example to the traces. The URL must be absolute, with http or
// https, or begin with a slash; otherwise WithLink panics.
func WithLink(text, url string) Option {
	if !leads(url) {
		panic(fmt.Sprintf("debugpage: WithLink: %q is not an http, https or root-relative URL", url))
	}
	return func(h *handler) { h.links = append(h.links, page.Link{Text: text, Href: url}) }
}

// leads reports whether a page may link to this URL.
func leads(to string) bool {
	u, err := url.Parse(to)
	return err == nil && (strings.HasPrefix(to, "/") || (u.Scheme == "http" || u.Scheme == "https") && u.Host != "")
}

// WithClients shows only these clients, in this order, even after they have ended. Without this option the page shows
// all running clients of the process, and the members of groups whose clients start on demand. WithClients() without arguments shows no clients.
func WithClients(clients ...Client) Option {
	return func(h *handler) {
		h.clients, h.endedClients = func() []Client { return clients }, none
		h.members = func() []running.Member { return nil }
	}
}

// WithServers shows only these servers, in this order. Without this option the page shows all running servers of the
// process. WithServers() without arguments shows no servers.
func WithServers(servers ...Server) Option {
	return func(h *handler) {
		h.servers, h.endedServers = func() []Server { return servers }, none
	}
}

// LocalOnly rejects requests unless they arrive at a loopback address and their Host header names the loopback. The
// Host header matters because a web page can make its own name resolve to the loopback (DNS rebinding).
func LocalOnly() Option { return func(h *handler) { h.local = true } }

// Handler returns the debug page.
func Handler(options ...Option) http.Handler {
	running.Watch()
	h := &handler{clients: runningClients, servers: runningServers, members: running.Members.All,
		endedClients: running.Clients.Ended, endedServers: running.Servers.Ended}
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
	members func() []running.Member // members of groups whose clients start on demand

	endedClients, endedServers func() int // number of ended clients or servers that are not shown

	traceURL string // template with traceID in it; empty for none
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

// ServeHTTP responds with a page or its JSON.
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
			Note: "This page is read-only. docs/debugging.md explains the figures.",
		})
	}
	if err != nil {
		http.Error(w, "the page cannot be written: "+err.Error(), http.StatusInternalServerError)
	}
}

// view is the response for one page.
type view struct {
	status   int
	template string
	title    string
	nav      []page.Link
	model    any // data for the template
	data     any // data for JSON
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

// gone returns the page for a client or server that no longer runs.
func (h *handler) gone(kind, n string) view {
	text := fmt.Sprintf("No %s with the number %s runs in this process.", kind, page.Cut(20, n))
	return view{http.StatusNotFound, "gone", "Not running", h.nav("", ""), text, map[string]string{"error": text}}
}

// nav returns links to the overview and the current page.
func (h *handler) nav(here, to string) []page.Link {
	links := []page.Link{{Text: "Overview", Href: "?", Here: to == ""}}
	if to != "" {
		links = append(links, page.Link{Text: page.Cut(24, here), Href: to, Here: true})
	}
	return append(links, h.links...)
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
