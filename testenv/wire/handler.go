package wire

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
)

// Handler returns a handler that calls next and validates all its messages. The messages of a session form one
// conversation; any other request and its answer form another. report is the same as for [Tap].
func Handler(next http.Handler, s *Schemas, report func(Side, error)) http.Handler {
	return &handler{next: next, schemas: s, report: report, sessions: map[string]*Watch{}}
}

type handler struct {
	next    http.Handler
	schemas *Schemas
	report  func(Side, error)

	mu       sync.Mutex
	sessions map[string]*Watch // guarded by mu
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	watch := h.watch(r)
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.see(watch, Client, body)
	}
	out := &watched{ResponseWriter: w, h: h, watch: watch}
	h.next.ServeHTTP(out, r)
	out.end()
}

// watch returns the Watch of the request's session, or a new one.
func (h *handler) watch(r *http.Request) *Watch {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.sessions[sessionOf(r)]; w != nil {
		return w
	}
	w := h.schemas.NewWatch()
	w.agreed = mcp.Version(r.Header.Get("MCP-Protocol-Version"))
	return w
}

// sessionParameter is the query parameter with the session id in the endpoint of an HTTP+SSE session of package
// mcpserver.
const sessionParameter = "sessionId"

func sessionOf(r *http.Request) string {
	if id := r.Header.Get("Mcp-Session-Id"); id != "" {
		return id
	}
	return r.URL.Query().Get(sessionParameter)
}

func (h *handler) keep(id string, w *Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[id] = w
}

func (h *handler) see(w *Watch, from Side, message []byte) {
	if err := w.Message(from, message); err != nil {
		h.report(from, err)
	}
}

// watched is a response that is validated while it is written.
type watched struct {
	http.ResponseWriter
	h      *handler
	watch  *Watch
	begun  bool
	events bool
	kept   []byte // incomplete message
}

// Unwrap gives [http.NewResponseController] access to the writer.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *watched) WriteHeader(status int) {
	w.begin()
	w.ResponseWriter.WriteHeader(status)
}

// begin reads the header of the response.
func (w *watched) begin() {
	if w.begun {
		return
	}
	w.begun = true
	w.events = strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
	if id := w.Header().Get("Mcp-Session-Id"); id != "" {
		w.h.keep(id, w.watch)
	}
}

func (w *watched) Write(b []byte) (int, error) {
	w.begin()
	w.kept = append(w.kept, b...)
	for w.events {
		event, rest, whole := bytes.Cut(w.kept, []byte("\n\n"))
		if !whole {
			break
		}
		w.event(string(event))
		w.kept = rest
	}
	return w.ResponseWriter.Write(b)
}

// event validates one event of a stream.
func (w *watched) event(text string) {
	var data []string
	endpoint := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch field, value, _ := strings.Cut(line, ":"); field {
		case "event":
			endpoint = strings.TrimSpace(value) == "endpoint"
		case "data":
			data = append(data, strings.TrimPrefix(value, " "))
		}
	}
	switch message := strings.Join(data, "\n"); {
	case endpoint:
		if at, err := url.Parse(message); err == nil {
			w.h.keep(at.Query().Get(sessionParameter), w.watch)
		}
	case message != "":
		w.h.see(w.watch, Server, []byte(message))
	}
}

// end validates a response that consists of one message.
func (w *watched) end() {
	if !w.events && len(w.kept) > 0 && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		w.h.see(w.watch, Server, w.kept)
	}
}
