package quirks

import (
	"crypto/rand"
	"io"
	"net/http"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
)

// oldServers returns servers of 2024-11-05: HTTP+SSE at one URL, with every way of rejecting a POST to it.
func oldServers() []HTTP {
	const page = "<html><body>no such thing</body></html>"
	refusing := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { send(w, status, contentType, body) }
	}
	relative := func(_ *http.Request, id string) string { return "/messages?session=" + id }
	absolute := func(r *http.Request, id string) string { return "http://" + r.Host + relative(r, id) }
	var all []HTTP
	for name, s := range sorted(map[string]func() *old{
		"SSE, 400 text": func() *old {
			return newOld(relative, refusing(400, "text/plain; charset=utf-8", "sessionid must be provided\n"))
		},
		"SSE, 404 page":    func() *old { return newOld(relative, refusing(404, "text/html", page)) },
		"SSE, 404 nothing": func() *old { return newOld(relative, refusing(404, "", "")) },
		"SSE, 405 page":    func() *old { return newOld(relative, refusing(405, "text/html", page)) },
		"SSE, 405 nothing": func() *old { return newOld(absolute, refusing(405, "", "")) },
		"SSE, 400 JSON-RPC, no id": func() *old {
			return newOld(absolute, refusing(400, "application/json", string(failure(nil, -32000, "Bad Request: no session"))))
		},
		"SSE, 200 to every message": func() *old {
			s := newOld(relative, refusing(405, "text/plain", "Method Not Allowed"))
			s.accepted = http.StatusOK
			return s
		},
	}) {
		all = append(all, HTTP{name, mcp.Version20241105, func() http.Handler { return s() }})
	}
	return append(all, HTTP{"SSE, a new revision", mcp.Version20251125, func() http.Handler {
		s := newOld(relative, refusing(405, "text/plain", "Method Not Allowed"))
		s.answer = legacy(mcp.Version20251125)
		return s
	}}, HTTP{"SSE, silent on the probe", mcp.Version20241105, func() http.Handler {
		refuse := refusing(405, "text/plain", "Method Not Allowed")
		return newOld(relative, func(w http.ResponseWriter, r *http.Request) {
			m, ok := read(w, r)
			if ok && m.Method == discover {
				silent(w, r, m)
				return
			}
			refuse(w, r)
		})
	}})
}

// old is a server of HTTP+SSE: it sends answers on the stream that a GET has opened.
type old struct {
	endpoint func(r *http.Request, id string) string
	refuse   http.HandlerFunc // answers a POST to the URL of the stream
	answer   answer
	accepted int // status of an accepted POST

	mu      sync.Mutex
	streams map[string]chan []byte // guarded by mu
}

func newOld(endpoint func(*http.Request, string) string, refuse http.HandlerFunc) *old {
	return &old{
		endpoint: endpoint, refuse: refuse, answer: legacy(mcp.Version20241105), accepted: http.StatusAccepted,
		streams: map[string]chan []byte{},
	}
}

func (s *old) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/mcp" && r.Method == http.MethodGet:
		s.stream(w, r)
	case r.URL.Path == "/mcp":
		s.refuse(w, r)
	case r.URL.Path == "/messages" && r.Method == http.MethodPost:
		s.post(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *old) stream(w http.ResponseWriter, r *http.Request) {
	id, replies := rand.Text(), make(chan []byte)
	s.mu.Lock()
	s.streams[id] = replies
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.streams, id)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(text string) {
		io.WriteString(w, text)
		http.NewResponseController(w).Flush()
	}
	say(": welcome\n\n" + event("endpoint", s.endpoint(r, id)))
	for {
		select {
		case reply := <-replies:
			say(event("message", string(reply)))
		case <-r.Context().Done():
			return
		}
	}
}

func (s *old) post(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	stream, ok := s.streams[r.URL.Query().Get("session")]
	s.mu.Unlock()
	if !ok {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	m, ok := read(w, r)
	if !ok {
		return
	}
	send(w, s.accepted, "text/plain", "Accepted")
	http.NewResponseController(w).Flush()
	if reply := s.answer(m); reply != nil {
		select {
		case stream <- reply:
		case <-r.Context().Done():
		}
	}
}
