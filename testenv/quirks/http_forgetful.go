package quirks

import "net/http"

// Forgetful is a server over HTTP that can forget its sessions, like a restarted server, while connections stay open.
type Forgetful struct {
	Name   string
	Server http.Handler // serves MCP at /mcp
	Forget func()
}

// ForgetfulOverHTTP returns new servers, with every way of rejecting an unknown session.
func ForgetfulOverHTTP() []Forgetful {
	json := func(status, code int, text string) exchange {
		return func(w http.ResponseWriter, _ *http.Request, _ *message) {
			sendJSON(w, status, failure(nil, code, text))
		}
	}
	var all []Forgetful
	for name, refuse := range sorted(map[string]exchange{
		"404 JSON-RPC, no id":           json(404, -32001, "Session not found"),
		"404 JSON-RPC, code of its own": json(404, -32600, "Session expired or invalid. Please reinitialize."),
		"404 JSON-RPC, with the id": func(w http.ResponseWriter, _ *http.Request, m *message) {
			sendJSON(w, 404, failure(m.ID, -32001, "Session not found"))
		},
		"404 text": func(w http.ResponseWriter, _ *http.Request, _ *message) {
			send(w, 404, "text/plain", "session not found\n")
		},
		"404 nothing": func(w http.ResponseWriter, _ *http.Request, _ *message) { send(w, 404, "", "") },
		"404 page": func(w http.ResponseWriter, _ *http.Request, _ *message) {
			send(w, 404, "text/html", "<h1>Not Found</h1>")
		},
		"401 text": func(w http.ResponseWriter, _ *http.Request, _ *message) {
			send(w, 401, "text/plain", "Unauthorized: Session not found")
		},
		"401 nothing":           func(w http.ResponseWriter, _ *http.Request, _ *message) { send(w, 401, "", "") },
		"400 JSON-RPC, null id": json(400, -32000, "Bad Request: No valid session ID provided"),
		"400 JSON-RPC, no id member": func(w http.ResponseWriter, _ *http.Request, _ *message) {
			sendJSON(w, 400, []byte(`{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID `+
				`provided"}}`))
		},
	}) {
		table := &sessionTable{refuse: refuse}
		all = append(all, Forgetful{Name: name, Server: endpoint{post: table.exchange}, Forget: table.known.Clear})
	}
	return all
}
