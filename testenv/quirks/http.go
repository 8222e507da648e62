package quirks

import (
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"

	"github.com/mcpotel/mcpotel/mcp"
)

// HTTP is a server over HTTP.
type HTTP struct {
	Name    string
	Version mcp.Version         // negotiated version for a client that prefers the newest revision
	New     func() http.Handler // returns a server, which serves MCP at /mcp
}

// OverHTTP returns the servers over HTTP.
func OverHTTP() []HTTP {
	return slices.Concat(refusingInJSON(), refusingInHTTP(), brokenAnswers(), slowAnswers(), redirects(), oldServers(),
		modernServers())
}

// refusingInJSON returns servers that reject the probe with a JSON-RPC message, over HTTP 200 as JSON and as a stream,
// and in the ways of real servers.
func refusingInJSON() []HTTP {
	var all []HTTP
	for _, r := range refusals {
		for _, status := range r.statuses() {
			all = append(all, HTTP{fmt.Sprintf("%d %s", status, r.name), mcp.Version20251125, func() http.Handler {
				refuse := func(w http.ResponseWriter, _ *http.Request, m *message) { sendJSON(w, status, r.answer(m)) }
				return endpoint{discover: refuse, post: sessions()}
			}})
		}
		all = append(all, HTTP{"stream " + r.name, mcp.Version20251125, func() http.Handler {
			refuse := func(w http.ResponseWriter, _ *http.Request, m *message) { sendStream(w, r.answer(m)) }
			return endpoint{discover: refuse, post: streaming(sessions())}
		}})
	}
	for _, r := range []struct {
		name   string
		status int
		code   int
		text   string
		after  func() exchange
	}{
		{"400 not initialized, no id", 400, -32000, "Bad Request: Server not initialized", sessions},
		{"400 no valid session, no id", 400, -32000, "Bad Request: No valid session ID provided", sessions},
		{"400 unsupported version, no id", 400, -32000, "Bad Request: Unsupported protocol version: 2026-07-28", stateless},
		{"400 invalid request, no id", 400, -32600, "Invalid Request", stateless},
		{"400 parse error, no id", 400, -32700, "Parse error", stateless},
		{"404 session not found, no id", 404, -32001, "Session not found", sessions},
		{"404 method not found, no id", 404, methodNotFound, "Method not found", sessions},
		{"406 not acceptable, no id", 406, -32000, "Not Acceptable", stateless},
		{"500 internal error, no id", 500, -32603, "Internal error", sessions},
	} {
		all = append(all, HTTP{r.name, mcp.Version20251125, func() http.Handler {
			refuse := func(w http.ResponseWriter, _ *http.Request, _ *message) {
				sendJSON(w, r.status, failure(nil, r.code, r.text))
			}
			return endpoint{discover: refuse, post: r.after()}
		}})
	}
	return all
}

// refusingInHTTP returns servers that reject the probe with a status and a text other than JSON-RPC.
func refusingInHTTP() []HTTP {
	const page = "<!DOCTYPE html><html><head><title>Error</title></head><body><pre>Cannot POST /mcp</pre></body></html>"
	var all []HTTP
	for _, r := range []struct {
		name        string
		status      int
		contentType string
		body        string
	}{
		{"200 nothing", 200, "", ""},
		{"200 JSON type, nothing", 200, "application/json", ""},
		{"200 page", 200, "text/html; charset=utf-8", page},
		{"200 JSON of its own", 200, "application/json", `{"error":"unknown method"}`},
		{"202 nothing", 202, "", ""},
		{"204 nothing", 204, "", ""},
		{"400 text", 400, "text/plain; charset=utf-8", "Bad Request\n"},
		{"400 JSON of its own", 400, "application/json", `{"error":"unknown method"}`},
		{"404 page", 404, "text/html; charset=utf-8", page},
		{"404 nothing", 404, "", ""},
		{"405 page", 405, "text/html; charset=utf-8", page},
		{"415 text", 415, "text/plain", "unsupported media type"},
		{"422 JSON of its own", 422, "application/json", `{"detail":[{"loc":["body","method"],"msg":"unexpected value"}]}`},
		{"500 page", 500, "text/html", page},
		{"500 nothing", 500, "", ""},
		{"501 text", 501, "text/plain", "not implemented"},
		{"502 page", 502, "text/html", page},
	} {
		all = append(all, HTTP{r.name, mcp.Version20251125, func() http.Handler {
			refuse := func(w http.ResponseWriter, _ *http.Request, _ *message) { send(w, r.status, r.contentType, r.body) }
			return endpoint{discover: refuse, post: sessions()}
		}})
	}
	return all
}

// modernServers returns servers of 2026-07-28 that answer the probe in unusual ways.
func modernServers() []HTTP {
	return []HTTP{
		{"modern", mcp.Version20260728, func() http.Handler { return endpoint{post: plain(modern)} }},
		{"modern, in streams", mcp.Version20260728, func() http.Handler { return endpoint{post: streaming(plain(modern))} }},
		{"modern, with a session id and no status but 200", mcp.Version20260728, func() http.Handler {
			return endpoint{post: func(w http.ResponseWriter, r *http.Request, m *message) {
				w.Header().Set("Mcp-Session-Id", "of no meaning")
				plain(modern)(w, r, m)
			}}
		}},
		{"modern, the first answer after a second", mcp.Version20260728, func() http.Handler {
			return endpoint{discover: after(oneSecond, plain(modern)), post: plain(modern)}
		}},
		{"modern, the first answer after three seconds", mcp.Version20260728, func() http.Handler {
			return endpoint{post: first(after(3*oneSecond, plain(modern)), plain(modern))}
		}},
		{"modern, silent on the first POST", mcp.Version20260728, func() http.Handler {
			return endpoint{post: first(silent, plain(modern))}
		}},
		{"dual, in one place", mcp.Version20260728, func() http.Handler {
			old := sessions()
			return endpoint{post: func(w http.ResponseWriter, r *http.Request, m *message) {
				if m.Params.Meta.ProtocolVersion == mcp.Version20260728 {
					plain(modern)(w, r, m)
				} else {
					old(w, r, m)
				}
			}}
		}},
	}
}

// sorted yields the elements of m, sorted by name.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}
