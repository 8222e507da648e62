package quirks

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
)

// exchange answers one POST.
type exchange func(w http.ResponseWriter, r *http.Request, m *message)

// endpoint is an endpoint of Streamable HTTP.
type endpoint struct {
	discover exchange         // answers server/discover; nil means post
	post     exchange         // answers all other messages
	get      http.HandlerFunc // answers GET; nil means status 405
}

func (e endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/mcp":
		http.NotFound(w, r)
	case r.Method == http.MethodPost:
		m, ok := read(w, r)
		if ok && m.Method == discover && e.discover != nil {
			e.discover(w, r, m)
		} else if ok {
			e.post(w, r, m)
		}
	case r.Method == http.MethodGet && e.get != nil:
		e.get(w, r)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	default:
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
	}
}

// read reads the message of a POST, or rejects it.
func read(w http.ResponseWriter, r *http.Request) (*message, bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, false
	}
	m := new(message)
	if err := json.Unmarshal(body, m); err != nil {
		sendJSON(w, http.StatusBadRequest, failure(nil, -32700, "Parse error"))
		return nil, false
	}
	return m, true
}

// plain answers requests with JSON, and notifications with 202.
func plain(a answer) exchange {
	return func(w http.ResponseWriter, _ *http.Request, m *message) {
		switch reply := a(m); {
		case reply != nil && isError(reply, methodNotFound):
			sendJSON(w, http.StatusNotFound, reply)
		case reply != nil:
			sendJSON(w, http.StatusOK, reply)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}
}

func isError(reply []byte, code int) bool {
	var m struct{ Error struct{ Code int } }
	return json.Unmarshal(reply, &m) == nil && m.Error.Code == code
}

// stateless is the legacy protocol without sessions. It requires the negotiated version in each request.
func stateless() exchange {
	serve := plain(legacy(mcp.Version20251125))
	return func(w http.ResponseWriter, r *http.Request, m *message) {
		if v := r.Header.Get("Mcp-Protocol-Version"); m.Method != "initialize" && v != "" &&
			v != string(mcp.Version20251125) {
			sendJSON(w, http.StatusBadRequest, failure(nil, -32000, "Bad Request: Unsupported protocol version: "+v))
			return
		}
		serve(w, r, m)
	}
}

// sessions is the legacy protocol with sessions. It rejects messages without a session.
func sessions() exchange {
	return (&sessionTable{refuse: func(w http.ResponseWriter, _ *http.Request, _ *message) {
		sendJSON(w, http.StatusNotFound, failure(nil, -32001, "Session not found"))
	}}).exchange
}

// sessionTable is the legacy protocol with sessions that the server can forget.
type sessionTable struct {
	known  sync.Map
	refuse exchange // answers messages of an unknown session
}

func (s *sessionTable) exchange(w http.ResponseWriter, r *http.Request, m *message) {
	id := r.Header.Get("Mcp-Session-Id")
	_, known := s.known.Load(id)
	switch {
	case m.Method == "initialize":
		id = rand.Text()
		s.known.Store(id, true)
		w.Header().Set("Mcp-Session-Id", id)
	case id == "":
		sendJSON(w, http.StatusBadRequest, failure(nil, -32000, "Bad Request: Mcp-Session-Id header is required"))
		return
	case !known:
		s.refuse(w, r, m)
		return
	}
	plain(legacy(mcp.Version20251125))(w, r, m)
}

// streaming answers requests with a stream where e answers with JSON.
func streaming(e exchange) exchange {
	return func(w http.ResponseWriter, r *http.Request, m *message) {
		reply := httptest.NewRecorder()
		e(reply, r, m)
		maps.Copy(w.Header(), reply.Header())
		if len(m.ID) > 0 && reply.Code == http.StatusOK {
			sendStream(w, reply.Body.Bytes())
			return
		}
		w.WriteHeader(reply.Code)
		w.Write(reply.Body.Bytes())
	}
}

func send(w http.ResponseWriter, status int, contentType, body string) {
	w.Header()["Content-Type"] = nil // keeps net/http from guessing
	if contentType != "" {
		w.Header().Set("Content-Type", contentType)
	}
	w.WriteHeader(status)
	io.WriteString(w, body)
}

func sendJSON(w http.ResponseWriter, status int, body []byte) {
	send(w, status, "application/json", string(body))
}

func sendStream(w http.ResponseWriter, body []byte) {
	send(w, http.StatusOK, "text/event-stream", ": hello\n\nid: 1\ndata:\n\n"+event("message", string(body)))
}

func event(name, data string) string {
	return "event: " + name + "\ndata: " + strings.ReplaceAll(data, "\n", "\ndata: ") + "\n\n"
}
