package quirks

import (
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// brokenAnswers returns servers that answer the probe with an invalid answer.
func brokenAnswers() []HTTP {
	var all []HTTP
	for name, e := range sorted(map[string]exchange{
		"connection reset":  func(w http.ResponseWriter, _ *http.Request, _ *message) { hangUp(w, "", true) },
		"connection closed": func(w http.ResponseWriter, _ *http.Request, _ *message) { hangUp(w, "", false) },
		"no HTTP":           func(w http.ResponseWriter, _ *http.Request, _ *message) { hangUp(w, "what?\r\n\r\n", false) },
		"cut JSON": func(w http.ResponseWriter, _ *http.Request, _ *message) {
			hangUp(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\":\"2.0\",",
				false)
		},
		"cut stream": func(w http.ResponseWriter, _ *http.Request, _ *message) {
			hangUp(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ndata: \r\n",
				false)
		},
		"stream without an answer": func(w http.ResponseWriter, _ *http.Request, _ *message) {
			send(w, 200, "text/event-stream", ": nothing to say\n\n")
		},
		"stream of something else": func(w http.ResponseWriter, _ *http.Request, _ *message) {
			send(w, 200, "text/event-stream",
				event("message", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hi"}}`))
		},
		"answer to another request": func(w http.ResponseWriter, _ *http.Request, m *message) {
			other := *m
			other.ID = []byte(`"another"`)
			sendJSON(w, 200, result(&other, `{}`))
		},
		"result without an id": func(w http.ResponseWriter, _ *http.Request, m *message) {
			other := *m
			other.ID = []byte(`null`)
			sendJSON(w, 200, result(&other, `{}`))
		},
		"invalid JSON": func(w http.ResponseWriter, _ *http.Request, _ *message) { sendJSON(w, 200, []byte(`{"jsonrpc":`)) },
		"answer in a list": func(w http.ResponseWriter, _ *http.Request, m *message) {
			sendJSON(w, 200, []byte("["+string(failure(m.ID, methodNotFound, "Method not found"))+"]"))
		},
		"answer as text": func(w http.ResponseWriter, _ *http.Request, m *message) {
			send(w, 200, "text/plain", string(failure(m.ID, methodNotFound, "Method not found")))
		},
	}) {
		all = append(all, HTTP{name, mcp.Version20251125, func() http.Handler {
			return endpoint{discover: e, post: sessions()}
		}})
	}
	return append(all, HTTP{"every connection closed after one answer", mcp.Version20251125, func() http.Handler {
		serve := sessions()
		return endpoint{post: func(w http.ResponseWriter, r *http.Request, m *message) {
			w.Header().Set("Connection", "close")
			serve(w, r, m)
		}}
	}})
}

// hangUp writes raw text instead of a response and closes the connection.
func hangUp(w http.ResponseWriter, text string, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // not HTTP/1.1: ends the stream
	}
	defer conn.Close()
	conn.Write([]byte(text))
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
}

const oneSecond = time.Second

// slowAnswers returns servers that keep the client waiting.
func slowAnswers() []HTTP {
	notFound := func(m *message) []byte { return failure(m.ID, methodNotFound, "Method not found") }
	return []HTTP{
		{"silent on the probe", mcp.Version20251125, func() http.Handler {
			return endpoint{discover: silent, post: sessions()}
		}},
		{"silent on the probe after the header", mcp.Version20251125, func() http.Handler {
			return endpoint{discover: func(w http.ResponseWriter, r *http.Request, m *message) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.WriteHeader(http.StatusOK)
				http.NewResponseController(w).Flush()
				silent(w, r, m)
			}, post: sessions()}
		}},
		{"silent on the first POST", mcp.Version20251125, func() http.Handler {
			return endpoint{post: first(silent, sessions())}
		}},
		{"the first answer after four seconds", mcp.Version20251125, func() http.Handler {
			return endpoint{post: first(after(4*oneSecond, sessions()), sessions())}
		}},
		{"a refusal after a second", mcp.Version20251125, func() http.Handler {
			return endpoint{discover: after(oneSecond, plain(notFound)), post: sessions()}
		}},
		{"a refusal after four seconds", mcp.Version20251125, func() http.Handler {
			return endpoint{discover: after(4*oneSecond, plain(notFound)), post: sessions()}
		}},
		{"a refusal in drops, done in a second", mcp.Version20251125, func() http.Handler {
			return endpoint{discover: dripping(notFound, oneSecond), post: sessions()}
		}},
		{"a refusal in drops, done in a minute", mcp.Version20251125, func() http.Handler {
			return endpoint{discover: dripping(notFound, time.Minute), post: sessions()}
		}},
		{"comments without end", mcp.Version20251125, func() http.Handler {
			return endpoint{discover: func(w http.ResponseWriter, r *http.Request, _ *message) {
				w.Header().Set("Content-Type", "text/event-stream")
				drip(w, r, strings.Repeat(": wait\n\n", 1000), 1000*100*time.Millisecond)
			}, post: sessions()}
		}},
	}
}

// first answers the first POST with one, and all further ones with others.
func first(one, others exchange) exchange {
	var heard atomic.Bool
	return func(w http.ResponseWriter, r *http.Request, m *message) {
		if heard.CompareAndSwap(false, true) {
			one(w, r, m)
			return
		}
		others(w, r, m)
	}
}

// silent never answers.
func silent(_ http.ResponseWriter, r *http.Request, _ *message) { <-r.Context().Done() }

// after answers after d.
func after(d time.Duration, e exchange) exchange {
	return func(w http.ResponseWriter, r *http.Request, m *message) {
		select {
		case <-time.After(d):
			e(w, r, m)
		case <-r.Context().Done():
		}
	}
}

// dripping answers a few bytes at a time, the last of them after d.
func dripping(a answer, d time.Duration) exchange {
	return func(w http.ResponseWriter, r *http.Request, m *message) {
		w.Header().Set("Content-Type", "application/json")
		drip(w, r, string(a(m)), d)
	}
}

func drip(w http.ResponseWriter, r *http.Request, text string, d time.Duration) {
	drops := time.NewTicker(d / time.Duration(len(text)))
	defer drops.Stop()
	for i := range len(text) {
		select {
		case <-drops.C:
		case <-r.Context().Done():
			return
		}
		w.Write([]byte(text[i : i+1]))
		http.NewResponseController(w).Flush()
	}
}

// redirects returns servers that redirect the probe, or every request.
func redirects() []HTTP {
	const elsewhere = "/mcp/"
	moved := func(status int) func() http.Handler {
		return func() http.Handler {
			mux := http.NewServeMux()
			mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere, status) })
			mux.Handle(elsewhere, http.StripPrefix(elsewhere, rooted(endpoint{post: sessions()})))
			return mux
		}
	}
	login := func(status int) func() http.Handler {
		return func() http.Handler {
			return endpoint{discover: func(w http.ResponseWriter, r *http.Request, _ *message) {
				http.Redirect(w, r, "/login", status)
			}, post: sessions()}
		}
	}
	return []HTTP{
		{"307 of everything, same origin", mcp.Version20251125, moved(307)},
		{"308 of everything, same origin", mcp.Version20251125, moved(308)},
		{"302 of the probe to a page", mcp.Version20251125, login(302)},
		{"303 of the probe to a page", mcp.Version20251125, login(303)},
		{"307 of the probe to nowhere", mcp.Version20251125, login(307)},
		{"307 of the probe to another origin", mcp.Version20251125, func() http.Handler {
			return endpoint{discover: func(w http.ResponseWriter, r *http.Request, _ *message) {
				http.Redirect(w, r, "http://127.0.0.1:1/mcp", http.StatusTemporaryRedirect)
			}, post: sessions()}
		}},
		{"307 of the probe to itself", mcp.Version20251125, func() http.Handler {
			return endpoint{discover: func(w http.ResponseWriter, r *http.Request, _ *message) {
				http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
			}, post: sessions()}
		}},
	}
}

// rooted serves every path as e serves /mcp.
func rooted(e endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = "/mcp"
		e.ServeHTTP(w, r)
	})
}
